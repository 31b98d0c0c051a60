import { setTimeout as sleep } from "node:timers/promises";
import { stateOf } from "../errors.ts";
import type { Session } from "../network/session.ts";

/** For a connection whose work takes its time, whatever the server's settings are. */
export const unhurried = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0";

/** How long a lock is waited for, in milliseconds: whoever comes behind waits as long. */
const lockMs = 100;
const maxTries = 600;

/** What passes by itself: a lock that was not to be had, a deadlock, and rows that others have changed. */
export const passing: ReadonlySet<string | null> = new Set(["55P03", "40P01", "40001"]);

/** There is more to do than others may be kept waiting for. */
export class TooMuch extends Error {
  override readonly name = "TooMuch";
}

/** Runs statements in one transaction, again and again until nobody is in the way for long; `between` two tries is free for other work. */
export async function patiently(
  session: Session,
  steps: readonly string[],
  more: () => Promise<unknown> = async () => {},
  between: () => Promise<unknown> = async () => {},
): Promise<void> {
  for (let tries = 1; ; tries++) {
    await session.run(`BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = ${lockMs}`);
    try {
      for (const sql of steps) await session.run(sql);
      await more();
      await session.run("COMMIT");
      return;
    } catch (error) {
      await session.run("ROLLBACK");
      if (!(passing.has(stateOf(error)) || error instanceof TooMuch) || tries === maxTries) throw error;
    }
    await sleep(50 + Math.random() * 150);
    await between();
  }
}
