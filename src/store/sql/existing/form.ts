import type { Cell } from "../cell.ts";

/**
 * How SQL speaks of a column of a table that was there before. Its values are read as a table of our own would hold them, and what is
 * compared with them or written is turned the other way. `x` is the column as it is, `place` a value of our own form.
 */
export interface Form {
  /** A condition that holds for the values of the declared kind; NULL is not asked about. Left out where no other can be there. */
  readonly fits?: ((x: string) => string) | undefined;
  /** The value as a table of our own holds it. */
  readonly convert: (x: string) => string;
  /** What is compared for equality, and what stands beside it. */
  readonly equal: Side;
  /** What is ordered and compared otherwise. */
  readonly order: Side;
  /** Whether an index over the column gives that order. */
  readonly inOrder: boolean;
  /** What is written. */
  readonly written: (place: string) => string;
  /** A value before it gets its place. */
  readonly cellOf?: (cell: Cell) => Cell;
  /** The first and the last spelling of a value, where it has several. */
  readonly span?: (cell: Cell) => readonly [first: Cell, last: Cell];
}

/** The two sides of a comparison. */
export interface Side {
  readonly of: (x: string) => string;
  readonly operand: (place: string) => string;
}

/** As it is. */
export const same = (x: string): string => x;

const asItIs: Side = { of: same, operand: same };

/** A column that holds its values as one of our own. */
export const plain: Form = { convert: same, equal: asItIs, order: asItIs, inOrder: true, written: same };

/** A column that is turned into our form for every comparison, so that no index serves it. */
export function converted(convert: Form["convert"], more: Partial<Form> = {}): Form {
  const side: Side = { of: convert, operand: same };
  return { ...plain, convert, equal: side, order: side, inOrder: false, ...more };
}

/** A column that is compared as it is with values of the type that it has. */
export function compared(convert: Form["convert"], operand: Side["operand"], more: Partial<Form> = {}): Form {
  const side: Side = { of: same, operand };
  return { ...plain, convert, equal: side, order: side, written: operand, ...more };
}

/** An instant as texts have it that are written like ours, whose order more digits would break. */
export function inMilliseconds(cell: Cell): Cell {
  return typeof cell === "string" ? cell.replace(/(\.\d{3})\d+Z$/, "$1Z") : cell;
}

/** Of several conditions all. */
export function everyOf(...conditions: readonly (Form["fits"] | undefined)[]): Form["fits"] {
  const asked = conditions.filter((each) => each !== undefined);
  return asked.length === 0 ? undefined : (x) => asked.map((each) => each(x)).join(" AND ");
}

/** The words that the declaration knows; undefined where it names none. */
export function wordsIn(rule: unknown): readonly string[] | undefined {
  if (typeof rule !== "object" || rule === null || !("enum" in rule) || !Array.isArray(rule.enum)) return undefined;
  return (rule.enum as unknown[]).filter((word) => typeof word === "string");
}
