import type { DatabaseSync } from "node:sqlite";
import { erasedRows, formatKept, keptRows, keysFrom, mentionOf, parseKept } from "../../kept-rows.ts";
import type { Idempotency, Key, Recalled, Row } from "../../store.ts";
import { prepare } from "../connection.ts";

/** How many expired records one write removes at most, so that no request pays for many. */
const pruned = 10;

/** Tells what is known of a key; null where it is free. */
export type Recall = (idempotency: Idempotency) => Recalled | null;

/** The memory of writes that can be repeated. */
export interface IdempotencyRecords {
  readonly recall: Recall;
  /** Gives the rows as they are kept. `collection` is the one of the first change. */
  remember(idempotency: Idempotency, collection: string, rows: readonly (Row | null)[]): void;
  /** Erases what a caller has sent, and what is told of a row. */
  forget(collection: string, key: Key, caller: string): void;
}

export function idempotencyRecordsOf(database: DatabaseSync): IdempotencyRecords {
  const put = prepare(
    database,
    "REPLACE INTO latchkey_idempotency (key, fingerprint, rows, expires_at) VALUES (?, ?, ?, ?)",
  );
  const prune = prepare(
    database,
    `DELETE FROM latchkey_idempotency WHERE key IN (SELECT key FROM latchkey_idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ${pruned})`,
  );

  const erase = prepare(
    database,
    "UPDATE latchkey_idempotency SET rows = ? WHERE key IN (SELECT substr(key, ?) FROM latchkey_idempotency WHERE key >= ? AND key < ?)",
  );
  const remove = prepare(database, "DELETE FROM latchkey_idempotency WHERE key >= ? AND key < ?");

  return {
    recall: recallOf(database),
    remember(idempotency, collection, rows) {
      const { key, fingerprint, expiresAt, now } = idempotency;
      const kept = keptRows(idempotency, rows);
      put.run(key, fingerprint, formatKept(idempotency, kept), Date.parse(expiresAt));
      if (idempotency.erasable && kept[0])
        put.run(mentionOf(collection, kept[0].record["id"], key), "", "[]", Date.parse(expiresAt));
      prune.run(Date.parse(now));
    },
    forget(collection, key, caller) {
      const mention = mentionOf(collection, key);
      erase.run(erasedRows(key), mention.length + 1, ...keysFrom(mention));
      remove.run(...keysFrom(mention));
      if (caller !== "") remove.run(...keysFrom(`${caller} `));
    },
  };
}

/** The same for a connection that only reads. */
export function recallOf(database: DatabaseSync): Recall {
  const find = prepare(database, "SELECT fingerprint, rows FROM latchkey_idempotency WHERE key = ? AND expires_at > ?");
  return ({ key, fingerprint, now }) => {
    const found = find.get(key, Date.parse(now));
    if (found === undefined) return null;
    if (found[0] !== fingerprint) return { kind: "mismatch" };
    return parseKept(found[1] as string);
  };
}
