import { setTimeout as sleep } from "node:timers/promises";
import { statement } from "../../sql/language/script.ts";
import type { PostgresAddress } from "../network/address.ts";
import { connectPatiently } from "../network/clients.ts";
import { createSession } from "../network/session.ts";
import { tryTableLock } from "../own-tables.ts";

/**
 * The time without a statement after which the server closes the connection of a process and releases its lock, in
 * milliseconds. A live process sends a statement every `signMs` milliseconds.
 */
const idleMs = 60_000;
const signMs = 15_000;

/** The right to change tables. Only one process has it. */
export interface MigrationLock {
  end(): Promise<void>;
}

/**
 * Waits for the lock. A transaction on a separate connection holds it. The work itself cannot run in that transaction,
 * because PostgreSQL creates no index in a transaction while clients write. Behind PgBouncer, a connection keeps a lock
 * only until its transaction ends. Asks for the lock again and again, because a single statement that waits would hold
 * a snapshot. The process with the lock could then not finish an index before this snapshot is released.
 */
export async function takeMigrationLock(address: PostgresAddress): Promise<MigrationLock> {
  const client = await connectPatiently(address);
  const session = createSession(client, false);
  try {
    for (;;) {
      await session.run(
        `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
      );
      const [row] = await session.send(statement(tryTableLock));
      if (row!["is_ours"] === true) break;
      await session.run("ROLLBACK");
      await sleep(20 + Math.random() * 30);
    }
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  const sign = setInterval(() => void session.run("SELECT 1").catch(() => undefined), signMs).unref();
  return {
    async end() {
      clearInterval(sign);
      await client.end().catch(() => undefined);
    },
  };
}
