import { setTimeout as sleep } from "node:timers/promises";
import { statement } from "../../sql/schema/script.ts";
import type { Address } from "../address.ts";
import { connectPatiently } from "../network/clients.ts";
import { sessionOf } from "../network/session.ts";
import { migrationTurn } from "../own-tables.ts";

/** How long the server keeps the turn of a process that has gone without a word, and how often one that is there says so, in milliseconds. */
const idleMs = 60_000;
const signMs = 15_000;

/** Whoever has it is the only one that changes tables. */
export interface Turn {
  end(): Promise<void>;
}

/**
 * Waits for the turn. A connection of its own keeps it, since an index that is made beside writers cannot be made in a transaction, and one
 * behind PgBouncer keeps nothing but a transaction. It is asked for again and again and not waited for: whoever waits in a statement
 * keeps a snapshot, for whose end the index of the other would wait.
 */
export async function takeTurn(address: Address): Promise<Turn> {
  const client = await connectPatiently(address);
  const session = sessionOf(client, false);
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
