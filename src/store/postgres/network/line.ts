import type { Pool, PoolClient, QueryArrayConfig } from "pg";
import type { Value } from "../../store.ts";
import { spoilsConnection } from "../errors.ts";
import type { RowCells } from "./session.ts";

/**
 * The maximum number of reads that wait for answers on one shared connection. One slow read delays at most this many.
 */
const maxReads = 64;

/** One connection for all reads of single rows of a table. */
export interface ReadConnection {
  send(query: QueryArrayConfig): Promise<readonly RowCells[]>;
}

/** A connection from the pool, and the number of reads that wait for an answer on it. */
interface TakenConnection {
  readonly connecting: Promise<PoolClient>;
  client: PoolClient | null;
  due: number;
  /**
   * The error that broke the connection. All reads on this connection fail with this error. After a timeout, none of
   * these reads is sent again.
   */
  broken: unknown;
}

/**
 * Returns a function that returns the shared connection of a table. Each table has a separate connection: if a program
 * locks a table (VACUUM FULL, ALTER TABLE), reads of other tables do not wait.
 */
export function linesOver(pool: Pool): (table: string) => ReadConnection {
  const lines = new Map<string, ReadConnection>();
  return (table) => {
    let line = lines.get(table);
    if (line === undefined) lines.set(table, (line = createLine(pool)));
    return line;
  };
}

/**
 * Creates a shared connection for reads. It sends reads one after another without waiting for the answers. So several
 * reads share a round trip, and none has to take a connection from the pool and return it. If too many reads wait,
 * other connections of the pool are used.
 */
function createLine(pool: Pool): ReadConnection {
  let taken: TakenConnection | null = null;

  function take(): TakenConnection {
    const fresh: TakenConnection = { connecting: pool.connect(), client: null, due: 0, broken: null };
    return (taken = fresh);
  }

  function leave(mine: TakenConnection): void {
    mine.due--;
    if (mine.broken !== null && taken === mine) taken = null;
    if (mine.due > 0) return;
    if (taken === mine) taken = null;
    mine.client?.release(mine.broken !== null);
  }

  return {
    async send(query) {
      if (taken !== null && taken.due >= maxReads) return (await pool.query<Value[]>(query)).rows;
      const mine = taken ?? take();
      mine.due++;
      try {
        mine.client ??= await mine.connecting;
        return (await mine.client.query<Value[]>(query)).rows;
      } catch (error) {
        if (mine.client === null || spoilsConnection(error)) mine.broken ??= error;
        throw mine.broken ?? error;
      } finally {
        leave(mine);
      }
    },
  };
}
