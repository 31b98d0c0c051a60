import type { Cell } from "../sql/language/dialect.ts";
import type { Statement as Sent } from "../sql/language/script.ts";

/** A statement to send: SQL with `$1` for the first of the values. */
export interface PostgresStatement extends Sent {
  /** The name of the prepared statement on each connection. Undefined for a statement that runs once. */
  readonly name?: string | undefined;
}

/** The maximum number of names. Each connection keeps all named statements in memory. */
const maxNames = 2000;

const names = new Map<string, string>();

/** Returns a statement that is not prepared. For reads and writes whose texts vary too much. */
export function unprepared(text: string, values: readonly Cell[] = []): PostgresStatement {
  return { text, values };
}

/** Returns a statement that each connection prepares once. Its text must not depend on the number of values. */
export function prepared(text: string, values: readonly Cell[] = []): PostgresStatement {
  let name = names.get(text);
  if (name === undefined && names.size < maxNames) names.set(text, (name = `latchkey_${names.size}`));
  return { name, text, values };
}
