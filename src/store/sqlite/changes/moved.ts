import { refersNoMore } from "../../sql/changes/changes.ts";
import { isMoreThanStart } from "../../sql/changes/migrating.ts";
import type { TablePlan } from "../../sql/changes/plan-table.ts";

/** A table with this many rows gets new indexes while others write. */
const largeTable = 20_000;

/** True if a table with this many rows is rebuilt next to the old one. */
export function isMoved(plan: TablePlan, rows: number): boolean {
  const isIndexed = plan.changes.some(({ words }) => words.startsWith("create the index"));
  // A start only removes a reference if the declaration has changed.
  const isLetGo = plan.changes.some(({ words }) => words === refersNoMore);
  return isMoreThanStart(plan) || isLetGo || (isIndexed && rows >= largeTable);
}
