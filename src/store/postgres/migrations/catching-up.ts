import { setTimeout as sleep } from "node:timers/promises";
import { quote } from "../../sql/language/names.ts";
import { statement } from "../../sql/language/script.ts";
import type { Unfinished } from "../../sql/migrations/journal.ts";
import { sendTo } from "../network/session.ts";
import { catchUp, FIRST_BATCH, inBatch, nextBatchSize, BATCH_MS, type Work } from "../table-changes/batches.ts";
import { retryOnLock } from "../table-changes/lock-retry.ts";
import { formatMovedTable, type ShadowColumn } from "../table-changes/shadow-column.ts";

/**
 * A migration has two phases in which it fills the rows that clients have changed. The first phase ends when filling
 * the remaining rows should take at most this long, in milliseconds. In this phase, writers do not wait.
 */
const momentMs = 10;
/**
 * A round fills the rows that had changed when it started. It makes progress if it reduces the number of changed rows
 * by at least this share. Several rounds without progress also end the first phase, because clients then change rows
 * about as fast as they are filled.
 */
const leastGain = 0.25;
const vainRounds = 2;
/**
 * How long writers wait in one step of the second phase, in milliseconds: at first, and at most. Both are within the
 * limit of `retryOnLock`.
 */
const heldMs = 60;
const mostHeldMs = 120;
/**
 * The longest pause between two steps of the second phase, and the longest acceptable time until its end, in
 * milliseconds. If the end is further away, the pauses become shorter.
 */
const pauseMs = 100;
const overMs = 30_000;
/** The interval between estimates of the time until the end, in milliseconds. */
const lookMs = 500;
/** The number of rows that are filled in one statement while writers wait: at first, and at most. */
const heldBatch = 100;
const mostHeld = 5000;

/**
 * The first phase: fills the rows that have changed, while clients write. Ends when filling the rest takes only a
 * moment, or after too many rounds without progress.
 */
export async function catchUpWhileServing(
  work: Work,
  shadows: readonly ShadowColumn[],
  state: Unfinished,
): Promise<Unfinished> {
  let now = state;
  let batch = FIRST_BATCH;
  let rowMs = BATCH_MS / FIRST_BATCH;
  let before = Infinity;
  for (let vain = 0; vain < vainRounds;) {
    const left = await countChangedRows(work);
    if (left * rowMs <= momentMs) break;
    if (left > before * (1 - leastGain)) vain++;
    before = left;
    for (const until = now.rows + left; now.rows < until;) {
      const [begun, start, most] = [now, performance.now(), Math.min(batch, until - now.rows)];
      now = await inBatch(work.session, (part) => catchUp(work, shadows, begun, Math.ceil(most * part)));
      const took = performance.now() - start;
      rowMs = took / Math.max(now.rows - begun.rows, 1);
      batch = nextBatchSize(most, took);
      // Other transactions hold all of these rows locked at the moment.
      if (now.rows === begun.rows) break;
      // No pause after a round without progress, because clients would change more rows during the pause than were
      // filled.
      if (vain === 0) await sleep(took / 2);
    }
  }
  return now;
}

/** The times of the second phase, in milliseconds: how long writers wait, and how long they can write in between. */
export interface LockTimes {
  heldMs: number;
  pauseMs: number;
}

/** Returns the times of the first step. */
export function newLockTimes(): LockTimes {
  return { heldMs, pauseMs };
}

/**
 * The second phase: fills the rows that have changed until almost none is left. Writers wait during each step, and
 * readers never wait. If the end is too far away, the pauses become shorter first, and then the steps become longer, so
 * the end is always reached. The pauses never become longer again, because that would undo the progress.
 */
export async function catchUpWithLocks(
  work: Work,
  shadows: readonly ShadowColumn[],
  state: Unfinished,
  lockTimes: LockTimes,
): Promise<Unfinished> {
  const { session, plan } = work;
  const { name } = plan.collection;
  const pace = newPace();
  const lock = `LOCK TABLE ${quote(name)} IN SHARE ROW EXCLUSIVE MODE`;
  let [now, left, since] = [state, await countChangedRows(work), performance.now()];
  for (;;) {
    const begun = now;
    let isDone = false;
    await retryOnLock(session, [name], [lock], async () => {
      ({ state: now, isDone } = await catchUpFor(work, shadows, begun, lockTimes.heldMs, pace));
      return [];
    });
    if (isDone) return now;
    await sleep(lockTimes.pauseMs);
    const passed = performance.now() - since;
    if (passed < lookMs) continue;
    const rest = await countChangedRows(work);
    if (rest >= left || (rest / (left - rest)) * passed > overMs) shorten(lockTimes);
    [left, since] = [rest, performance.now()];
  }
}

function shorten(lockTimes: LockTimes): void {
  if (lockTimes.pauseMs > 0) lockTimes.pauseMs = Math.floor(lockTimes.pauseMs / 2);
  else lockTimes.heldMs = Math.min(lockTimes.heldMs * 2, mostHeldMs);
}

/** The number of rows that one statement fills while writers wait. */
interface Pace {
  batch: number;
}

/** Returns the number of rows for the first statement. */
export function newPace(): Pace {
  return { batch: heldBatch };
}

/**
 * Fills rows that have changed, for at most `longestMs` milliseconds. The caller holds a lock against writers. `isDone`
 * is true if no row is left.
 */
export async function catchUpFor(
  work: Work,
  shadows: readonly ShadowColumn[],
  state: Unfinished,
  longestMs: number,
  pace: Pace,
): Promise<{ readonly state: Unfinished; readonly isDone: boolean }> {
  const due = performance.now() + longestMs;
  for (let now = state; ;) {
    const [start, batchSize] = [performance.now(), pace.batch];
    const { done, last } = await catchUp(work, shadows, now, batchSize);
    await Promise.all(last.map(sendTo(work.session)));
    const filled = done.rows - now.rows;
    now = done;
    if (filled < batchSize) return { state: now, isDone: true };
    const took = performance.now() - start;
    // The number of rows that one statement should fill in a quarter of `longestMs`.
    const fitting = (batchSize * longestMs) / 4 / Math.max(took, 1);
    pace.batch = Math.min(Math.max(Math.floor(fitting), 1), mostHeld);
    if (performance.now() + longestMs / 4 > due) return { state: now, isDone: false };
  }
}

/** Returns the number of rows that have changed since they were filled. */
async function countChangedRows({ session, plan }: Pick<Work, "session" | "plan">): Promise<number> {
  const [count] = await session.send(
    statement(`SELECT count(*) AS counted FROM ${quote(formatMovedTable(plan.collection.name))}`),
  );
  return Number(count!["counted"]);
}
