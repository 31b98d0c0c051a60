import type { Client, PoolClient, QueryArrayConfig, QueryConfig } from "pg";
import { playAsync, type NamedRow, type Rows, type Script, type ScriptStep } from "../../sql/language/script.ts";
import type { Value } from "../../store.ts";
import type { PostgresStatement } from "../parameters.ts";

/**
 * The longest time between two statements of a transaction, in milliseconds. After that, the server ends a transaction
 * whose process has stopped.
 */
export const idleInTransactionMs = 10_000;

/** A row as a list of the values of its columns. */
export type RowCells = readonly Value[];

/** A connection that runs statements. The caller may send a statement before the answer to the last one. */
export interface Session {
  /** Sends a statement. Returns the rows with named columns. */
  send(statement: PostgresStatement): Promise<readonly NamedRow[]>;
  /** Returns the rows as cells. For statements that are built from the columns of a table. */
  sendForCells(statement: PostgresStatement): Promise<readonly RowCells[]>;
  /** Runs SQL with several statements, without values and without rows. */
  run(sql: string): Promise<void>;
  /** Runs a script. Each step starts when the one before it is answered. */
  play<T>(script: Script<T>): Promise<T>;
}

/** Returns the session over a connection. */
export function createSession(client: Client | PoolClient, keeps: boolean): Session {
  const session: Session = {
    async send(statement) {
      return (await client.query<NamedRow>(buildQuery(statement, keeps))).rows;
    },
    async sendForCells(statement) {
      return (await client.query<Value[]>(buildCellsQuery(statement, keeps))).rows;
    },
    async run(sql) {
      await client.query(sql);
    },
    play: (script) => playAsync(script, sendTo(session)),
  };
  return session;
}

/**
 * Sets the isolation level of a new connection, as its first statement and without waiting for the answer. The level
 * must not depend on the defaults of the server, the database or the role: a statement that has waited for a lock must
 * see the changes of the transaction that held the lock.
 */
export function readCommitted(client: PoolClient): void {
  client.query("SET default_transaction_isolation TO 'read committed'").catch(() => undefined);
}

/** Returns a function that runs the steps of scripts over a session. */
export function sendTo(session: Session): (step: ScriptStep) => Promise<Rows> {
  return async (step) => {
    if ("cells" in step) return session.sendForCells(step.cells);
    if (!("run" in step)) return session.send(step);
    await session.run(step.run);
    return [];
  };
}

/**
 * Returns a statement for `pg`. If the statement has a name, the server keeps it prepared. `keeps` is false for a
 * connection that cannot keep prepared statements.
 */
export function buildQuery({ name, text, values }: PostgresStatement, keeps: boolean): QueryConfig {
  const query = { text, values: values as unknown[] };
  return name === undefined || !keeps ? query : { ...query, name };
}

/** Returns the same as `buildQuery`, with rows as cells. They cost half as much as rows with named columns. */
export function buildCellsQuery(statement: PostgresStatement, keeps: boolean): QueryArrayConfig {
  return { ...buildQuery(statement, keeps), rowMode: "array" };
}
