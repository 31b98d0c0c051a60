import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Observer } from "../../../core/observation.ts";
import type { NamedRow } from "../../sql/language/script.ts";
import { StoreTimeout, StoreUnavailable, type ConnectionCounts, type Value } from "../../store.ts";
import {
  isCrowded,
  isPassing,
  isReadOnly,
  isTimeout,
  NotConnected,
  spoilsConnection,
  state,
  findSQLState,
  storeError,
} from "../errors.ts";
import type { PostgresStatement } from "../parameters.ts";
import type { PostgresAddress } from "./address.ts";
import { makePool } from "./clients.ts";
import { endWhenUnused } from "./ending.ts";
import { makeHealth } from "./health.ts";
import { linesOver, type ReadConnection } from "./line.ts";
import type { Primary } from "./primary.ts";
import { buildCellsQuery, buildQuery, createSession, type RowCells, type Session } from "./session.ts";
import type { Sockets } from "./sockets.ts";

/** The number of attempts for a transaction that conflicts with others. */
const maxTries = 20;

/** The connections to the server, up to a maximum. Broken connections are not used again. */
export interface Connections {
  /** Sends one statement that only reads, in one round trip. Returns the rows with named columns. */
  send(statement: PostgresStatement): Promise<readonly NamedRow[]>;
  /** Does the same as `send`, but returns the rows as cells. */
  sendForCells(statement: PostgresStatement): Promise<readonly RowCells[]>;
  /** Returns the cells of one row that an index finds. Such reads are short, so they may share a connection. */
  find(table: string, statement: PostgresStatement): Promise<RowCells | undefined>;
  /** Runs work on one connection. Runs it again after a conflict with another transaction. */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>;
  counts(): ConnectionCounts;
  /** Waits for the running work, then closes the connections. */
  close(): Promise<void>;
}

export interface ConnectionsOptions {
  readonly address: PostgresAddress;
  readonly primary: Primary;
  readonly sockets: Sockets;
  readonly size: number;
  readonly observe: Observer;
  /** Returns the error itself, or its real cause. */
  readonly explain: (error: unknown) => Promise<unknown>;
  /** Called if a read shows that the types of columns have changed. */
  readonly retyped: () => Promise<void>;
}

/** Opens connections when they are needed. */
export function connectionsTo({
  address,
  primary,
  sockets,
  size,
  observe,
  explain,
  retyped,
}: ConnectionsOptions): Connections {
  const pools = poolsTo({ address, primary, sockets, size });
  const health = makeHealth(observe);
  let closed: Promise<void> | null = null;
  let underway = 0;
  let whenIdle = (): void => {};

  async function use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (closed !== null) throw new StoreUnavailable("PostgreSQL: the store is closed");
    underway++;
    try {
      // Looks for a server that accepts writes, because the present one hangs or is now a replica.
      if (health.isFailing()) await primary.find();
      for (let tries = 1; ; tries++) {
        try {
          const result = await pools.attempt(work);
          health.recovered();
          return result;
        } catch (error) {
          if (!(await isWorthATry({ primary, pool: pools.pool(), servers: address.servers.length }, error, tries)))
            throw error;
        }
        // A random wait, so that the same two transactions do not conflict again.
        await sleep(Math.random() * Math.min(2 ** tries, 100));
      }
    } catch (error) {
      throw health.report(await explain(storeError(error)));
    } finally {
      if (--underway === 0) whenIdle();
    }
  }

  async function finish(): Promise<void> {
    if (underway > 0) await new Promise<void>((resolve) => (whenIdle = resolve));
    await pools.pool().end();
  }

  /** Reads through the pool directly, which is a fifth faster than `use`. Most statements are reads that succeed. */
  const ask: Ask = async (statement, first, again) => {
    if (closed !== null || health.isFailing() || !pools.isCurrent()) return use(again);
    underway++;
    try {
      return await first();
    } catch (error) {
      // A read can be sent again. Not after a timeout, because the caller would wait twice.
      if (findSQLState(error) === state.unsupported) await retyped();
      const isWorthIt = isPassing(error) || isCrowded(error) || (spoilsConnection(error) && !isTimeout(error));
      if (isWorthIt) return await use(again);
      if (isTimeout(error)) void primary.find().catch(() => undefined);
      const cause = await explain(storeError(error));
      // Only reads that may scan a table are not prepared. Their timeout does not mean that the server is down.
      throw cause instanceof StoreTimeout && statement.name === undefined ? cause : health.report(cause);
    } finally {
      if (--underway === 0) whenIdle();
    }
  };

  return {
    ...readsOver(pools, ask, !address.pooled),
    use,
    counts: () => countConnections(pools.pool(), size),
    close: () => (closed ??= finish()),
  };
}

/** Reads with `first`. If that is not possible or fails, reads with `again` over a separate connection. */
type Ask = <Rows>(
  statement: PostgresStatement,
  first: () => Promise<Rows>,
  again: (session: Session) => Promise<Rows>,
) => Promise<Rows>;

function readsOver(pools: Pools, ask: Ask, keeps: boolean): Pick<Connections, "send" | "sendForCells" | "find"> {
  function sendForCells(statement: PostgresStatement, line: ReadConnection | null): Promise<readonly RowCells[]> {
    const query = buildCellsQuery(statement, keeps);
    const first = async (): Promise<readonly RowCells[]> =>
      line === null ? (await pools.pool().query<Value[]>(query)).rows : line.send(query);
    return ask(statement, first, (session) => session.sendForCells(statement));
  }

  return {
    send(statement) {
      const query = buildQuery(statement, keeps);
      const first = async (): Promise<readonly NamedRow[]> => (await pools.pool().query<NamedRow>(query)).rows;
      return ask(statement, first, (session) => session.send(statement));
    },
    sendForCells: (statement) => sendForCells(statement, null),
    // Behind a pooler, a shared connection saves nothing, because the pooler changes the connection after each
    // statement.
    find: async (table, statement) => (await sendForCells(statement, keeps ? pools.line(table) : null))[0],
  };
}

function countConnections(pool: pg.Pool, max: number): ConnectionCounts {
  const { totalCount, idleCount, waitingCount } = pool;
  return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount, max };
}

/** The connections to the server that accepts writes, as far as is known. */
interface Pools {
  pool(): pg.Pool;
  /** Returns the shared connection for reads of single rows of this table. */
  line(table: string): ReadConnection;
  isCurrent(): boolean;
  attempt<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

function poolsTo({
  address,
  primary,
  sockets,
  size,
}: Omit<ConnectionsOptions, "observe" | "explain" | "retyped">): Pools {
  let server = primary.current();
  let pool = makePool({ address, server, sockets }, size);
  let line = linesOver(pool);

  async function attempt<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (server !== primary.current()) renew();
    const from = pool;
    const client = await from.connect().catch((error: unknown) => {
      throw isReadOnly(error) ? error : new NotConnected(error);
    });
    try {
      return await workOver(client, !address.pooled, work);
    } catch (error) {
      if (isReadOnly(error) && pool === from) renew();
      throw error;
    }
  }

  /** Replaces the pool, because its server no longer accepts writes. Closes the old connections when they are free. */
  function renew(): void {
    const old = pool;
    server = primary.current();
    pool = makePool({ address, server, sockets }, size);
    line = linesOver(pool);
    endWhenUnused(old);
  }

  return { pool: () => pool, line: (table) => line(table), isCurrent: () => server === primary.current(), attempt };
}

async function workOver<T>(
  client: pg.PoolClient,
  prepares: boolean,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  try {
    const result = await work(createSession(client, prepares));
    client.release();
    return result;
  } catch (error) {
    client.release(spoilsConnection(error));
    throw error;
  }
}

/** Returns true if the same work may succeed on another attempt. Returns false if a part of it may already be done. */
async function isWorthATry(
  { primary, pool, servers }: { readonly primary: Primary; readonly pool: pg.Pool; readonly servers: number },
  error: unknown,
  tries: number,
): Promise<boolean> {
  if (isPassing(error)) return tries < maxTries;
  // The server refuses more connections, but one of the pool's connections will be free soon.
  if (isCrowded(error) && pool.totalCount > 0) return tries < maxTries;
  // Nothing was written. Another connection may lead to the server that accepts writes now.
  if (tries === 1 && (isReadOnly(error) || (error instanceof NotConnected && servers > 1))) {
    await primary.find();
    return true;
  }
  if (spoilsConnection(error)) void primary.find().catch(() => undefined);
  return false;
}
