import type { Operator, Resource } from "../../resource/resource.ts";
import type { Column } from "../../store/store.ts";

const RANGES = new Set<Operator>(["lt", "lte", "gt", "gte", "starts"]);
const EQUALITIES = new Set<Operator>(["eq", "in", "null"]);

/** The columns by which permissions narrow lists. */
interface Narrowing {
  readonly narrowedBy: readonly string[];
  /** Those with the ids of groups. Many rows share a value. */
  readonly groups: readonly string[];
}

/**
 * Returns the indexes of a resource. Each field that sorts lists or has filters gets an index. If many rows share the
 * values of a field with an equality filter, the field also gets an index together with each sort field. `narrowedBy`
 * are the columns by which permissions narrow lists. Each of them also gets indexes of three columns: itself, a field
 * with an equality filter, and a sort field. In a nested resource, every index starts with the column of the parent.
 * The default order gets an index with all its fields, alone and after each column of `narrowedBy`. Two filters
 * together with a sort get no index, because each write would have to update it.
 */
export function chooseIndexes(
  resource: Resource,
  columns: readonly Column[],
  { narrowedBy, groups }: Narrowing,
): readonly (readonly string[])[] {
  const { parentColumn } = resource;
  const grouped = groups.filter((name) => isComparable(columns, name));
  const ordered = new Set(resource.sorts.filter((field) => field !== "id"));
  const named = new Set<string>();
  for (const [field, operators] of resource.filters) {
    // A list of ids has its own table, which has the index.
    if (field === "id" || resource.fields[field]?.kind.members !== undefined) continue;
    if (operators.some((operator) => RANGES.has(operator))) ordered.add(field);
    if (operators.some((operator) => EQUALITIES.has(operator)) && !isUnique(columns, field)) named.add(field);
    // The other fields with filters also get an index: unique fields, and fields with only other operators, such as
    // `contains`. For these operators, a scan of the index reads less than a scan of the table.
    if (!ordered.has(field) && !named.has(field)) ordered.add(field);
  }
  for (const { name, references } of columns) if (references !== undefined || grouped.includes(name)) named.add(name);

  const usual = fieldsOfDefaultSort(resource);
  const indexes = new Map<string, readonly string[]>();
  const add = (...index: readonly string[]): unknown => indexes.set(index.join(), index);
  if (parentColumn !== null) {
    add(parentColumn, "id");
    // There are only a few rows within one parent, so one further column is enough.
    for (const column of [...named, ...ordered]) if (column !== parentColumn) add(parentColumn, column, "id");
    add(parentColumn, ...usual, "id");
    return [...indexes.values()];
  }
  for (const column of ordered) add(column, "id");
  if (usual.length > 1) add(...usual, "id");
  for (const owner of narrowedBy) if (usual.length > 0 && ![...usual, "id"].includes(owner)) add(owner, ...usual, "id");
  for (const column of named) {
    add(column, "id");
    if (!isShared(columns, column) && !grouped.includes(column)) continue;
    for (const order of ordered) if (order !== column) add(column, order, "id");
  }
  for (const owner of narrowedBy.filter((name) => named.has(name)))
    for (const column of named)
      for (const order of ordered)
        if (column !== owner && order !== owner && order !== column) add(owner, column, order, "id");
  return [...indexes.values()];
}

/** Returns the fields of the default order. Returns none if no index has their directions. */
function fieldsOfDefaultSort({ defaultSort }: Resource): readonly string[] {
  const sorted = defaultSort.filter(({ field }) => field !== "id");
  return sorted.every(({ descending }) => descending === sorted[0]!.descending) ? sorted.map(({ field }) => field) : [];
}

function isComparable(columns: readonly Column[], name: string): boolean {
  return columns.some((column) => column.name === name && column.type !== "json");
}

/** Returns true if many rows share a value, so that an order within them is useful. */
function isShared(columns: readonly Column[], name: string): boolean {
  const column = columns.find((each) => each.name === name)!;
  return column.few === true || column.type === "boolean" || column.references !== undefined;
}

function isUnique(columns: readonly Column[], name: string): boolean {
  const unique = columns.find((column) => column.name === name)?.unique;
  return unique !== undefined && unique !== false;
}
