import { refersNoMore } from "../../sql/changes/changes.ts";
import { isMoreThanStart } from "../../sql/changes/migrating.ts";
import type { TablePlan } from "../../sql/changes/plan-table.ts";

/** Tables with at least this many rows get new indexes while other connections write. */
const largeTable = 20_000;

/** True if the change rebuilds a table with this many rows as a copy next to the old one. */
export function isMoved(plan: TablePlan, rows: number): boolean {
  const isIndexed = plan.changes.some(({ words }) => words.startsWith("create the index"));
  // A service that starts removes a reference only if the declaration has changed.
  const isLetGo = plan.changes.some(({ words }) => words === refersNoMore);
  return isMoreThanStart(plan) || isLetGo || (isIndexed && rows >= largeTable);
}
