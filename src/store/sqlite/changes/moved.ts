import { refersNoMore } from "../../sql/changes/changes.ts";
import { isMoreThanStart } from "../../sql/changes/migrating.ts";
import type { TablePlan } from "../../sql/changes/plan-table.ts";

/** A table with so many rows gets new indexes beside its writers. */
const largeTable = 20_000;

/** Whether a table with so many rows is made anew beside the old one. */
export function isMoved(plan: TablePlan, rows: number): boolean {
  const isIndexed = plan.changes.some(({ words }) => words.startsWith("make the index"));
  // A start does so only where the declaration is another.
  const isLetGo = plan.changes.some(({ words }) => words === refersNoMore);
  return isMoreThanStart(plan) || isLetGo || (isIndexed && rows >= largeTable);
}
