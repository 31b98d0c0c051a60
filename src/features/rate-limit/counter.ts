import { after, type Eventually } from "../../core/eventually.ts";
import type { Change, Collection, Row, Store } from "../../store/store.ts";

/** What all processes have let through, a row for each window of each subject that comes often. */
export const requestCountsCollection: Collection = {
  name: "request_counts",
  key: "text",
  columns: [
    { name: "count", type: "integer" },
    /** In milliseconds since the epoch: no window needs it any more. */
    { name: "ends_at", type: "integer" },
  ],
  indexes: [["ends_at"]],
};

/** What a limit counts. */
export interface Counted {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** What became of a request. */
export interface Taken {
  readonly isAllowed: boolean;
  /** How many more there is room for. */
  readonly remaining: number;
  /** When the window ends, in seconds. */
  readonly resetSeconds: number;
  /** When there is room again, in seconds from 1; 0 where there is. */
  readonly retrySeconds: number;
}

/** Counts the requests of each subject, in memory and for all processes of a store. */
export interface RequestCounter {
  /** Counts one where there is room for it. What is refused does not count. `now` in milliseconds. */
  take(subject: string, now: number): Eventually<Taken>;
  /** What is to be told to the others, at most `most` of it. */
  due(most: number): readonly Due[];
}

/** What one subject has used here that the others do not know of. */
export interface Due {
  readonly key: string;
  readonly change: Change;
  /** It was told: the row as all have written it. */
  done(row: Row | null): void;
  /** It could not be told, and is due again. */
  failed(): void;
}

interface Entry {
  readonly subject: string;
  window: number;
  /** What all let through in the window before. */
  before: number;
  /** What all let through in this one, as far as the store has told. */
  known: number;
  /** What came here since. */
  own: number;
  /** Of that, what is on its way to the store. */
  telling: number;
  loading: Promise<void> | null;
}

/** About 4 MB for each limit. What did not come while half as many others did is forgotten. */
const MAX_SUBJECTS = 20_000;
/** The part of a limit that a process may keep to itself. */
const SHARE = 20;

/**
 * A sliding window of two counts: what came in this window, and of the one before as much as still reaches into the last `windowSeconds`.
 * Subjects are told to the others once a twentieth of the limit has come, so that those who come seldom cost no row.
 */
export function requestCounter(store: Store, { name, limit, windowSeconds }: Counted): RequestCounter {
  const windowMs = windowSeconds * 1000;
  const worthTelling = Math.max(1, Math.floor(limit / SHARE));
  // The present half and the one before: a map that gives up its first member again and again would have to look for it.
  let entries = new Map<string, Entry>();
  let older = new Map<string, Entry>();
  const waiting = new Set<Entry>();

  function entryOf(subject: string, now: number): Entry {
    const found = entries.get(subject) ?? older.get(subject);
    if (found !== undefined) {
      if (!entries.has(subject)) keep(found);
      roll(found, now);
      return found;
    }
    const entry: Entry = { subject, window: windowAt(now), before: 0, known: 0, own: 0, telling: 0, loading: null };
    keep(entry);
    const loaded = load(store, name, entry);
    if (loaded instanceof Promise) entry.loading = loaded.finally(() => void (entry.loading = null));
    return entry;
  }

  function keep(entry: Entry): void {
    if (entries.size >= MAX_SUBJECTS / 2) {
      older = entries;
      entries = new Map<string, Entry>();
    }
    entries.set(entry.subject, entry);
  }

  function roll(entry: Entry, now: number): void {
    const window = windowAt(now);
    // A clock that was turned back goes on in the window that it was in.
    if (window <= entry.window) return;
    entry.before = window === entry.window + 1 ? entry.known + entry.own : 0;
    entry.window = window;
    entry.known = entry.own = entry.telling = 0;
    waiting.delete(entry);
  }

  function count(entry: Entry, now: number): Taken {
    const used = entry.known + entry.own;
    const leftMs = Math.min(windowMs, Math.max(0, (entry.window + 1) * windowMs - now));
    const sliding = used + entry.before * (leftMs / windowMs);
    const isAllowed = sliding + 1 <= limit;
    if (isAllowed) entry.own++;
    // Nothing that the others do not know yet: they would refuse it in the same way.
    if (entry.own - entry.telling >= worthTelling && waiting.size < MAX_SUBJECTS) waiting.add(entry);
    const remaining = isAllowed ? Math.floor(limit - sliding - 1) : 0;
    const retrySeconds = isAllowed
      ? 0
      : Math.max(1, Math.ceil(waitMs({ limit, windowMs }, entry, used, leftMs) / 1000));
    return { isAllowed, remaining, resetSeconds: Math.ceil(leftMs / 1000), retrySeconds };
  }

  function windowAt(now: number): number {
    return Math.floor(now / windowMs);
  }

  return {
    take(subject, now) {
      const entry = entryOf(subject, now);
      return entry.loading === null ? count(entry, now) : entry.loading.then(() => count(entry, now));
    },
    due(most) {
      const due: Due[] = [];
      for (const entry of waiting) {
        if (due.length >= most) break;
        waiting.delete(entry);
        if (entry.own > 0 && entry.telling === 0) due.push(dueOf({ name, windowMs, waiting }, entry));
      }
      return due;
    },
  };
}

/** What others have counted before it came here. Where the store does not answer, this process counts alone. */
function load(store: Store, name: string, entry: Entry): Eventually<void> {
  const { subject, window } = entry;
  const countOf = (row: Row | null): number => (row === null ? 0 : Number(row.record["count"]));
  try {
    const loaded = after(store.find(requestCountsCollection, keyOf(name, subject, window)), (here) =>
      after(store.find(requestCountsCollection, keyOf(name, subject, window - 1)), (before) => {
        if (entry.window !== window) return;
        entry.known = countOf(here);
        entry.before = countOf(before);
      }),
    );
    return loaded instanceof Promise ? loaded.catch(() => undefined) : undefined;
  } catch {
    return undefined;
  }
}

/** When one more has room: as soon as enough of the window before has slid out, or of this one after it. */
function waitMs(
  { limit, windowMs }: { readonly limit: number; readonly windowMs: number },
  { before }: Entry,
  used: number,
  leftMs: number,
): number {
  const room = limit - 1;
  if (used <= room) return leftMs - (before === 0 ? 0 : ((room - used) / before) * windowMs);
  return leftMs + windowMs * (1 - room / used);
}

interface Telling {
  readonly name: string;
  readonly windowMs: number;
  readonly waiting: Set<Entry>;
}

/** What is to be told of a subject, and what becomes of it then. */
function dueOf({ name, windowMs, waiting }: Telling, entry: Entry): Due {
  const { subject, window, own } = entry;
  entry.telling = own;
  const key = keyOf(name, subject, window);
  const values = { count: own, ends_at: (window + 2) * windowMs };
  return {
    key,
    change: { kind: "add", collection: requestCountsCollection, key, column: "count", by: own, values },
    done(row) {
      const told = row === null ? own : Number(row.record["count"]);
      if (entry.window === window + 1) entry.before = Math.max(entry.before, told);
      if (entry.window !== window) return;
      entry.known = told;
      entry.own -= own;
      entry.telling = 0;
    },
    failed() {
      if (entry.window !== window) return;
      entry.telling = 0;
      waiting.add(entry);
    },
  };
}

function keyOf(name: string, subject: string, window: number): string {
  return `${name} ${window} ${subject}`;
}
