import { isMoreThanStart } from "../../sql/migrations/migrating.ts";
import type { TablePlan } from "../../sql/migrations/plan-table.ts";
import { removeReferenceWords } from "../../sql/migrations/schema-changes.ts";

/** Tables with at least this many rows get new indexes while other connections write. */
const largeTable = 20_000;

/**
 * Returns true if a migration copies a table with this many rows into a new table. Otherwise the start of the service
 * changes the table itself.
 */
export function needsCopy(plan: TablePlan, rows: number): boolean {
  const isIndexed = plan.changes.some(({ words }) => words.startsWith("create the index"));
  // The start of a service checks a table only if the declaration of the table has changed. If it has not changed, only
  // a migration removes the reference.
  const losesReference = plan.changes.some(({ words }) => words === removeReferenceWords);
  return isMoreThanStart(plan) || losesReference || (isIndexed && rows >= largeTable);
}
