import type { DatabaseSync } from "node:sqlite";
import type { Collection } from "../../store.ts";
import { prepare } from "../connection/connection.ts";
import { code, findCode } from "../connection/errors.ts";

/**
 * The maximum number of keys that one write deletes from `latchkey_taken_keys`, so that no write takes long. This table
 * lists the keys above the counter that callers have chosen for their rows.
 */
const forgotten = 500;

/**
 * The counters for revisions and integer keys. Both only increase and are stored in the database. So no process issues
 * a value twice, even after a row is deleted. The connection must hold the write lock from `load` to `save`. Each
 * commit that changes a row increases the revision, so an older copy of the file has a smaller revision.
 */
export interface Counters {
  load(): void;
  save(): void;
  nextRevision(): number;
  /** Returns a key that no row has or ever had. */
  nextKey(collection: Collection): number;
  /** Records a key that the caller chose for a row. */
  takeKey(collection: Collection, key: number): void;
}

interface KeyCounter {
  /** The next key to issue, if it is not taken. */
  next: number;
  /** All keys from `next` to below this one are free. Null before the first lookup. */
  clearBelow: number | null;
  /** True if the counter has passed some taken keys. They can then be deleted from `latchkey_taken_keys`. */
  passed: boolean;
}

export function createCounters(database: DatabaseSync): Counters {
  const loadRevision = prepare(database, "SELECT revision FROM latchkey_revision");
  const saveRevision = prepare(database, "UPDATE latchkey_revision SET revision = ?");
  const totalChanges = prepare(database, "SELECT total_changes()");
  const loadKey = prepare(database, "SELECT next FROM latchkey_keys WHERE collection = ?");
  const saveKey = prepare(
    database,
    "INSERT INTO latchkey_keys (collection, next) VALUES (?, ?) ON CONFLICT DO UPDATE SET next = excluded.next",
  );
  const nextTaken = prepare(database, "SELECT min(key) FROM latchkey_taken_keys WHERE collection = ? AND key >= ?");
  const take = prepare(
    database,
    "INSERT INTO latchkey_taken_keys (collection, key) VALUES (?, ?) ON CONFLICT DO NOTHING",
  );
  const findTaken = prepare(database, "SELECT 1 FROM latchkey_taken_keys WHERE collection = ? AND key = ?");
  const forget = prepare(
    database,
    `DELETE FROM latchkey_taken_keys WHERE collection = ?1 AND key IN
     (SELECT key FROM latchkey_taken_keys WHERE collection = ?1 AND key < ?2 ORDER BY key LIMIT ${forgotten})`,
  );
  /** The collections for which this connection has found no taken keys below the counter. */
  const tidy = new Set<string>();
  const keys = new Map<string, KeyCounter>();
  let revision = 0;
  let loadedRevision = 0;
  let changesThen: unknown = 0;

  function loadKeys(name: string): KeyCounter {
    let found = keys.get(name);
    if (found === undefined) {
      found = { next: (loadKey.get(name)?.[0] as number | undefined) ?? 1, clearBelow: null, passed: false };
      keys.set(name, found);
    }
    return found;
  }

  return {
    load() {
      keys.clear();
      loadedRevision = revision = loadRevision.get()![0] as number;
      changesThen = totalChanges.get()![0];
    },
    save() {
      if (revision === loadedRevision && totalChanges.get()![0] !== changesThen) revision++;
      if (revision !== loadedRevision) saveRevision.run(revision);
      for (const [name, { next, passed }] of keys) {
        saveKey.run(name, next);
        if (passed) tidy.delete(name);
        if (!tidy.has(name) && Number(forget.run(name, next).changes) < forgotten) tidy.add(name);
      }
    },
    nextRevision: () => ++revision,
    nextKey({ name }) {
      const mine = loadKeys(name);
      while (mine.clearBelow === null || mine.next >= mine.clearBelow) {
        const taken = nextTaken.get(name, mine.next)![0] as number | null;
        mine.clearBelow = taken ?? Infinity;
        if (taken !== mine.next) break;
        mine.next = firstFree(taken, (key) => findTaken.get(name, key) !== undefined);
        mine.passed = true;
      }
      return mine.next++;
    },
    takeKey({ name }, key) {
      const mine = loadKeys(name);
      if (key < mine.next) return;
      // If the keys of an import are consecutive, only the counter changes.
      if (key === mine.next) {
        mine.next++;
        return;
      }
      take.run(name, key);
      if (mine.clearBelow !== null && key < mine.clearBelow) mine.clearBelow = key;
    },
  };
}

/** The largest distance between a taken key and the free key that is searched for. */
const furthest = 2 ** 40;

/**
 * Returns a free key after a taken one. First looks for any free key in doubling steps. Then looks for the last taken
 * key before it in halving steps. Free keys that the search skips are never issued. If all keys at the doubling steps
 * are taken, returns the next key, which may be taken too.
 */
export function firstFree(taken: number, isTaken: (key: number) => boolean): number {
  let [last, free] = [taken, taken + 1];
  for (let step = 1; isTaken(free); step *= 2) {
    if (step > furthest) return taken + 1;
    last = free;
    free += step;
  }
  while (free - last > 1) {
    const between = Math.floor((last + free) / 2);
    if (isTaken(between)) last = between;
    else free = between;
  }
  return free;
}

/** Runs `put`, which takes the next key. Runs it again if another program has used that key. */
export function withFreeKeys<T>(put: () => T): T {
  for (;;) {
    try {
      return put();
    } catch (error) {
      if (findCode(error) !== code.primaryKey) throw error;
    }
  }
}
