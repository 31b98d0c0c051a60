import type { Row } from "./rows.ts";
import type { Change, Outcome } from "./transaction.ts";

/**
 * Returns the row that one change of a written transaction produced. Throws a `TypeError` if the transaction has no
 * such change, or the change has no row.
 */
export function requireWrittenRow(
  change: Change,
  changes: readonly Change[],
  { rows }: Extract<Outcome, { readonly kind: "written" }>,
): Row {
  const row = rows[changes.indexOf(change)];
  if (row === undefined || row === null) throw new TypeError(`This ${change.kind} of a transaction left no row.`);
  return row;
}
