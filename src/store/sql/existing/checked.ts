import type { Column } from "../../store.ts";
import type { Dialect } from "../dialect.ts";
import type { Form } from "./form.ts";

/** A column whose values others make. */
export interface Checked {
  readonly column: Column;
  readonly form: Form;
  readonly isNullable: boolean;
  /** Where the values come from, and the field that shows them, for people. */
  readonly place: string;
  readonly field: string;
}

/** A condition that holds for the values that the declared column cannot have; null where there can be none. */
export function unfitIn(
  { column, form, isNullable }: Pick<Checked, "column" | "form" | "isNullable">,
  x: string,
): string | null {
  const isNull = isNullable && column.nullable !== true;
  const unfit = [
    ...(isNull ? [`${x} IS NULL`] : []),
    // A condition is NULL too where a function makes nothing of a value, as SQLite's do of month 0.
    ...(form.fits === undefined ? [] : [`(${x} IS NOT NULL AND (${form.fits(x)}) IS NOT TRUE)`]),
  ];
  return unfit.length === 0 ? null : unfit.join(" OR ");
}

/** The value as our own tables hold it. What is no value of the declared kind ends the statement with the row. */
export function checkedValue(dialect: Dialect, checked: Checked, x: string, id: string): string {
  const { column, form, isNullable, place, field } = checked;
  const conditions = [
    ...(isNullable && column.nullable !== true ? [`${x} IS NOT NULL`] : []),
    ...(form.fits === undefined ? [] : [form.fits(x)]),
  ];
  if (conditions.length === 0) return form.convert(x);
  const fits = `(${conditions.join(" AND ")})`;
  const all = column.nullable === true ? `${x} IS NULL OR ${fits}` : fits;
  const said = dialect.joined(
    dialect.literal(`${place} of the row `),
    id,
    dialect.literal(` is no value of the field ${field}, which is ${wordsFor(column)}`),
  );
  return `CASE WHEN ${all} THEN ${form.convert(x)} ELSE ${dialect.fail(said, column)} END`;
}

/** What a column is declared as, for people. */
export function wordsFor({ type, scale, nullable }: Column): string {
  return `${type === "decimal" ? `a decimal of ${scale ?? 0} places` : type}${nullable === true ? "" : " and not optional"}`;
}
