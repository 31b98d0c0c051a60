import type { Cell } from "../sql/dialect.ts";
import type { Statement as Sent } from "../sql/schema/script.ts";

/** What is sent: SQL with `$1` for the first of the values. */
export interface Statement extends Sent {
  /** The name under which each connection keeps it prepared; none for what happens once. */
  readonly name?: string | undefined;
}

/** Every connection keeps each named statement, so there must be an end to them. */
const maxNames = 2000;

const names = new Map<string, string>();

/** A statement for one time: of a read that is long anyway, and of which callers can make more texts than could be kept. */
export function unprepared(text: string, values: readonly Cell[] = []): Statement {
  return { text, values };
}

/** A statement that is kept prepared. Its text may not grow with its values. */
export function prepared(text: string, values: readonly Cell[] = []): Statement {
  let name = names.get(text);
  if (name === undefined && names.size < maxNames) names.set(text, (name = `latchkey_${names.size}`));
  return { name, text, values };
}
