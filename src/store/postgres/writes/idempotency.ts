import { createParameters } from "../../sql/language/dialect.ts";
import { forgetRows } from "../../sql/writes/idempotency.ts";
import type { Change, Idempotency } from "../../store.ts";
import { postgres } from "../dialect.ts";
import { prepared, type PostgresStatement } from "../parameters.ts";

/**
 * Claims an idempotency key for this transaction, or refuses it as `known`. Waits if another running transaction has
 * claimed it.
 */
export function claimKey({ key, fingerprint, expiresAt, now }: Idempotency): PostgresStatement {
  return prepared(
    "WITH claimed AS (" +
      "INSERT INTO latchkey_idempotency AS there (key, fingerprint, expires_at) VALUES ($1, $2, $3) " +
      "ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, expires_at = excluded.expires_at " +
      "WHERE there.expires_at <= $4 RETURNING 1" +
      ") SELECT latchkey_refuse('known') WHERE NOT EXISTS (SELECT FROM claimed)",
    [key, fingerprint, Date.parse(expiresAt), Date.parse(now)],
  );
}

/** Compiles a `forget` to one statement. All parts of the statement see the state before it. */
export function compileForget(change: Extract<Change, { kind: "forget" }>): PostgresStatement {
  const values = createParameters(postgres);
  const all = forgetRows(change.collection.name, change, () => values).map(({ text }) => text);
  const first = all.slice(0, -1).map((text, at) => `step${at} AS (${text})`);
  return prepared(`WITH ${first.join(", ")} ${all.at(-1)!}`, values.values);
}
