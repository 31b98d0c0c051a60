import { after, type Eventually } from "../../core/eventually.ts";
import { add, storedOf, table, type StoredIn } from "../../http/declarations/table.ts";
import { integer } from "../../resource/kinds/fields.ts";
import type { Change, Row, Store } from "../../store/store.ts";

/** The allowed requests of all processes, with a row for each window of each frequent subject. */
export const requestCountsCollection = table({
  name: "request_counts",
  id: "text",
  fields: {
    count: integer(),
    /** The time after which no window needs the row, in milliseconds since the epoch. */
    ends_at: integer(),
  },
  indexes: [["ends_at"]],
});

/** The properties of a limit that is counted. */
export interface CountedLimit {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The result of counting a request. */
export interface CountResult {
  readonly isAllowed: boolean;
  /** How many more requests are allowed. */
  readonly remaining: number;
  /** The time until the window ends, in seconds. */
  readonly resetSeconds: number;
  /** The time until the next request is allowed, in seconds, at least 1. 0 if one is allowed now. */
  readonly retrySeconds: number;
}

/** Counts the requests of each subject, in memory and for all processes of a store. */
export interface RequestCounter {
  /**
   * Counts `by` requests (default: 1) if the limit allows all of them. Refused requests do not count. `now` is in
   * milliseconds.
   */
  take(subject: string, now: number, by?: number): Eventually<CountResult>;
  /** Returns counts that are to be written for other processes, at most `most` of them. */
  due(most: number): readonly Due[];
}

/** The requests of one subject in this process that are not in the store yet. */
export interface Due {
  readonly key: string;
  readonly change: Change;
  /** Marks the counts as written. `row` has the total of all processes. */
  done(row: Row<StoredIn<typeof requestCountsCollection>> | null): void;
  /** Marks the counts as not written, so that they are due again. */
  failed(): void;
}

interface Entry {
  readonly subject: string;
  window: number;
  /** The number of allowed requests of all processes in the previous window. */
  before: number;
  /** The number of allowed requests of all processes in this window, at the last exchange with the store. */
  reported: number;
  /** The number of allowed requests in this process since the last exchange. */
  own: number;
  /** The part of `own` that is being written to the store. */
  writing: number;
  loading: Promise<void> | null;
}

/**
 * The maximum number of subjects in memory, about 4 MB for each limit. A subject is forgotten only after requests of at
 * least 10,000 other subjects.
 */
const MAX_SUBJECTS = 20_000;
/** The part of a limit that one process counts before it writes the count for other processes: a twentieth. */
const SHARE = 20;

/**
 * Approximates a sliding window by two counts: the requests of this window, and a share of the requests of the previous
 * one. The share is the part of the previous window that is within the last `windowSeconds`. A subject is written for
 * other processes after a twentieth of the limit, so that rare subjects cost no row.
 */
export function requestCounter(store: Store, { name, limit, windowSeconds }: CountedLimit): RequestCounter {
  const windowMs = windowSeconds * 1000;
  const leastToWrite = Math.max(1, Math.floor(limit / SHARE));
  // Two maps, each with half of the subjects. When the current one is full, the older one is dropped as a whole. In a
  // single map, finding the oldest member for each deletion would be slow.
  let entries = new Map<string, Entry>();
  let older = new Map<string, Entry>();
  const waiting = new Set<Entry>();

  function ensureEntry(subject: string, now: number): Entry {
    const found = entries.get(subject) ?? older.get(subject);
    if (found !== undefined) {
      if (!entries.has(subject)) keep(found);
      moveToWindow(found, now);
      return found;
    }
    const entry: Entry = { subject, window: windowAt(now), before: 0, reported: 0, own: 0, writing: 0, loading: null };
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

  function moveToWindow(entry: Entry, now: number): void {
    const window = windowAt(now);
    // If the clock was turned back, the entry stays in its window.
    if (window <= entry.window) return;
    entry.before = window === entry.window + 1 ? entry.reported + entry.own : 0;
    entry.window = window;
    entry.reported = entry.own = entry.writing = 0;
    waiting.delete(entry);
  }

  function count(entry: Entry, now: number, by: number): CountResult {
    const used = entry.reported + entry.own;
    const leftMs = Math.min(windowMs, Math.max(0, (entry.window + 1) * windowMs - now));
    const sliding = used + entry.before * (leftMs / windowMs);
    const isAllowed = sliding + by <= limit;
    if (isAllowed) entry.own += by;
    // Refused requests are not written, because the other processes would refuse them too.
    if (entry.own - entry.writing >= leastToWrite && waiting.size < MAX_SUBJECTS) waiting.add(entry);
    const remaining = isAllowed ? Math.floor(limit - sliding - by) : 0;
    const retrySeconds = isAllowed
      ? 0
      : Math.max(1, Math.ceil(waitMs({ room: limit - by, windowMs }, entry, used, leftMs) / 1000));
    return { isAllowed, remaining, resetSeconds: Math.ceil(leftMs / 1000), retrySeconds };
  }

  function windowAt(now: number): number {
    return Math.floor(now / windowMs);
  }

  return {
    take(subject, now, by = 1) {
      const entry = ensureEntry(subject, now);
      return entry.loading === null ? count(entry, now, by) : entry.loading.then(() => count(entry, now, by));
    },
    due(most) {
      const due: Due[] = [];
      for (const entry of waiting) {
        if (due.length >= most) break;
        waiting.delete(entry);
        if (entry.own > 0 && entry.writing === 0) due.push(takeDue({ name, windowMs, waiting }, entry));
      }
      return due;
    },
  };
}

/** Reads the counts of other processes. If the store does not answer, this process counts alone. */
function load(store: Store, name: string, entry: Entry): Eventually<void> {
  const { subject, window } = entry;
  const readCount = (row: Parameters<Due["done"]>[0]): number => (row === null ? 0 : storedOf(row).count);
  try {
    const loaded = after(store.find(requestCountsCollection, formatKey(name, subject, window)), (here) =>
      after(store.find(requestCountsCollection, formatKey(name, subject, window - 1)), (before) => {
        if (entry.window !== window) return;
        entry.reported = readCount(here);
        entry.before = readCount(before);
      }),
    );
    return loaded instanceof Promise ? loaded.catch(() => undefined) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the time until the next request is allowed, in milliseconds. If this window has room for the request, this is
 * the time until the counted share of the previous window is small enough. Otherwise, this window must end first, and
 * then its own counted share must be small enough.
 */
function waitMs(
  { room, windowMs }: { readonly room: number; readonly windowMs: number },
  { before }: Entry,
  used: number,
  leftMs: number,
): number {
  if (used <= room) return leftMs - (before === 0 ? 0 : ((room - used) / before) * windowMs);
  return leftMs + windowMs * (1 - room / used);
}

interface CounterParts {
  readonly name: string;
  readonly windowMs: number;
  readonly waiting: Set<Entry>;
}

/**
 * Returns the unwritten counts of a subject, and the functions to call after the write succeeds (`done`) or fails
 * (`failed`).
 */
function takeDue({ name, windowMs, waiting }: CounterParts, entry: Entry): Due {
  const { subject, window, own } = entry;
  entry.writing = own;
  const key = formatKey(name, subject, window);
  const values = { count: own, ends_at: (window + 2) * windowMs };
  return {
    key,
    change: add(requestCountsCollection, { key, column: "count", by: own, values }),
    done(row) {
      const total = row === null ? own : storedOf(row).count;
      if (entry.window === window + 1) entry.before = Math.max(entry.before, total);
      if (entry.window !== window) return;
      entry.reported = total;
      entry.own -= own;
      entry.writing = 0;
    },
    failed() {
      if (entry.window !== window) return;
      entry.writing = 0;
      waiting.add(entry);
    },
  };
}

function formatKey(name: string, subject: string, window: number): string {
  return `${name} ${window} ${subject}`;
}
