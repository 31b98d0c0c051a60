import type { DatabaseSync } from "node:sqlite";
import type { Collection } from "../../store.ts";
import { prepare } from "../connection.ts";
import { code, findCode } from "../errors.ts";

/** The maximum number of used keys that one write removes from the list, so that no write takes long. */
const forgotten = 500;

/**
 * The counters for revisions and integer keys. Both only increase and are stored in the database. So no value is issued
 * twice, by any process and after any deletion. The connection must hold the write lock from `load` to `save`. Each
 * commit that changes a row increases the revision, so an older copy of the file has a smaller one.
 */
export interface Counters {
  load(): void;
  save(): void;
  nextRevision(): number;
  /** Returns a key that no row has or ever had. */
  nextKey(collection: Collection): number;
  /** Records a key that came with its row. */
  takeKey(collection: Collection, key: number): void;
}

interface KeyCounter {
  /** The next key, if it is not taken. */
  next: number;
  /** No key from `next` up to this one is taken. Null before the first lookup. */
  clearBelow: number | null;
  /** True if the counter is beyond some taken keys, so these can be removed from the list. */
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
  /** The collections that have no taken keys below the counter, as far as this connection knows. */
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
      // Rows that come with consecutive keys (an import) need only the counter.
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
 * Returns a free key after a taken one. Doubling steps find a free key, and then halving steps find the last taken key before it. Keys that
 * this skips are never issued. If the key at each of these steps is taken, returns the next key, free or not.
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

/** Tries again with the next key if another program has used this one. */
export function withFreeKeys<T>(put: () => T): T {
  for (;;) {
    try {
      return put();
    } catch (error) {
      if (findCode(error) !== code.primaryKey) throw error;
    }
  }
}
