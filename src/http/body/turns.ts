import type { ReceivedBody } from "../endpoint/facts.ts";

/** Reading, checking and writing so much take milliseconds each; what is smaller is not worth a turn. */
export const LARGE_BYTES = 64 * 1024;

const waiting = new Set<() => void>();

/**
 * Waits for a turn with work of some milliseconds. Each round of the event loop does one such piece, so that nobody waits for more
 * than one of them, however many are asked for at once (contract, section 8): all that `setImmediate` was given run in one round.
 */
export function takeTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.add(resolve);
    if (waiting.size === 1) setImmediate(next);
  });
}

function next(): void {
  const [first] = waiting;
  waiting.delete(first!);
  if (waiting.size > 0) setImmediate(next);
  first!();
}

/** Waits for a turn between two steps with a large body. */
export function giveWay(body: Pick<ReceivedBody, "bytes"> | null): Promise<void> | undefined {
  return body === null ? undefined : giveWayFor(body.bytes);
}

/** The same before the first step, when there are only octets. */
export function giveWayFor(bytes: Uint8Array): Promise<void> | undefined {
  return bytes.length > LARGE_BYTES ? takeTurn() : undefined;
}

/** How many small steps are taken in one turn. */
const STEPS = 100;

/** Takes a step for each, one after another, and gives way again and again. */
export async function inTurns<T>(each: readonly T[], step: (one: T, at: number) => unknown): Promise<void> {
  for (const [at, one] of each.entries()) {
    if (at > 0 && at % STEPS === 0) await takeTurn();
    const taken = step(one, at);
    if (taken instanceof Promise) await taken;
  }
}
