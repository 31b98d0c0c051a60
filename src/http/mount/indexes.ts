import type { Operator, Resource } from "../../resource/resource.ts";
import type { Column } from "../../store/store.ts";

const RANGES = new Set<Operator>(["lt", "lte", "gt", "gte", "starts"]);
const EQUALITIES = new Set<Operator>(["eq", "in", "null"]);

/**
 * The indexes of a resource: for what its lists are sorted by or searched through in order, alone and together with each filter
 * that names a value; all of it once more behind every column that a permission narrows lists by. Of three filters with an
 * order none is made: each index is written with each row.
 */
export function indexesOf(
  resource: Resource,
  columns: readonly Column[],
  narrowedBy: readonly string[],
): readonly (readonly string[])[] {
  const { parentColumn } = resource;
  const ordered = new Set(resource.sorts.filter((field) => field !== "id"));
  const named = new Set<string>();
  for (const [field, operators] of resource.filters) {
    // What is among a list of ids, the table of those tells.
    if (field === "id" || resource.fields[field]?.kind.members !== undefined) continue;
    if (operators.some((operator) => RANGES.has(operator))) ordered.add(field);
    if (operators.some((operator) => EQUALITIES.has(operator)) && !isUnique(columns, field)) named.add(field);
    // Whatever is searched in another way has an index that is smaller than the table.
    if (!ordered.has(field) && !named.has(field)) ordered.add(field);
  }
  for (const { name, references } of columns) if (references !== undefined) named.add(name);

  const indexes = new Map<string, readonly string[]>();
  const add = (...index: readonly string[]): unknown => indexes.set(index.join(), index);
  if (parentColumn !== null) {
    add(parentColumn, "id");
    // There are few rows below one parent, and one column is enough to find them by.
    for (const column of [...named, ...ordered]) if (column !== parentColumn) add(parentColumn, column, "id");
    return [...indexes.values()];
  }
  for (const column of ordered) add(column, "id");
  for (const column of named) {
    add(column, "id");
    if (!isShared(columns, column)) continue;
    for (const order of ordered) if (order !== column) add(column, order, "id");
  }
  for (const owner of narrowedBy.filter((name) => named.has(name)))
    for (const column of named)
      for (const order of ordered)
        if (column !== owner && order !== owner && order !== column) add(owner, column, order, "id");
  return [...indexes.values()];
}

/** Many rows have the same value: it pays to have them in order. */
function isShared(columns: readonly Column[], name: string): boolean {
  const column = columns.find((each) => each.name === name)!;
  return column.few === true || column.type === "boolean" || column.references !== undefined;
}

function isUnique(columns: readonly Column[], name: string): boolean {
  const unique = columns.find((column) => column.name === name)?.unique;
  return unique !== undefined && unique !== false;
}
