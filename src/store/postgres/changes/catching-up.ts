import { setTimeout as sleep } from "node:timers/promises";
import type { Unfinished } from "../../sql/changes/journal.ts";
import { quote } from "../../sql/names.ts";
import { statement } from "../../sql/schema/script.ts";
import { sendTo } from "../network/session.ts";
import { movedOf, type Beside } from "./beside.ts";
import { patiently } from "./patiently.ts";
import { catchUp, firstPortion, inPortion, nextPortion, portionMs, type Work } from "./portions.ts";

/** What is left is no more beside others when it is expected to take so long, in milliseconds. */
const momentMs = 10;
/** What a round has to gain, and how often it may not: others write nearly as fast as rows are filled, or faster. */
const leastGain = 0.25;
const vainRounds = 2;
/** How long those who write are let wait at a time: at first, and at most; it stays within what `patiently` gives others. In milliseconds. */
const heldMs = 60;
const mostHeldMs = 120;
/** How long they have the table again at most, and when it is to be over, in milliseconds. */
const pauseMs = 100;
const overMs = 30_000;
/** How often it is looked whether that will be so, in milliseconds. */
const lookMs = 500;
/** How many rows are filled at a time while others wait: at first, and at most. */
const heldPortion = 100;
const mostHeld = 5000;

/** Fills rows that have changed, until the rest takes a moment, or others change about as many as are filled. */
export async function catchUpBeside(work: Work, besides: readonly Beside[], state: Unfinished): Promise<Unfinished> {
  let now = state;
  let portion = firstPortion;
  let rowMs = portionMs / firstPortion;
  let before = Infinity;
  for (let vain = 0; vain < vainRounds;) {
    const left = await waiting(work);
    if (left * rowMs <= momentMs) break;
    if (left > before * (1 - leastGain)) vain++;
    before = left;
    for (const until = now.rows + left; now.rows < until;) {
      const [begun, start, most] = [now, performance.now(), Math.min(portion, until - now.rows)];
      now = await inPortion(work.session, (part) => catchUp(work, besides, begun, Math.ceil(most * part)));
      const took = performance.now() - start;
      rowMs = took / Math.max(now.rows - begun.rows, 1);
      portion = nextPortion(most, took);
      // All that were asked for are somebody's just now.
      if (now.rows === begun.rows) break;
      // The others' turn is shorter where they change more in it than is filled.
      if (vain === 0) await sleep(took / 2);
    }
  }
  return now;
}

/** How those who write and the migration take turns with a table, in milliseconds. */
export interface Turns {
  heldMs: number;
  pauseMs: number;
}

/** The turns to begin with. */
export function newTurns(): Turns {
  return { heldMs, pauseMs };
}

/**
 * Fills rows that have changed while those who write wait for moments, until hardly any is left; who reads goes on. Their turns become shorter as
 * long as there would be no end: it comes, however fast they are. Longer they become no more: they would take back what was won.
 */
export async function holdBack(
  work: Work,
  besides: readonly Beside[],
  state: Unfinished,
  turns: Turns,
): Promise<Unfinished> {
  const { session, plan } = work;
  const { name } = plan.collection;
  const pace = newPace();
  const lock = `LOCK TABLE ${quote(name)} IN SHARE ROW EXCLUSIVE MODE`;
  let [now, left, since] = [state, await waiting(work), performance.now()];
  for (;;) {
    const begun = now;
    let isDone = false;
    await patiently(session, [name], [lock], async () => {
      ({ state: now, isDone } = await catchUpFor(work, besides, begun, turns.heldMs, pace));
      return [];
    });
    if (isDone) return now;
    await sleep(turns.pauseMs);
    const passed = performance.now() - since;
    if (passed < lookMs) continue;
    const rest = await waiting(work);
    if (rest >= left || (rest / (left - rest)) * passed > overMs) shorten(turns);
    [left, since] = [rest, performance.now()];
  }
}

function shorten(turns: Turns): void {
  if (turns.pauseMs > 0) turns.pauseMs = Math.floor(turns.pauseMs / 2);
  else turns.heldMs = Math.min(turns.heldMs * 2, mostHeldMs);
}

/** How many rows are filled in a statement while others wait. */
interface Pace {
  portion: number;
}

/** The pace to begin with. */
export function newPace(): Pace {
  return { portion: heldPortion };
}

/** Fills rows that have changed for so long, in milliseconds. Nobody else may write meanwhile. Tells whether none is left. */
export async function catchUpFor(
  work: Work,
  besides: readonly Beside[],
  state: Unfinished,
  longestMs: number,
  pace: Pace,
): Promise<{ readonly state: Unfinished; readonly isDone: boolean }> {
  const due = performance.now() + longestMs;
  for (let now = state; ;) {
    const [start, asked] = [performance.now(), pace.portion];
    const { done, last } = await catchUp(work, besides, now, asked);
    await Promise.all(last.map(sendTo(work.session)));
    const filled = done.rows - now.rows;
    now = done;
    if (filled < asked) return { state: now, isDone: true };
    const took = performance.now() - start;
    // As many as a quarter of the time is enough for, as it looks.
    const fitting = (asked * longestMs) / 4 / Math.max(took, 1);
    pace.portion = Math.min(Math.max(Math.floor(fitting), 1), mostHeld);
    if (performance.now() + longestMs / 4 > due) return { state: now, isDone: false };
  }
}

/** How many rows have changed since they were filled. */
async function waiting({ session, plan }: Pick<Work, "session" | "plan">): Promise<number> {
  const [count] = await session.send(
    statement(`SELECT count(*) AS counted FROM ${quote(movedOf(plan.collection.name))}`),
  );
  return Number(count!["counted"]);
}
