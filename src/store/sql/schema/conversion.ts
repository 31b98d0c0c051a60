import type { Column } from "../../store.ts";

/** The conversion of a column's values to another type, in SQL over the old column. */
export interface Conversion {
  /**
   * The condition under which a value has an equivalent in the new type. It is used only for values that are not null.
   */
  readonly fits: string;
  /** The equivalent value, if there is one. */
  readonly value: string;
}

/**
 * Returns the conversion from one type to another, or null if only the declaration can define it. `x` is the old value
 * in SQL.
 */
export type Convert = (from: Column, to: Column, x: string) => Conversion | null;

/** The conversions of a database for each pair of types. If a pair is missing, only the declaration can define it. */
export type Conversions = Readonly<
  Partial<Record<`${Column["type"]} to ${Column["type"]}`, (x: string, from: number, to: number) => Conversion>>
>;

/** Returns a conversion that fits every value. */
export function always(value: string): Conversion {
  return { fits: "TRUE", value };
}

/** Returns a function that looks up conversions. */
export function convertBy(conversions: Conversions): Convert {
  return (from, to, x) => {
    if (from.type === to.type && from.type !== "decimal") return always(x);
    return conversions[`${from.type} to ${to.type}`]?.(x, from.scale ?? 0, to.scale ?? 0) ?? null;
  };
}

/** The largest whole number that JavaScript holds exactly. */
export const largestInteger = 2 ** 53 - 1;

/** The maximum number of digits of a decimal. These fit into 64 bits. */
export const decimalDigits = 18;

/** Up to this number of digits, two different decimals never become the same double. */
export const doubleDigits = 15;

/** The time of the first instant of a day, as an SQL literal. */
export const midnight = "'T00:00:00.000Z'";
