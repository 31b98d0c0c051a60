import type { Client, PoolClient, QueryArrayConfig, QueryConfig } from "pg";
import { playAsync, type NamedRow, type Rows, type Script, type Step } from "../../sql/schema/script.ts";
import type { Value } from "../../store.ts";
import type { Statement } from "../parameters.ts";

/** How long a transaction may be without a statement, in milliseconds: a process that is stopped in the midst of one keeps nobody waiting for longer. */
export const idleInTransactionMs = 10_000;

/** A row as the values of its columns. */
export type Cells = readonly Value[];

/** A connection that statements are sent over, one after another or without waiting. */
export interface Session {
  /** Gives the rows by the names of their columns. */
  send(statement: Statement): Promise<readonly NamedRow[]>;
  /** Gives the rows as cells: for statements that are made from the columns of a table. */
  sendForCells(statement: Statement): Promise<readonly Cells[]>;
  /** SQL of several statements, without values and without rows. */
  run(sql: string): Promise<void>;
  /** A script, each step when the one before is answered. */
  play<T>(script: Script<T>): Promise<T>;
}

/** The session over a connection. */
export function sessionOf(client: Client | PoolClient, keeps: boolean): Session {
  const session: Session = {
    async send(statement) {
      return (await client.query<NamedRow>(queryOf(statement, keeps))).rows;
    },
    async sendForCells(statement) {
      return (await client.query<Value[]>(cellsQueryOf(statement, keeps))).rows;
    },
    async run(sql) {
      await client.query(sql);
    },
    play: (script) => playAsync(script, sendTo(session)),
  };
  return session;
}

/**
 * Sets the isolation of a new connection, before anything else is sent and without waiting. Whatever is the default of the server, the
 * database or the role: a statement that has waited for a table has to see what it was changed to.
 */
export function readCommitted(client: PoolClient): void {
  client.query("SET default_transaction_isolation TO 'read committed'").catch(() => undefined);
}

/** Answers the steps of scripts. */
export function sendTo(session: Session): (step: Step) => Promise<Rows> {
  return async (step) => {
    if ("cells" in step) return session.sendForCells(step.cells);
    if (!("run" in step)) return session.send(step);
    await session.run(step.run);
    return [];
  };
}

/** A statement for `pg`. Its name keeps it prepared, unless the connection cannot keep statements (`keeps`). */
export function queryOf({ name, text, values }: Statement, keeps: boolean): QueryConfig {
  const query = { text, values: values as unknown[] };
  return name === undefined || !keeps ? query : { ...query, name };
}

/** The same, whose rows come as cells: they cost half as much as rows by name. */
export function cellsQueryOf(statement: Statement, keeps: boolean): QueryArrayConfig {
  return { ...queryOf(statement, keeps), rowMode: "array" };
}
