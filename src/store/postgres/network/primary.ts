import pg from "pg";
import { ReadOnly, unavailable } from "../errors.ts";
import type { PostgresAddress } from "./address.ts";

/** The longest time for a server to answer whether it accepts writes, in milliseconds. */
const probeMs = 2000;

/** Finds which of several servers accepts writes. */
export interface Primary {
  /** Returns the URL of the last server that accepted writes. */
  current(): string;
  /** Asks all servers. Rejects if none accepts writes. Concurrent calls share one answer. */
  find(): Promise<void>;
}

/** Starts with the first server. If there is only one, `find` does nothing. */
export function createPrimary({ servers }: Pick<PostgresAddress, "servers">): Primary {
  let current = servers[0]!;
  let finding: Promise<void> | null = null;

  /** Asks all servers at the same time, so that a server that hangs costs no time. */
  async function findOne(): Promise<void> {
    try {
      current = await Promise.any(servers.map(probe));
    } catch (error) {
      throw unavailable(error);
    }
  }

  return {
    current: () => current,
    async find() {
      if (servers.length === 1) return;
      await (finding ??= findOne().finally(() => (finding = null)));
    },
  };
}

/** Throws `ReadOnly` if the server is a replica or is set to read-only. */
export async function requireWritable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ readonly refuses: boolean }>(
    "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS refuses",
  );
  if (rows[0]!.refuses) throw new ReadOnly();
}

async function probe(connectionString: string): Promise<string> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: probeMs, query_timeout: probeMs });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await requireWritable(client);
    return connectionString;
  } finally {
    // Does not wait for the end, because a server that hangs does not close the connection.
    void client.end().catch(() => undefined);
  }
}
