import { after, type Eventually } from "../../core/eventually.ts";
import { problem } from "../../core/problem/problem.ts";
import type { Change, Collection, Row, Store, Where } from "../../store/store.ts";

/** What was tried in the last minute, a row each. All processes on a store count together. */
export const guessesCollection: Collection = {
  name: "guesses",
  key: "integer",
  columns: [
    /** The try counts against it: an account, a network, both together, or a network that probes. */
    { name: "subject", type: "text" },
    /** In milliseconds since the epoch. */
    { name: "at", type: "integer" },
  ],
  indexes: [["subject", "at"], ["at"]],
};

/** The rest of an allowance, for one subject that failures count against. */
export interface Room {
  readonly subject: string;
  /** How many more may be wrong, with those that were counted since it was read; ends the request (429) if none may. */
  left(): number;
}

/** How much is allowed. */
export interface Allowance {
  /** Tries in any window. */
  readonly limit: number;
  /** What came before was forgiven; in milliseconds since the epoch, null for never. */
  readonly since?: number | null;
}

/** A true sliding window: what counts are the tries of the last `windowSeconds`, whenever they began. */
export interface GuessWindow {
  /** Reads what is left for a subject; ends the request (429) if that is nothing. */
  room(subject: string, now: number, allowance: Allowance): Eventually<Room>;
  /** Counts a try in memory, where as many are kept as `limit` allows, and gives what has to be written. */
  count(subject: string, now: number, limit: number): Change;
  /** Removes what no window holds any more. */
  prune(now: number): readonly Change[];
}

/** Subjects whose latest tries are kept in memory; the store knows all of them. */
const maxSubjects = 10_000;

/** Memory counts what is still on its way to the store, so a burst does not slip through before its first failure is written. */
export function makeGuessWindow(store: Store, windowSeconds: number): GuessWindow {
  const windowMs = windowSeconds * 1000;
  const recent = new Map<string, number[]>();

  function room(subject: string, now: number, { limit, since = null }: Allowance): Eventually<Room> {
    // A clock that was turned back must not keep anybody out until it is where it was: the far future counts for nothing.
    const until = now + windowMs;
    const from = Math.max(now - windowMs, since === null || since > until ? -Infinity : since);
    const where = whereWithin(subject, from, until);
    requireRoom(recent.get(subject) ?? []);
    return after(store.list({ collection: guessesCollection, where, sort: latestFirst, limit }), (rows) => {
      const stored = rows.map(timeOf).reverse();
      // Memory again, each time: the store's answer lacks the tries that were counted since it was asked.
      const left = (): number => Math.min(requireRoom(recent.get(subject) ?? []), requireRoom(stored));
      left();
      return { subject, left };
    });

    /** `times` are the latest ones, the oldest first. */
    function requireRoom(times: readonly number[]): number {
      const within = times.filter((time) => time > from && time <= until);
      const oldest = within.at(-limit);
      if (oldest === undefined) return limit - within.length;
      // When the oldest of them leaves the window there is room for one more try.
      const seconds = Math.min(windowSeconds, Math.max(1, Math.ceil((oldest + windowMs - now) / 1000)));
      throw problem("too_many_attempts", { headers: [["Retry-After", String(seconds)]] });
    }
  }

  function count(subject: string, now: number, limit: number): Change {
    const times = [...(recent.get(subject) ?? []), now].slice(-limit);
    // Taken out and put back, so that the first in the map is the one that was tried least recently.
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

function timeOf({ record }: Row): number {
  return Number(record["at"]);
}
