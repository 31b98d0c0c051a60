import type { Cell } from "./codec.ts";

/** What is sent: SQL with `$1` for the first of the values. */
export interface Statement {
  /** The name under which each connection keeps it prepared. */
  readonly name: string | undefined;
  readonly text: string;
  readonly values: readonly Cell[];
}

/** The values of a statement that is being written. */
export interface Parameters {
  readonly values: Cell[];
  /** Takes a value and gives the place where it stands: `$3`. */
  place(value: Cell): string;
}

export function parameters(): Parameters {
  const values: Cell[] = [];
  return { values, place: (value) => `$${values.push(value)}` };
}

/** Every connection keeps each named statement, so there must be an end to them. */
const maxNames = 2000;

const names = new Map<string, string>();

/** A statement that is kept prepared. Its text may not grow with its values. */
export function prepared(text: string, values: readonly Cell[] = []): Statement {
  let name = names.get(text);
  if (name === undefined && names.size < maxNames) names.set(text, (name = `latchkey_${names.size}`));
  return { name, text, values };
}

/** A statement that is sent as it is: for what happens once. */
export function plain(text: string, values: readonly Cell[] = []): Statement {
  return { name: undefined, text, values };
}
