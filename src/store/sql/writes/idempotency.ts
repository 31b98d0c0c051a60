import { erasedRows, formatStored, rowsToStore, keysFrom, formatMention, parseStored } from "../../kept-rows.ts";
import type { Idempotency, Key, Recalled, Row } from "../../store.ts";
import type { Dialect, BoundValues, ReadStatement } from "../language/dialect.ts";
import { statement, type Statement } from "../language/script.ts";

/** The maximum number of expired records that one write deletes, so that no request takes long. */
const pruned = 10;

/**
 * The statements for idempotency records in `latchkey_idempotency`. The outcome of a write is stored under its key. If
 * a row in the outcome must be erasable, a note about the row points to that key.
 */
export interface IdempotencyStatements {
  /** Reads the record of a key. Returns null if the key is free. */
  recall(idempotency: Idempotency): ReadStatement<Recalled | null>;
  /**
   * Stores the result of changes in their transaction, and deletes some expired records. `collection` is the name of
   * the collection of the first change.
   */
  remember(idempotency: Idempotency, collection: string, rows: readonly (Row | null)[]): readonly Statement[];
}

/** Returns the statements for idempotency records. */
export function compileIdempotency({ place, isSomeOf }: Dialect): IdempotencyStatements {
  // The expiry is checked here and not in SQL. In SQL, a query planner that expects mostly expired rows might search
  // for the other rows by their expiry.
  const recall = `SELECT fingerprint, rows, expires_at FROM latchkey_idempotency WHERE key = ${place(1)}`;
  const put =
    `INSERT INTO latchkey_idempotency (key, fingerprint, rows, expires_at) VALUES (${[1, 2, 3, 4].map(place).join(", ")}) ` +
    "ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, rows = excluded.rows, expires_at = excluded.expires_at";
  const expired = `SELECT key FROM latchkey_idempotency WHERE expires_at <= ${place(1)} ORDER BY expires_at LIMIT ${pruned}`;
  const prune = `DELETE FROM latchkey_idempotency WHERE ${isSomeOf("key", expired)}`;
  return {
    recall: ({ key, now, fingerprint }) => ({
      text: recall,
      values: [key],
      of([found]) {
        if (found === undefined || (found["expires_at"] as number) <= Date.parse(now)) return null;
        const isSame = found["fingerprint"] === fingerprint;
        return isSame ? parseStored((found["rows"] ?? "[]") as string) : { kind: "mismatch" };
      },
    }),
    remember(idempotency, collection, rows) {
      const { key, fingerprint, erasable } = idempotency;
      const due = Date.parse(idempotency.expiresAt);
      const storedRows = rowsToStore(idempotency, rows);
      const statements = [statement(put, [key, fingerprint, formatStored(idempotency, storedRows), due])];
      if (erasable && storedRows[0])
        statements.push(statement(put, [formatMention(collection, storedRows[0].record["id"], key), "", "[]", due]));
      statements.push(statement(prune, [Date.parse(idempotency.now)]));
      return statements;
    },
  };
}

/**
 * Erases a row in the idempotency records of other callers, and deletes the records of `caller`. The statements may run
 * one after another, or all on the same state.
 */
export function forgetRows(
  collection: string,
  { key, caller }: { readonly key: Key; readonly caller: string },
  createValues: () => BoundValues,
): readonly Statement[] {
  const mention = formatMention(collection, key);
  const mentions = keysFrom(mention);
  const sent = caller === "" ? [] : [keysFrom(`${caller} `)];
  const values = createValues();
  const erased = values.place(erasedRows(key));
  const mentionQuery = `SELECT substr(key, ${values.place(mention.length + 1)}) FROM latchkey_idempotency WHERE ${isIn(mentions, values)}`;
  const removed = sent.map((range) => ` AND NOT (${isIn(range, values)})`).join("");
  return [
    statement(
      `UPDATE latchkey_idempotency SET rows = ${erased} WHERE key IN (${mentionQuery})${removed}`,
      values.values,
    ),
    ...[mentions, ...sent].map((range) => {
      const own = createValues();
      return statement(`DELETE FROM latchkey_idempotency WHERE ${isIn(range, own)}`, own.values);
    }),
  ];
}

function isIn([from, to]: readonly [from: string, to: string], values: BoundValues): string {
  return `key >= ${values.place(from)} AND key < ${values.place(to)}`;
}
