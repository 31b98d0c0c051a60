import type { Eventually } from "../../core/eventually.ts";
import { whenAllAnswered } from "./answered.ts";

/**
 * A body with more than this many bytes waits for a turn (`takeTurn`) before each step, because each step (read, check,
 * write) takes milliseconds.
 */
export const LARGE_BYTES = 64 * 1024;

const starting = new Set<() => void>();
const continuing = new Set<() => void>();

/**
 * Waits for a turn, which is the permission to do some milliseconds of work. Each pass of the event loop gives only one
 * turn, after it has answered its small requests. So no request waits for more than one piece of such work. With a
 * plain `setImmediate`, all waiting pieces would run in one pass.
 */
export function takeTurn(): Promise<void> {
  return waitAmong(starting);
}

/**
 * Waits for the next turn of work that has already started. Such work has priority over new work, because half-read
 * bodies take memory and slow down garbage collection.
 */
export function takeTurnAgain(): Promise<void> {
  return waitAmong(continuing);
}

function waitAmong(waiting: Set<() => void>): Promise<void> {
  return new Promise((resolve) => {
    waiting.add(resolve);
    if (starting.size + continuing.size === 1) setImmediate(whenAllAnswered, next);
  });
}

function next(): void {
  const waiting = continuing.size > 0 ? continuing : starting;
  const [first] = waiting;
  waiting.delete(first!);
  if (starting.size + continuing.size > 0) setImmediate(whenAllAnswered, next);
  first!();
}

/** If the body is large, waits for a turn between two steps. Returns undefined for a small body. */
export function yieldBetweenSteps(body: { readonly bytes: Uint8Array } | null): Promise<void> | undefined {
  return body !== null && body.bytes.length > LARGE_BYTES ? takeTurnAgain() : undefined;
}

/** If the body is large, waits for a turn before its first step. Returns undefined for a small body. */
export function yieldBeforeFirstStep(bytes: Uint8Array): Promise<void> | undefined {
  return bytes.length > LARGE_BYTES ? takeTurn() : undefined;
}

/**
 * Work that pauses at each `yield` and can continue later. A body reader pauses only after every `LARGE_BYTES`, so it
 * reads a smaller body without a pause. A smaller body has not waited for a first turn. If it paused, its next turn
 * would come before the first turn of large bodies that arrived earlier.
 */
export type Pieces<T> = Generator<undefined, T, undefined>;

/** Does the work, and waits for a turn at every pause. Work without a pause is done immediately. */
export function inPieces<T>(work: Pieces<T>): Eventually<T> {
  const { done, value } = work.next();
  return done === true ? value : inMorePieces(work);
}

async function inMorePieces<T>(work: Pieces<T>): Promise<T> {
  for (;;) {
    await takeTurnAgain();
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/**
 * Writes each item of a list, one after another. Pauses after every `LARGE_BYTES`. Also converts a long text to octets
 * in pieces, because the conversion takes as long as the writing.
 */
export function* writeEach<T>(
  list: readonly T[],
  write: (one: T) => string,
  [before, between, behind]: readonly [before: string, between: string, behind: string],
): Pieces<string | Uint8Array> {
  const chunks: Uint8Array[] = [];
  let text = before;
  for (const [at, each] of list.entries()) {
    text += (at === 0 ? "" : between) + write(each);
    if (text.length < LARGE_BYTES) continue;
    chunks.push(Buffer.from(text));
    text = "";
    yield;
  }
  text += behind;
  return chunks.length === 0 ? text : Buffer.concat([...chunks, Buffer.from(text)]);
}

/** The time after which work in many small pieces waits for another turn, in milliseconds. */
const SLICE_MS = 5;

/** Does work in many small pieces, and waits for another turn after every `SLICE_MS`. */
export async function inSlices<T>(work: Pieces<T>): Promise<T> {
  for (let began = performance.now(); ;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (performance.now() - began < SLICE_MS) continue;
    await takeTurnAgain();
    began = performance.now();
  }
}

/** Does the work without waiting for turns. For small bodies. */
export function runAtOnce<T>(work: Pieces<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** The maximum number of steps in one turn. */
const STEPS = 100;

/** Calls `step` for each item, one after another. Waits for a turn after every `STEPS` steps or `SLICE_MS`. */
export async function inTurns<T>(each: readonly T[], step: (one: T, at: number) => unknown): Promise<void> {
  let began = performance.now();
  let steps = 0;
  for (const [at, one] of each.entries()) {
    if (steps === STEPS || (steps > 0 && performance.now() - began >= SLICE_MS)) {
      await takeTurn();
      began = performance.now();
      steps = 0;
    }
    steps++;
    const taken = step(one, at);
    if (taken instanceof Promise) await taken;
  }
}
