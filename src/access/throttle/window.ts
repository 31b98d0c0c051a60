import { after, type Eventually } from "../../core/eventually.ts";
import { problem } from "../../core/problem/problem.ts";
import type { Change, Collection, Row, Store, Where } from "../../store/store.ts";

/** The tries in the last window, one row each. The tries of all processes with the same store count together. */
export const guessesCollection: Collection = {
  name: "guesses",
  key: "integer",
  columns: [
    /**
     * The subject that the try is counted for: an account, a network or site, an account at a network, or the probes of
     * a network or site.
     */
    { name: "subject", type: "text" },
    /** The time of the try, in milliseconds since the epoch. */
    { name: "at", type: "integer" },
  ],
  indexes: [["subject", "at"], ["at"]],
};

/** The remaining failures of one subject. */
export interface Room {
  readonly subject: string;
  /**
   * Returns how many more failures are allowed at this moment. Subtracts the failures that were counted since the room
   * was read. Ends the request (429) if there are none left.
   */
  left(): number;
}

/** The allowed number of tries. */
export interface Allowance {
  /** The maximum number of tries in any window. */
  readonly limit: number;
  /** The time up to which all tries are forgiven, in milliseconds since the epoch. Null if no tries are forgiven. */
  readonly since?: number | null;
}

/** A true sliding window: it counts the tries of the last `windowSeconds` at every moment. */
export interface GuessWindow {
  /** Reads the remaining failures of a subject. Ends the request (429) if there are none. */
  room(subject: string, now: number, allowance: Allowance): Eventually<Room>;
  /** Counts a try in memory, which contains the latest `limit` tries of a subject. Returns the change for the store. */
  count(subject: string, now: number, limit: number): Change;
  /** Returns the changes that delete tries outside of every window. */
  prune(now: number): readonly Change[];
}

/** The maximum number of subjects whose latest tries are in memory. The store has the tries of all subjects. */
const maxSubjects = 10_000;

/**
 * Makes the window. Memory counts the tries that the store has not written yet, so a burst is limited from its first
 * failure.
 */
export function makeGuessWindow(store: Store, windowSeconds: number): GuessWindow {
  const windowMs = windowSeconds * 1000;
  const recent = new Map<string, number[]>();

  function room(subject: string, now: number, { limit, since = null }: Allowance): Eventually<Room> {
    // Tries with a time in the future are ignored. Otherwise a clock that was set back would block callers until the
    // old time is reached.
    const until = now + windowMs;
    const from = Math.max(now - windowMs, since === null || since > until ? -Infinity : since);
    const where = whereWithin(subject, from, until);
    requireRoom(recent.get(subject) ?? []);
    return after(store.list({ collection: guessesCollection, where, sort: latestFirst, limit }), (rows) => {
      const stored = rows.map(readTime).reverse();
      // Each call reads the memory again, because the rows from the store do not contain tries that were counted later.
      const left = (): number => Math.min(requireRoom(recent.get(subject) ?? []), requireRoom(stored));
      left();
      return { subject, left };
    });

    /** `times` are the times of the latest tries, the oldest first. */
    function requireRoom(times: readonly number[]): number {
      const within = times.filter((time) => time > from && time <= until);
      const oldest = within.at(-limit);
      if (oldest === undefined) return limit - within.length;
      // When the oldest of these tries leaves the window, one more is allowed.
      const seconds = Math.min(windowSeconds, Math.max(1, Math.ceil((oldest + windowMs - now) / 1000)));
      throw problem("too_many_attempts", { headers: [["Retry-After", String(seconds)]] });
    }
  }

  function count(subject: string, now: number, limit: number): Change {
    const times = [...(recent.get(subject) ?? []), now].slice(-limit);
    // The entry is deleted and inserted again, so that the first entry of the map is the subject with the oldest latest
    // try.
    recent.delete(subject);
    recent.set(subject, times);
    if (recent.size > maxSubjects) recent.delete(recent.keys().next().value!);
    return { kind: "insert", collection: guessesCollection, values: { subject, at: now } };
  }

  function prune(now: number): readonly Change[] {
    const outside: readonly Where[] = [
      { column: "at", operator: "lte", value: now - windowMs },
      { column: "at", operator: "gt", value: now + windowMs },
    ];
    return outside.map((where) => ({ kind: "deleteAll", collection: guessesCollection, where }));
  }

  return { room, count, prune };
}

const latestFirst = [
  { column: "at", descending: true },
  { column: "id", descending: true },
];

function whereWithin(subject: string, from: number, until: number): Where {
  return {
    all: [
      { column: "subject", operator: "eq", value: subject },
      { column: "at", operator: "gt", value: from },
      { column: "at", operator: "lte", value: until },
    ],
  };
}

function readTime({ record }: Row): number {
  return Number(record["at"]);
}
