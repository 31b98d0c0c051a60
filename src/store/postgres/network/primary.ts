import pg from "pg";
import type { Address } from "../address.ts";
import { ReadOnly, unavailable } from "../errors.ts";

/** How long a server may take to say whether it writes, in milliseconds. */
const probeMs = 2000;

/** Which of several servers is the one that writes. */
export interface Primary {
  /** The URL of the server that wrote last. */
  current(): string;
  /** Asks all of them; rejects where none writes. Whoever asks meanwhile gets the same answer. */
  find(): Promise<void>;
}

/** Begins with the first one. Where there is but one, there is nothing to find. */
export function primaryOf({ servers }: Pick<Address, "servers">): Primary {
  let current = servers[0]!;
  let finding: Promise<void> | null = null;

  /** All at once, so that one that hangs costs no time. */
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

/** Throws `ReadOnly` where the server is a replica or was set so. */
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
    // What hangs does not say goodbye either.
    void client.end().catch(() => undefined);
  }
}
