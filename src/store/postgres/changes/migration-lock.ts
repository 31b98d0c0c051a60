import { setTimeout as sleep } from "node:timers/promises";
import { statement } from "../../sql/schema/script.ts";
import type { PostgresAddress } from "../address.ts";
import { connectPatiently } from "../network/clients.ts";
import { createSession } from "../network/session.ts";
import { migrationTurn } from "../own-tables.ts";

/**
 * How long the server keeps the turn of a process that is silent, and how often a live process sends a sign, in
 * milliseconds.
 */
const idleMs = 60_000;
const signMs = 15_000;

/** The right to change tables. Only one process has it. */
export interface MigrationLock {
  end(): Promise<void>;
}

/**
 * Waits for the lock. A separate connection holds it: an index that is created while others write cannot be made in a
 * transaction, and a connection through PgBouncer keeps nothing longer than a transaction. The code polls and does not
 * wait in a statement. A waiting statement keeps a snapshot, and the index of the other process would wait for its end.
 */
export async function takeMigrationLock(address: PostgresAddress): Promise<MigrationLock> {
  const client = await connectPatiently(address);
  const session = createSession(client, false);
  try {
    for (;;) {
      await session.run(
        `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
      );
      const [row] = await session.send(statement(migrationTurn));
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
