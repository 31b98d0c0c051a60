import pg from "pg";
import type { Address } from "../address.ts";
import { decoders } from "../codec.ts";
import { primaryOf, requireWritable } from "./primary.ts";
import { idleInTransactionMs, readCommitted } from "./session.ts";
import type { Sockets } from "./sockets.ts";

/** How long a feed waits for an answer, in milliseconds. */
const feedMs = 3000;

/** How much longer than a statement may take we wait for its answer, in milliseconds: the server ends it a little before. */
const answerMs = 500;

/** Lets a new connection into the pool if it leads to a server that writes. */
function verify(client: pg.PoolClient, done: (error?: Error) => void): void {
  requireWritable(client).then(() => done(), done);
}

/** The server that a connection leads to. */
export interface Way {
  readonly address: Address;
  readonly server: string;
  readonly sockets: Sockets;
}

/** A connection outside the pool: for the feeds, which listen on it. */
export function makeClient(way: Way): pg.Client {
  return quiet(new pg.Client({ ...settingsFor(way), connectionTimeoutMillis: feedMs, query_timeout: feedMs }));
}

/** A connection to the server that writes, which may take its time: for migrations. */
export async function connectPatiently(address: Address): Promise<pg.Client> {
  const primary = primaryOf(address);
  await primary.find();
  const client = new pg.Client({
    connectionString: primary.current(),
    types: decoders,
    connectionTimeoutMillis: address.timeouts.connectMs,
    keepAlive: true,
    pipeline: true,
  });
  await quiet(client).connect();
  return client;
}

/** A pool of at most so many connections to one server. */
export function makePool(way: Way, max: number): pg.Pool {
  const pool = new pg.Pool({
    ...settingsFor(way),
    max,
    idleTimeoutMillis: 30_000,
    query_timeout: way.address.timeouts.statementMs + answerMs,
    ...(way.address.writable ? { verify } : {}),
  });
  // The pool drops an unused connection that breaks.
  pool.on("error", () => undefined);
  pool.on("connect", quiet);
  if (!way.address.pooled) pool.on("connect", readCommitted);
  return pool;
}

function settingsFor({ address: { pooled, timeouts }, server, sockets }: Way): pg.ClientConfig {
  return {
    connectionString: server,
    stream: sockets.make,
    types: decoders,
    application_name: "latchkey",
    connectionTimeoutMillis: timeouts.connectMs,
    keepAlive: true,
    // Statements are sent without waiting for the answers of those before them.
    pipeline: true,
    // PgBouncer refuses settings that would stay with the connection.
    ...(pooled
      ? {}
      : {
          statement_timeout: timeouts.statementMs,
          ...(timeouts.lockMs === null ? {} : { lock_timeout: timeouts.lockMs }),
          idle_in_transaction_session_timeout: idleInTransactionMs,
        }),
  };
}

/** Ignores the event of a lost connection, which would end the process: every query over it rejects. */
function quiet<C extends pg.Client | pg.PoolClient>(client: C): C {
  client.on("error", () => undefined);
  return client;
}
