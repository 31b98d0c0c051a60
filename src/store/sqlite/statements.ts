import type { DatabaseSync } from "node:sqlite";
import { prepare, type Statement } from "./connection.ts";

/** How many shapes are remembered. Programs have dozens; callers who combine filters could make thousands. */
const limit = 200;

/** Prepared statements by their shape. `sql` is asked for only where the shape is new. */
export interface Statements {
  (shape: string, sql: () => string): Statement;
}

/** Remembers prepared statements; the oldest goes when there are too many. */
export function statementsOf(database: DatabaseSync): Statements {
  const known = new Map<string, Statement>();
  return (shape, sql) => {
    const found = known.get(shape);
    if (found !== undefined) return found;
    const statement = prepare(database, sql());
    if (known.size >= limit) known.delete(known.keys().next().value!);
    known.set(shape, statement);
    return statement;
  };
}
