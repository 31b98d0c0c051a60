import type { Collection, Row } from "./rows.ts";
import type { Change, Outcome } from "./transaction.ts";

/**
 * Returns the row that one change of a written transaction produced. Throws a `TypeError` if the transaction has no
 * such change, or the change has no row.
 */
export function requireWrittenRow<V>(
  change: Change & { readonly collection: Collection<V> },
  changes: readonly Change[],
  { rows }: Extract<Outcome, { readonly kind: "written" }>,
): Row<V> {
  const row = rows[changes.indexOf(change)];
  if (row === undefined || row === null) throw new TypeError(`This ${change.kind} of a transaction left no row.`);
  return row;
}

/**
 * Returns the id of the row that the first change of a written transaction made. Throws a `TypeError` if the id is not
 * an integer.
 */
export function requireNewId({ rows }: Extract<Outcome, { readonly kind: "written" }>): number {
  const id = rows[0]?.record["id"];
  if (typeof id !== "number") throw new TypeError("The first change of a transaction left no row with an integer id.");
  return id;
}
