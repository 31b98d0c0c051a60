import { erasedRows, formatKept, keptRows, keysFrom, mentionOf } from "../../kept-rows.ts";
import type { Change, Idempotency, Row } from "../../store.ts";
import { prepared, type Statement } from "../parameters.ts";

/** How many expired records one write removes at most, so that no request pays for many. */
const pruned = 10;

/** Takes the key for this transaction, or refuses as `known`. Waits for a transaction that has taken it and is still under way. */
export function claimKey({ key, fingerprint, expiresAt, now }: Idempotency): Statement {
  return prepared(
    "WITH claimed AS (" +
      "INSERT INTO latchkey_idempotency AS there (key, fingerprint, expires_at) VALUES ($1, $2, $3) " +
      "ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, expires_at = excluded.expires_at " +
      "WHERE there.expires_at <= $4 RETURNING 1" +
      ") SELECT latchkey_refuse('known') WHERE NOT EXISTS (SELECT FROM claimed)",
    [key, fingerprint, Date.parse(expiresAt), Date.parse(now)],
  );
}

/** Keeps what the changes have written, in their transaction. `collection` is the one of the first. */
export function rememberRows(
  idempotency: Idempotency,
  collection: string,
  rows: readonly (Row | null)[],
): readonly Statement[] {
  const { key, expiresAt } = idempotency;
  const kept = keptRows(idempotency, rows);
  const remembered = prepared("UPDATE latchkey_idempotency SET rows = $2 WHERE key = $1", [
    key,
    formatKept(idempotency, kept),
  ]);
  if (!idempotency.erasable || !kept[0]) return [remembered];
  const mention = mentionOf(collection, kept[0].record["id"], key);
  const mentioned = prepared(
    "INSERT INTO latchkey_idempotency (key, fingerprint, expires_at) VALUES ($1, '', $2) " +
      "ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at",
    [mention, Date.parse(expiresAt)],
  );
  return [remembered, mentioned];
}

/** Erases what a caller has sent, and what is told of a row. */
export function forgetRows({ collection, key, caller }: Extract<Change, { kind: "forget" }>): Statement {
  const mention = mentionOf(collection.name, key);
  const [from, to] = keysFrom(mention);
  const [first, last] = caller === "" ? ["", ""] : keysFrom(`${caller} `);
  return prepared(
    "WITH mentions AS (DELETE FROM latchkey_idempotency WHERE key >= $1 AND key < $2 RETURNING substr(key, $3) AS told), " +
      "erased AS (UPDATE latchkey_idempotency SET rows = $4 WHERE key IN (SELECT told FROM mentions) AND NOT (key >= $5 AND key < $6)) " +
      "DELETE FROM latchkey_idempotency WHERE key >= $5 AND key < $6",
    [from, to, mention.length + 1, erasedRows(key), first, last],
  );
}

/** Removes some of what has expired; what others are removing is left to them. */
export function pruneKeys({ now }: Idempotency): Statement {
  return prepared(
    "DELETE FROM latchkey_idempotency WHERE key IN (SELECT key FROM latchkey_idempotency " +
      `WHERE expires_at <= $1 ORDER BY expires_at LIMIT ${pruned} FOR UPDATE SKIP LOCKED)`,
    [Date.parse(now)],
  );
}

/** What is remembered under a key: the fingerprint and the rows. */
export function recallKey({ key, now }: Idempotency): Statement {
  return prepared("SELECT fingerprint, rows FROM latchkey_idempotency WHERE key = $1 AND expires_at > $2", [
    key,
    Date.parse(now),
  ]);
}
