import type { Cell } from "./script.ts";

/**
 * How SQL reads and writes a column of an existing table. Values that are read are converted to the form of the store's
 * own tables. Values to compare or to write are converted back. `x` is the column, `place` the placeholder of a value.
 */
export interface Form {
  /**
   * Returns a condition that is true for the values of the declared kind. NULL is not checked. Undefined if the column
   * can hold no other values.
   */
  readonly fits?: ((x: string) => string) | undefined;
  /** Returns the value in the form of the store's own tables. */
  readonly convert: (x: string) => string;
  /** The SQL to compare the column for equality. */
  readonly equal: Side;
  /** The SQL to compare the column by order, and to sort by it. */
  readonly order: Side;
  /** True if an index over the column has the order of `order`. */
  readonly inOrder: boolean;
  /** Returns the SQL of a value to write. */
  readonly written: (place: string) => string;
  /** Converts a value before it becomes a parameter. */
  readonly convertCell?: (cell: Cell) => Cell;
  /** Returns the first and the last spelling of a value in sort order, if it has several spellings. */
  readonly span?: (cell: Cell) => readonly [first: Cell, last: Cell];
  /** True if a value may be JSON with a repeated member: `{"a":1,"a":2}`. */
  readonly mayRepeat?: boolean;
}

/** The two sides of a comparison. */
export interface Side {
  readonly of: (x: string) => string;
  readonly operand: (place: string) => string;
}

/** Returns its argument. */
export const same = (x: string): string => x;

const unchanged: Side = { of: same, operand: same };

/** The form of a column that stores its values like the store's own tables. */
export const plain: Form = { convert: same, equal: unchanged, order: unchanged, inOrder: true, written: same };

/** Returns the form of a column whose values are converted for every comparison, so that no index can be used. */
export function converted(convert: Form["convert"], more: Partial<Form> = {}): Form {
  const side: Side = { of: convert, operand: same };
  return { ...plain, convert, equal: side, order: side, inOrder: false, ...more };
}

/** Returns the form of a column that is compared unchanged, with values converted to its type. */
export function compared(convert: Form["convert"], operand: Side["operand"], more: Partial<Form> = {}): Form {
  const side: Side = { of: same, operand };
  return { ...plain, convert, equal: side, order: side, written: operand, ...more };
}

/** Cuts an instant to milliseconds. The existing texts have milliseconds, and more digits would break their order. */
export function inMilliseconds(cell: Cell): Cell {
  return typeof cell === "string" ? cell.replace(/(\.\d{3})\d+Z$/, "$1Z") : cell;
}

/** Combines several conditions with AND. */
export function combineConditions(...conditions: readonly (Form["fits"] | undefined)[]): Form["fits"] {
  const presentConditions = conditions.filter((each) => each !== undefined);
  return presentConditions.length === 0 ? undefined : (x) => presentConditions.map((each) => each(x)).join(" AND ");
}

/** Returns the words that the declaration allows. Returns undefined if it does not list them. */
export function wordsIn(rule: unknown): readonly string[] | undefined {
  if (typeof rule !== "object" || rule === null || !("enum" in rule) || !Array.isArray(rule.enum)) return undefined;
  return (rule.enum as unknown[]).filter((word) => typeof word === "string");
}
