import type { Column } from "../../store.ts";
import type { Dialect } from "../language/dialect.ts";
import type { Form } from "../language/form.ts";

/** A column whose values are checked, because another program or an SQL expression may produce them. */
export interface Checked {
  readonly column: Column;
  readonly form: Form;
  readonly isNullable: boolean;
  /** The source of the values and the field that shows them, for messages. */
  readonly place: string;
  readonly field: string;
}

/**
 * Returns a condition for the values that do not fit the declared column. Returns null if the column can have no such
 * values.
 */
export function unfitIn(
  { column, form, isNullable }: Pick<Checked, "column" | "form" | "isNullable">,
  x: string,
): string | null {
  const isNull = isNullable && column.nullable !== true;
  const unfit = [
    ...(isNull ? [`${x} IS NULL`] : []),
    // `fits` is NULL if a function in it returns NULL, for example a date function of SQLite for month 0. Such a value
    // does not fit.
    ...(form.fits === undefined ? [] : [`(${x} IS NOT NULL AND (${form.fits(x)}) IS NOT TRUE)`]),
  ];
  return unfit.length === 0 ? null : unfit.join(" OR ");
}

/**
 * Returns the value in the form of the store's own tables. If a value does not fit the declaration, the statement fails
 * and names the row.
 */
export function checkedValue(dialect: Dialect, checked: Checked, x: string, id: string): string {
  const { column, form, isNullable, place, field } = checked;
  const conditions = [
    ...(isNullable && column.nullable !== true ? [`${x} IS NOT NULL`] : []),
    ...(form.fits === undefined ? [] : [form.fits(x)]),
  ];
  if (conditions.length === 0) return form.convert(x);
  const fits = `(${conditions.join(" AND ")})`;
  const all = column.nullable === true ? `${x} IS NULL OR ${fits}` : fits;
  const message = dialect.joined(
    dialect.literal(`${place} of the row `),
    id,
    dialect.literal(` is not a value of the field ${field}, which is ${wordsFor(column)}`),
  );
  return `CASE WHEN ${all} THEN ${form.convert(x)} ELSE ${dialect.fail(message, column)} END`;
}

/** Describes the declaration of a column, for messages. */
export function wordsFor({ type, scale, nullable }: Column): string {
  const kinds = new Map<string, string>([
    ["decimal", `a decimal of ${scale ?? 0} places`],
    ["date", "a date, like 2026-01-31"],
    ["date-time", "a date-time, like 2026-01-31T09:30:00.000Z"],
  ]);
  return `${kinds.get(type) ?? type}${nullable === true ? "" : " and not optional"}`;
}
