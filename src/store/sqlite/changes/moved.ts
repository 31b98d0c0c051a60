import { isMoreThanStart } from "../../sql/changes/migrating.ts";
import type { TablePlan } from "../../sql/changes/plan-table.ts";

/** A table with so many rows gets new indexes beside its writers. */
const largeTable = 20_000;

/** Whether a table with so many rows is made anew beside the old one. */
export function isMoved(plan: TablePlan, rows: number): boolean {
  const isIndexed = plan.changes.some(({ words }) => words.startsWith("make the index"));
  return isMoreThanStart(plan) || (isIndexed && rows >= largeTable);
}
