import type { DatabaseSync } from "node:sqlite";
import type { Idempotency, Recalled, Row } from "../store.ts";
import { prepare } from "./connection.ts";

/** How many expired records one write removes at most, so that no request pays for many. */
const pruned = 5;

/** Tells what is known of a key; null where it is free. */
export type Recall = (idempotency: Idempotency) => Recalled | null;

/** The memory of writes that can be repeated. */
export interface IdempotencyRecords {
  readonly recall: Recall;
  remember(idempotency: Idempotency, rows: readonly (Row | null)[]): void;
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

  return {
    recall: recallOf(database),
    remember({ key, fingerprint, expiresAt, now }, rows) {
      put.run(key, fingerprint, JSON.stringify(rows), Date.parse(expiresAt));
      prune.run(Date.parse(now));
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
    return { kind: "replayed", rows: JSON.parse(found[1] as string) as (Row | null)[] };
  };
}
