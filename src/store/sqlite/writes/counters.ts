import type { DatabaseSync } from "node:sqlite";
import type { Collection } from "../../store.ts";
import { prepare } from "../connection.ts";

/** So many taken keys that were passed are removed by one write at most, so that none pays for many. */
const forgotten = 500;

/**
 * The revisions and the integer keys that are handed out. Both only ever go up and are kept in the database, so that
 * nothing is handed out twice, by whatever process and whatever was deleted meanwhile. Between `load` and `save` the
 * connection must hold the write lock.
 */
export interface Counters {
  load(): void;
  save(): void;
  nextRevision(): number;
  /** A key that no row has or ever had. */
  nextKey(collection: Collection): number;
  /** Remembers a key that came with its row. */
  takeKey(collection: Collection, key: number): void;
}

interface Keys {
  /** The next key, unless it is taken. */
  next: number;
  /** No key below this one is taken; null until somebody asks. */
  clearBelow: number | null;
  /** Some taken keys lie behind the counter now and need not be remembered. */
  passed: boolean;
}

export function countersOf(database: DatabaseSync): Counters {
  const loadRevision = prepare(database, "SELECT revision FROM latchkey_revision");
  const saveRevision = prepare(database, "UPDATE latchkey_revision SET revision = ?");
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
  /** Collections that have no taken keys behind the counter, as far as is known here. */
  const tidy = new Set<string>();
  const keys = new Map<string, Keys>();
  let revision = 0;
  let loadedRevision = 0;

  function keysOf(name: string): Keys {
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
    },
    save() {
      if (revision !== loadedRevision) saveRevision.run(revision);
      for (const [name, { next, passed }] of keys) {
        saveKey.run(name, next);
        if (passed) tidy.delete(name);
        if (!tidy.has(name) && Number(forget.run(name, next).changes) < forgotten) tidy.add(name);
      }
    },
    nextRevision: () => ++revision,
    nextKey({ name }) {
      const mine = keysOf(name);
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
      const mine = keysOf(name);
      if (key < mine.next) return;
      // Rows that come with their keys in order (an import) need no memory but the counter.
      if (key === mine.next) {
        mine.next++;
        return;
      }
      take.run(name, key);
      if (mine.clearBelow !== null && key < mine.clearBelow) mine.clearBelow = key;
    },
  };
}

/** No row of keys that were named is longer. */
const furthest = 2 ** 40;

/**
 * A free key behind one that is taken: the one behind a row of taken ones, however long that is. Steps that double find one that is free, and halves the
 * last before it that is taken. A free one that they step over is never handed out. Where somebody has named a key at each of those steps, it is
 * the next one, free or not.
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
