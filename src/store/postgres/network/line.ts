import type { Pool, PoolClient, QueryArrayConfig } from "pg";
import type { Value } from "../../store.ts";
import { spoilsConnection } from "../errors.ts";
import type { Cells } from "./session.ts";

/** How many may stand in the line: one that is slow holds up so many at most. */
const longest = 64;

/** One connection that all reads of single rows of a table share while there are any. */
export interface Line {
  send(query: QueryArrayConfig): Promise<readonly Cells[]>;
}

/** A connection that was taken from the pool, and how many answers are due over it. */
interface Taken {
  readonly connecting: Promise<PoolClient>;
  client: PoolClient | null;
  due: number;
  /** What broke it, told to all: whoever has waited as long as the first does not wait anew. */
  broken: unknown;
}

/** A line for each table: where somebody has locked one (VACUUM FULL, ALTER TABLE), what is asked of the others does not stand behind it. */
export function linesOver(pool: Pool): (table: string) => Line {
  const lines = new Map<string, Line>();
  return (table) => {
    let line = lines.get(table);
    if (line === undefined) lines.set(table, (line = lineOf(pool)));
    return line;
  };
}

/**
 * Sends reads one behind another without waiting for the answers: several share a trip, and none pays for taking a connection
 * from the pool and putting it back. When the line is long the pool's other connections help.
 */
function lineOf(pool: Pool): Line {
  let taken: Taken | null = null;

  function take(): Taken {
    const fresh: Taken = { connecting: pool.connect(), client: null, due: 0, broken: null };
    return (taken = fresh);
  }

  function leave(mine: Taken): void {
    mine.due--;
    if (mine.broken !== null && taken === mine) taken = null;
    if (mine.due > 0) return;
    if (taken === mine) taken = null;
    mine.client?.release(mine.broken !== null);
  }

  return {
    async send(query) {
      if (taken !== null && taken.due >= longest) return (await pool.query<Value[]>(query)).rows;
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
