import { erasedRows, formatKept, keptRows, keysFrom, mentionOf, parseKept } from "../../kept-rows.ts";
import type { Idempotency, Key, Recalled, Row } from "../../store.ts";
import type { Dialect, Parameters, Read } from "../dialect.ts";
import { statement, type Statement } from "../schema/script.ts";

/** How many expired records one write removes at most, so that no request pays for many. */
const pruned = 10;

/**
 * The memory of writes that can be repeated, `latchkey_idempotency`: what was written stands under the key of the write, and where it goes with
 * its row, a mention stands under the row, with that key behind it.
 */
export interface IdempotencyStatements {
  /** What is under a key; null where it is free. */
  recall(idempotency: Idempotency): Read<Recalled | null>;
  /** Keeps what changes have written, in their transaction, and removes some of what has expired. `collection` is the one of the first change. */
  remember(idempotency: Idempotency, collection: string, rows: readonly (Row | null)[]): readonly Statement[];
}

/** What a database is told of repeatable writes. */
export function idempotencyOf({ place, isSomeOf }: Dialect): IdempotencyStatements {
  // Whether its time is over is looked at here: a database that takes all for over would look for those that are not.
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
        return isSame ? parseKept((found["rows"] ?? "[]") as string) : { kind: "mismatch" };
      },
    }),
    remember(idempotency, collection, rows) {
      const { key, fingerprint, erasable } = idempotency;
      const due = Date.parse(idempotency.expiresAt);
      const kept = keptRows(idempotency, rows);
      const told = [statement(put, [key, fingerprint, formatKept(idempotency, kept), due])];
      if (erasable && kept[0])
        told.push(statement(put, [mentionOf(collection, kept[0].record["id"], key), "", "[]", due]));
      told.push(statement(prune, [Date.parse(idempotency.now)]));
      return told;
    },
  };
}

/**
 * Erases what is told of a row, and removes what its caller has sent: statements that may run one after another, or see the same state. Their
 * values stand in what `valuesOf` gives, which may be the same for all.
 */
export function forgetRows(
  collection: string,
  { key, caller }: { readonly key: Key; readonly caller: string },
  valuesOf: () => Parameters,
): readonly Statement[] {
  const mention = mentionOf(collection, key);
  const mentions = keysFrom(mention);
  const sent = caller === "" ? [] : [keysFrom(`${caller} `)];
  const values = valuesOf();
  const erased = values.place(erasedRows(key));
  const told = `SELECT substr(key, ${values.place(mention.length + 1)}) FROM latchkey_idempotency WHERE ${isIn(mentions, values)}`;
  const removed = sent.map((range) => ` AND NOT (${isIn(range, values)})`).join("");
  return [
    statement(`UPDATE latchkey_idempotency SET rows = ${erased} WHERE key IN (${told})${removed}`, values.values),
    ...[mentions, ...sent].map((range) => {
      const own = valuesOf();
      return statement(`DELETE FROM latchkey_idempotency WHERE ${isIn(range, own)}`, own.values);
    }),
  ];
}

function isIn([from, to]: readonly [from: string, to: string], values: Parameters): string {
  return `key >= ${values.place(from)} AND key < ${values.place(to)}`;
}
