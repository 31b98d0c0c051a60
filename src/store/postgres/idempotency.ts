import type { Idempotency, Row } from "../store.ts";
import { prepared, type Statement } from "./parameters.ts";

/** How many expired records one write removes at most, so that no request pays for many. */
const pruned = 5;

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

/** Keeps what the changes have written, in their transaction. */
export function rememberRows({ key }: Idempotency, rows: readonly (Row | null)[]): Statement {
  return prepared("UPDATE latchkey_idempotency SET rows = $2 WHERE key = $1", [key, JSON.stringify(rows)]);
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
