import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Observer } from "../../../core/observation.ts";
import type { NamedRow } from "../../sql/schema/script.ts";
import { StoreTimeout, StoreUnavailable, type ConnectionCounts, type Value } from "../../store.ts";
import type { Address } from "../address.ts";
import {
  isCrowded,
  isPassing,
  isReadOnly,
  isTimeout,
  NotConnected,
  spoilsConnection,
  state,
  stateOf,
  storeError,
} from "../errors.ts";
import type { Statement } from "../parameters.ts";
import { makePool } from "./clients.ts";
import { endBehind } from "./ending.ts";
import { makeHealth } from "./health.ts";
import { linesOver, type Line } from "./line.ts";
import type { Primary } from "./primary.ts";
import { cellsQueryOf, queryOf, sessionOf, type Cells, type Session } from "./session.ts";
import type { Sockets } from "./sockets.ts";

/** How often a transaction is tried that others were in the way of. */
const maxTries = 20;

/** The connections to the server: never more than so many, and none that is known to be bad. */
export interface Connections {
  /** Sends one statement that only reads, in one trip. Gives the rows by the names of their columns. */
  send(statement: Statement): Promise<readonly NamedRow[]>;
  /** The same, and gives the rows as cells. */
  sendForCells(statement: Statement): Promise<readonly Cells[]>;
  /** Gives the cells of one row of a table that an index finds. It may share a connection with others, since none takes long. */
  find(table: string, statement: Statement): Promise<Cells | undefined>;
  /** Work that needs a connection of its own; tried again where others were in the way. */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>;
  counts(): ConnectionCounts;
  /** Finishes what was begun. */
  close(): Promise<void>;
}

export interface ConnectionsOptions {
  readonly address: Address;
  readonly primary: Primary;
  readonly sockets: Sockets;
  readonly size: number;
  readonly observe: Observer;
  /** Gives the error itself, or what it comes of. */
  readonly explain: (error: unknown) => Promise<unknown>;
  /** Is called where what is read has columns of other types than before. */
  readonly retyped: () => Promise<void>;
}

/** Opens connections as they are needed. */
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
      // One that hangs or has been demoted is not asked again.
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
        // Apart from each other, so that the same two do not meet again.
        await sleep(Math.random() * Math.min(2 ** tries, 100));
      }
    } catch (error) {
      throw health.told(await explain(storeError(error)));
    } finally {
      if (--underway === 0) whenIdle();
    }
  }

  async function finish(): Promise<void> {
    if (underway > 0) await new Promise<void>((resolve) => (whenIdle = resolve));
    await pools.pool().end();
  }

  /** The pool's own way is a fifth faster than `use`, and most of what is sent are reads that succeed. */
  const ask: Ask = async (statement, first, again) => {
    if (closed !== null || health.isFailing() || !pools.isCurrent()) return use(again);
    underway++;
    try {
      return await first();
    } catch (error) {
      // What only reads may be asked again, except where that would be waiting twice.
      if (stateOf(error) === state.unsupported) await retyped();
      const isWorthIt = isPassing(error) || isCrowded(error) || (spoilsConnection(error) && !isTimeout(error));
      if (isWorthIt) return await use(again);
      if (isTimeout(error)) void primary.find().catch(() => undefined);
      const cause = await explain(storeError(error));
      // A long read, which is never kept prepared, was answered: it is given up.
      throw cause instanceof StoreTimeout && statement.name === undefined ? cause : health.told(cause);
    } finally {
      if (--underway === 0) whenIdle();
    }
  };

  return {
    ...readsOver(pools, ask, !address.pooled),
    use,
    counts: () => countsOf(pools.pool(), size),
    close: () => (closed ??= finish()),
  };
}

/** Asks by `first`. If that may not answer, or does not, asks by `again` over a separate connection. */
type Ask = <Rows>(
  statement: Statement,
  first: () => Promise<Rows>,
  again: (session: Session) => Promise<Rows>,
) => Promise<Rows>;

function readsOver(pools: Pools, ask: Ask, keeps: boolean): Pick<Connections, "send" | "sendForCells" | "find"> {
  function sendForCells(statement: Statement, line: Line | null): Promise<readonly Cells[]> {
    const query = cellsQueryOf(statement, keeps);
    const first = async (): Promise<readonly Cells[]> =>
      line === null ? (await pools.pool().query<Value[]>(query)).rows : line.send(query);
    return ask(statement, first, (session) => session.sendForCells(statement));
  }

  return {
    send(statement) {
      const query = queryOf(statement, keeps);
      const first = async (): Promise<readonly NamedRow[]> => (await pools.pool().query<NamedRow>(query)).rows;
      return ask(statement, first, (session) => session.send(statement));
    },
    sendForCells: (statement) => sendForCells(statement, null),
    // A pooler between us gives its connections away after each statement; nothing is gained there.
    find: async (table, statement) => (await sendForCells(statement, keeps ? pools.line(table) : null))[0],
  };
}

function countsOf(pool: pg.Pool, max: number): ConnectionCounts {
  const { totalCount, idleCount, waitingCount } = pool;
  return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount, max };
}

/** The connections to the server that writes, as far as is known. */
interface Pools {
  pool(): pg.Pool;
  /** For reads of one table that are sent one behind another. */
  line(table: string): Line;
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

  /** Drops all connections as soon as they are free: they lead to a server that does not write any more. */
  function renew(): void {
    const old = pool;
    server = primary.current();
    pool = makePool({ address, server, sockets }, size);
    line = linesOver(pool);
    endBehind(old);
  }

  return { pool: () => pool, line: (table) => line(table), isCurrent: () => server === primary.current(), attempt };
}

async function workOver<T>(
  client: pg.PoolClient,
  prepares: boolean,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  try {
    const result = await work(sessionOf(client, prepares));
    client.release();
    return result;
  } catch (error) {
    client.release(spoilsConnection(error));
    throw error;
  }
}

/** Whether the same work may do better in a moment. Where anything may have been done already, it is not. */
async function isWorthATry(
  { primary, pool, servers }: { readonly primary: Primary; readonly pool: pg.Pool; readonly servers: number },
  error: unknown,
  tries: number,
): Promise<boolean> {
  if (isPassing(error)) return tries < maxTries;
  // The server is full, and one of our own connections will be free.
  if (isCrowded(error) && pool.totalCount > 0) return tries < maxTries;
  // Nothing was written there. Another connection may lead to the server that writes now.
  if (tries === 1 && (isReadOnly(error) || (error instanceof NotConnected && servers > 1))) {
    await primary.find();
    return true;
  }
  if (spoilsConnection(error)) void primary.find().catch(() => undefined);
  return false;
}
