import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Observer } from "../../observation.ts";
import { StoreUnavailable, type Value } from "../store.ts";
import type { Address } from "./address.ts";
import { decoders } from "./codec.ts";
import { isPassing, isReadOnly, spoilsConnection, storeError } from "./errors.ts";
import type { Statement } from "./parameters.ts";
import { queryOf, sessionOf, type Session } from "./session.ts";

/** How long things may take, in milliseconds. The server ends a statement a little before we stop waiting for it. */
const patience = { connectMs: 5000, statementMs: 8000, answerMs: 10_000, idleInTransactionMs: 10_000 } as const;

/** How often a transaction is tried that others were in the way of. */
const maxTries = 20;

/** The connections to the server: never more than so many, and none that is known to be bad. */
export interface Connections {
  /** One statement, in one trip. */
  send(statement: Statement): Promise<readonly (readonly Value[])[]>;
  /** Work that needs a connection of its own; tried again where others were in the way. */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Finishes what was begun. */
  close(): Promise<void>;
}

export interface ConnectionsOptions {
  readonly address: Address;
  readonly size: number;
  readonly observe: Observer;
}

/** Opens connections as they are needed. */
export function connectionsTo({ address, size, observe }: ConnectionsOptions): Connections {
  let pool = makePool(address, size);
  let failing = false;
  let closed: Promise<void> | null = null;
  let underway = 0;
  let whenIdle = (): void => {};

  async function attempt<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const from = pool;
    const client = await from.connect();
    try {
      const result = await work(sessionOf(client, !address.pooled));
      client.release();
      return result;
    } catch (error) {
      client.release(spoilsConnection(error));
      if (isReadOnly(error) && pool === from) renew();
      throw error;
    }
  }

  async function use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (closed !== null) throw new StoreUnavailable("PostgreSQL: the store is closed");
    underway++;
    try {
      for (let tries = 1; ; tries++) {
        try {
          const result = await attempt(work);
          if (failing) recovered();
          return result;
        } catch (error) {
          // Nothing was written there. Another connection may lead to the server that writes now.
          const again = isReadOnly(error) ? tries === 1 : isPassing(error) && tries < maxTries;
          if (!again) throw told(storeError(error));
        }
        // Apart from each other, so that the same two do not meet again.
        await sleep(Math.random() * Math.min(2 ** tries, 100));
      }
    } finally {
      if (--underway === 0) whenIdle();
    }
  }

  function told(error: unknown): unknown {
    if (error instanceof StoreUnavailable && !failing) {
      failing = true;
      observe({ kind: "notice", level: "error", message: "PostgreSQL does not answer", error });
    }
    return error;
  }

  function recovered(): void {
    failing = false;
    observe({ kind: "notice", level: "info", message: "PostgreSQL answers again" });
  }

  /** Drops all connections as soon as they are free: they lead to a server that does not write any more. */
  function renew(): void {
    const old = pool;
    pool = makePool(address, size);
    void old.end();
  }

  async function finish(): Promise<void> {
    if (underway > 0) await new Promise<void>((resolve) => (whenIdle = resolve));
    await pool.end();
  }

  return {
    async send(statement) {
      if (closed !== null || failing) return use((session) => session.send(statement));
      underway++;
      try {
        // The pool's own way is a fifth faster than `use`, and most of what is sent are reads that succeed.
        return (await pool.query<Value[]>(queryOf(statement, !address.pooled))).rows;
      } catch (error) {
        if (!isPassing(error)) throw told(storeError(error));
        return await use((session) => session.send(statement));
      } finally {
        if (--underway === 0) whenIdle();
      }
    },
    use,
    close: () => (closed ??= finish()),
  };
}

/** A connection outside the pool: for the feeds, which listen on it. */
export function makeClient(address: Address): pg.Client {
  return quiet(new pg.Client({ ...settingsFor(address), query_timeout: patience.connectMs }));
}

/** A connection that may take its time: for migrations. */
export function makePatientClient({ connectionString }: Address): pg.Client {
  return quiet(
    new pg.Client({ connectionString, types: decoders, connectionTimeoutMillis: patience.connectMs, keepAlive: true }),
  );
}

function makePool(address: Address, max: number): pg.Pool {
  const pool = new pg.Pool({
    ...settingsFor(address),
    max,
    idleTimeoutMillis: 30_000,
    query_timeout: patience.answerMs,
  });
  // A connection that breaks while nobody uses it is no news: the pool drops it.
  pool.on("error", () => undefined);
  pool.on("connect", quiet);
  return pool;
}

function settingsFor({ connectionString, pooled }: Address): pg.ClientConfig {
  return {
    connectionString,
    types: decoders,
    application_name: "latchkey",
    connectionTimeoutMillis: patience.connectMs,
    keepAlive: true,
    // Statements are sent without waiting for the answers of those before them.
    pipeline: true,
    // PgBouncer refuses settings that would stay with the connection.
    ...(pooled
      ? {}
      : {
          statement_timeout: patience.statementMs,
          idle_in_transaction_session_timeout: patience.idleInTransactionMs,
        }),
  };
}

/** Whoever waits for an answer is told of a lost connection; the event itself would end the process. */
function quiet<C extends pg.Client | pg.PoolClient>(client: C): C {
  client.on("error", () => undefined);
  return client;
}
