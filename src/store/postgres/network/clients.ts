import pg from "pg";
import { decoders } from "../codec.ts";
import type { PostgresAddress } from "./address.ts";
import { createPrimary, requireWritable } from "./primary.ts";
import { idleInTransactionMs, readCommitted } from "./session.ts";
import type { Sockets } from "./sockets.ts";

/** The longest wait of a feed for the answer to a query, in milliseconds. */
const feedMs = 3000;

/** How much longer than the server's own time limit this process waits for an answer, in milliseconds. */
const answerMs = 500;

/** Lets a new connection into the pool if its server accepts writes. */
function verify(client: pg.PoolClient, done: (error?: Error) => void): void {
  requireWritable(client).then(() => done(), done);
}

/** The server that a connection leads to. */
export interface Connection {
  readonly address: PostgresAddress;
  readonly server: string;
  readonly sockets: Sockets;
}

/** Creates a connection outside the pool, for the feeds, which listen on it. */
export function makeClient(connection: Connection): pg.Client {
  return ignoreErrorEvents(
    new pg.Client({ ...settingsFor(connection), connectionTimeoutMillis: feedMs, query_timeout: feedMs }),
  );
}

/** Connects to the server that accepts writes, without time limits for statements. For migrations. */
export async function connectPatiently(address: PostgresAddress): Promise<pg.Client> {
  const primary = createPrimary(address);
  await primary.find();
  const client = new pg.Client({
    connectionString: primary.current(),
    types: decoders,
    connectionTimeoutMillis: address.timeouts.connectMs,
    keepAlive: true,
    pipeline: true,
  });
  await ignoreErrorEvents(client).connect();
  return client;
}

/** Creates a pool of at most `max` connections to one server. */
export function makePool(connection: Connection, max: number): pg.Pool {
  const pool = new pg.Pool({
    ...settingsFor(connection),
    max,
    idleTimeoutMillis: 30_000,
    query_timeout: connection.address.timeouts.statementMs + answerMs,
    ...(connection.address.writable ? { verify } : {}),
  });
  // The pool removes an unused connection that breaks.
  pool.on("error", () => undefined);
  pool.on("connect", ignoreErrorEvents);
  if (!connection.address.pooled) pool.on("connect", readCommitted);
  return pool;
}

function settingsFor({ address: { pooled, timeouts }, server, sockets }: Connection): pg.ClientConfig {
  return {
    connectionString: server,
    stream: sockets.make,
    types: decoders,
    application_name: "latchkey",
    connectionTimeoutMillis: timeouts.connectMs,
    keepAlive: true,
    // Sends statements without waiting for earlier answers.
    pipeline: true,
    // PgBouncer refuses start-up parameters that belong to a connection.
    ...(pooled
      ? {}
      : {
          statement_timeout: timeouts.statementMs,
          ...(timeouts.lockMs === null ? {} : { lock_timeout: timeouts.lockMs }),
          idle_in_transaction_session_timeout: idleInTransactionMs,
        }),
  };
}

/**
 * Ignores the event of a lost connection, which would end the process. Every query on that connection still rejects.
 */
function ignoreErrorEvents<C extends pg.Client | pg.PoolClient>(client: C): C {
  client.on("error", () => undefined);
  return client;
}
