import type { Eventually } from "../../core/eventually.ts";
import type { ReceivedBody } from "../endpoint/facts.ts";
import { whenAllAnswered } from "./answered.ts";

/** The size from which reading, checking and writing a body take milliseconds each. Smaller bodies need no turn. */
export const LARGE_BYTES = 64 * 1024;

const beginning = new Set<() => void>();
const begun = new Set<() => void>();

/**
 * Waits for a turn with work of some milliseconds. Each round of the event loop does only one such piece, so no request
 * waits for more than one of them (contract, section 8). A plain `setImmediate` would run all pieces in one round.
 * Small requests of that round go first.
 */
export function takeTurn(): Promise<void> {
  return waitAmong(beginning);
}

/**
 * Waits for a turn with started work, before all new work. A half-read body takes memory, and many cost garbage
 * collection.
 */
export function takeTurnAgain(): Promise<void> {
  return waitAmong(begun);
}

function waitAmong(waiting: Set<() => void>): Promise<void> {
  return new Promise((resolve) => {
    waiting.add(resolve);
    if (beginning.size + begun.size === 1) setImmediate(whenAllAnswered, next);
  });
}

function next(): void {
  const waiting = begun.size > 0 ? begun : beginning;
  const [first] = waiting;
  waiting.delete(first!);
  if (beginning.size + begun.size > 0) setImmediate(whenAllAnswered, next);
  first!();
}

/** Waits for a turn between two steps with a large body. Returns undefined for a small one. */
export function giveWay(body: Pick<ReceivedBody, "bytes"> | null): Promise<void> | undefined {
  return body !== null && body.bytes.length > LARGE_BYTES ? takeTurnAgain() : undefined;
}

/** Waits for a turn before the first step, when there are only octets. Returns undefined for a small body. */
export function giveWayFor(bytes: Uint8Array): Promise<void> | undefined {
  return bytes.length > LARGE_BYTES ? takeTurn() : undefined;
}

/**
 * Work that pauses regularly and can continue later. A body reader pauses after every `LARGE_BYTES`, but never with a
 * smaller body: it has not waited for a first turn, and would go before all that have.
 */
export type Pieces<T> = Generator<undefined, T, undefined>;

/** Does such work, and gives way at every pause. Work without a pause is done immediately. */
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
 * Writes each item of a list, one after another. Pauses after every `LARGE_BYTES`. A long text becomes octets piece by
 * piece, because that takes as long as writing it.
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

/** The longest slice of such work, in milliseconds. Others then have their turn. */
const SLICE_MS = 5;

/** Does such work in many small pieces, and gives way after some milliseconds. */
export async function inSlices<T>(work: Pieces<T>): Promise<T> {
  for (let began = performance.now(); ;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (performance.now() - began < SLICE_MS) continue;
    await takeTurnAgain();
    began = performance.now();
  }
}

/** Does such work without giving way. For small bodies. */
export function wholly<T>(work: Pieces<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** The most steps of one turn. */
const STEPS = 100;

/** Takes a step for each item, one after another. Gives way after some steps or some milliseconds. */
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
