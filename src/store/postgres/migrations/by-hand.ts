import { quote } from "../../sql/language/names.ts";
import { revisionColumn, changesRecords, type TablePlan } from "../../sql/migrations/plan-table.ts";
import { triggerPrefix } from "../../sql/word-index.ts";
import { postgres } from "../dialect.ts";
import {
  addColumns,
  findShadowColumns,
  compileNewValue,
  createShadowIndexes,
  switchColumns,
  compileColumnType,
} from "../table-changes/shadow-column.ts";
import { formatMovedTable } from "../table-changes/shadow-column.ts";

/** The indexes and triggers of a table. */
export interface TableObjects {
  readonly indexes: ReadonlySet<string>;
  readonly triggers: readonly string[];
}

/**
 * Returns SQL with which an operator can make the same migration by hand, in one transaction with an exclusive lock.
 * Returns null if a function computes values. The next start makes the indexes and references.
 */
export function alterByHand(
  plan: TablePlan,
  dropped: readonly string[],
  { indexes, triggers }: TableObjects,
): readonly string[] | null {
  const { collection, found } = plan;
  const shadows = findShadowColumns(plan);
  if (shadows.some(({ source }) => source.kind === "program")) return null;
  const [table, moved] = [collection.name, formatMovedTable(collection.name)].map(quote);
  const alter = `ALTER TABLE ${table}`;
  const temporary = createShadowIndexes(plan, shadows).map((each) => quote(each.temporary));
  const added = shadows.flatMap(({ column, next, foldedNext }) => [
    `${alter} ADD COLUMN ${next} ${compileColumnType(column)}`,
    ...(foldedNext === null ? [] : [`${alter} ADD COLUMN ${foldedNext} text${postgres.collation}`]),
  ]);
  const set = shadows.map(({ next, source }) => `${next} = ${compileNewValue(source)}`).join(", ");
  const required = collection.columns.filter((column) => {
    const source = plan.sources.get(column.name)!;
    if (column.nullable === true || source.kind === "new") return false;
    return source.kind !== "same" || found.columns.get(source.from)!.nullable;
  });
  return [
    "BEGIN",
    ...triggers
      .filter((name) => name.startsWith(triggerPrefix))
      .map((name) => `DROP TRIGGER ${quote(name)} ON ${table}`),
    ...addColumns(plan),
    ...added,
    ...(set === "" ? [] : [`UPDATE ${table} SET ${set}`]),
    ...switchColumns(plan, shadows, dropped, indexes).filter(
      (sql) => !sql.includes(moved!) && !temporary.some((name) => sql.includes(name)),
    ),
    ...[...required, ...(changesRecords(plan) ? [revisionColumn] : [])].map(
      ({ name }) => `${alter} ALTER COLUMN ${quote(name)} SET NOT NULL`,
    ),
  ];
}
