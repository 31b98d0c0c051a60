import type { DatabaseSync } from "node:sqlite";
import type { Collection } from "../../store.ts";
import { prepare } from "../connection.ts";

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
  const forget = prepare(database, "DELETE FROM latchkey_taken_keys WHERE collection = ? AND key < ?");
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
        if (passed) forget.run(name, next);
      }
    },
    nextRevision: () => ++revision,
    nextKey({ name }) {
      const mine = keysOf(name);
      while (mine.clearBelow === null || mine.next >= mine.clearBelow) {
        const taken = nextTaken.get(name, mine.next)![0] as number | null;
        mine.clearBelow = taken ?? Infinity;
        if (taken !== mine.next) break;
        mine.next++;
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
