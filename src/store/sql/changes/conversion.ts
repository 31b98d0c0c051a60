import type { Column } from "../../store.ts";

/** How the values of a column become those of another type, in SQL over the old column. */
export interface Conversion {
  /** Whether a value that is not null has one that says the same. */
  readonly fits: string;
  /** That value, where it fits. */
  readonly value: string;
}

/** Gives how one type becomes another; null where nobody can say it but the declaration. `x` is the old value in SQL. */
export type Convert = (from: Column, to: Column, x: string) => Conversion | null;

/** What a database says for each pair of types. Where a pair is missing, only the declaration can say what is meant. */
export type Conversions = Readonly<
  Partial<Record<`${Column["type"]} to ${Column["type"]}`, (x: string, from: number, to: number) => Conversion>>
>;

/** The conversion of every value. */
export function always(value: string): Conversion {
  return { fits: "TRUE", value };
}

/** Looks conversions up. */
export function convertBy(conversions: Conversions): Convert {
  return (from, to, x) => {
    if (from.type === to.type && from.type !== "decimal") return always(x);
    return conversions[`${from.type} to ${to.type}`]?.(x, from.scale ?? 0, to.scale ?? 0) ?? null;
  };
}

/** The largest whole number that JavaScript holds exactly. */
export const largestInteger = 2 ** 53 - 1;

/** A decimal has at most so many digits in all: as many as fit 64 bits. */
export const decimalDigits = 18;

/** Every decimal of so many digits is told from all others by a double. */
export const doubleDigits = 15;

/** Behind a date, the first instant of it. */
export const midnight = "'T00:00:00.000Z'";
