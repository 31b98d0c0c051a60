import { hasAmong } from "./inner-collections.ts";
import type { Collection, Column, ListQuery, Operator, Sort, Where } from "./store.ts";

type LeafCondition = Exclude<
  Where,
  { readonly all: unknown } | { readonly any: unknown } | { readonly not: unknown } | { readonly among: unknown }
>;

/**
 * True if an index returns the rows of a query in their order. The database then reads only the rows of a page, for any
 * size of the table. If this returns false, the query may scan all rows and should be a `long` read.
 *
 * A condition on other rows (`among`) is left out, if an index finds these rows: a driver reads a limited number of rows
 * in order, and then asks for a long read (`mayRefuse`).
 */
export function isServed(query: Pick<ListQuery, "collection" | "where" | "sort">): boolean {
  const parts = splitByFirst(query);
  if (parts !== null) return parts.every(isServed);
  const { where, sort } = query;
  const collection = asServed(query.collection);
  const conditions: LeafCondition[] = [];
  if (where !== null && !collect(where, conditions)) return false;
  if (conditions.length === 1 && linkAlone({ where: conditions[0]!, sort }) !== null) return true;
  const equal = new Set<string>();
  const known = new Set<string>();
  let ranged: string | null = null;
  let isOpen = false;
  let unique: string | null = null;
  // If only a few rows have a word, sorting them costs little.
  if (conditions.some((each) => "word" in each && each.few === true && each.waiting !== true)) return true;
  for (const condition of conditions) {
    if ("word" in condition || "link" in condition) return false;
    const { column, operator, value } = condition;
    if (hasNoIndexFor(collection, column, isRange(operator))) {
      isOpen = true;
      continue;
    }
    if (operator === "eq" && isUnique(collection, column)) return true;
    if (operator === "in" && isUnique(collection, column)) {
      unique = column;
      continue;
    }
    if (operator === "eq") known.add(column);
    if (operator === "eq" || (operator === "null" && value === true)) equal.add(column);
    else if (isRange(operator) && (ranged === null || ranged === column)) ranged = column;
    else isOpen = true;
  }
  if (query.collection.uniques?.some((set) => set.every((column) => known.has(column))) === true) return true;
  // If another index has the columns of `equal` first and then the columns of the order, SQLite may prefer it to the
  // unique index. SQLite would then read all rows with these equal values: 31 ms for a million rows.
  if (unique !== null) return equal.size === 0 || sort[0]?.column === unique;
  if (isOpen) return false;
  const [first, ...rest] = sort.filter(({ column }) => !equal.has(column));
  if (first === undefined) return equal.size > 0;
  // In an index, rows without a value may have another position than in the list.
  if ([first, ...rest].some(({ column }) => isNullable(collection, column))) return false;
  if (ranged !== null && !equal.has(ranged) && first.column !== ranged) return false;
  return listIndexes(collection).some((index) => leads(collection, index, equal, [first, ...rest]));
}

/**
 * Returns the column whose index returns the rows of a range in order. Returns null if there is none. A caller that
 * takes only some rows of the range should use this order. Otherwise a database that expects many rows in the range
 * could scan the whole table, even if the range is empty.
 */
export function rangedColumn({ existing, columns, indexes = [] }: Collection, where: Where): string | null {
  if (existing !== undefined) return null;
  const conditions = "all" in where ? where.all : [where];
  for (const condition of conditions) {
    if (!("operator" in condition) || !isRange(condition.operator)) continue;
    const column = columns.find(({ name }) => name === condition.column);
    // In an index, rows without a value may have another position than in the list.
    if (column === undefined || column.nullable === true) continue;
    if (indexes.some(([first]) => first === column.name)) return column.name;
  }
  return null;
}

type Link = Extract<Where, { readonly link: unknown }>;

/**
 * Returns the link condition if a list has all rows that are linked to one value, in the order of their ids. The table
 * of links stores these rows next to each other. Returns null for a list with another condition or another order.
 */
export function linkAlone({ where, sort }: Pick<ListQuery, "where" | "sort">): Link | null {
  if (where === null || !("link" in where) || where.values.length !== 1) return null;
  return sort.length === 1 && sort[0]!.column === "id" ? where : null;
}

/**
 * Returns one list for each value of the boolean by which a list is sorted first, if the other columns have the other
 * direction (`done DESC, id`). No index has this order, so a database would sort all rows with the same value. The order
 * of each part is that of an index. Returns null for every other list.
 */
export function splitByFirst<Query extends Pick<ListQuery, "collection" | "where" | "sort" | "after">>(
  query: Query,
): readonly Query[] | null {
  const { collection, where, after } = query;
  const [first, ...sort] = query.sort;
  if (first === undefined || collection.existing !== undefined || linkAlone(query) !== null) return null;
  const { column, descending = false } = first;
  if (sort.every((each) => (each.descending ?? false) === descending)) return null;
  const { type, nullable } = collection.columns.find(({ name }) => name === column) ?? {};
  if (type !== "boolean" || nullable === true) return null;
  const values = [descending, !descending];
  const from = after === undefined ? 0 : values.indexOf(after[0] as boolean);
  if (from < 0) return null;
  return values.slice(from).map((value, at) => {
    const isValue: Where = { column, operator: "eq", value };
    const { after: _, ...part } = { ...query, sort, where: where === null ? isValue : { all: [where, isValue] } };
    return (at === 0 && after !== undefined ? { ...part, after: after.slice(1) } : part) as Query;
  });
}

/** The collections over existing tables, in the form that was found at startup, with the indexes of the tables. */
const found = new WeakMap<Collection, Collection>();

/** Stores the form of an existing table that was found at startup. `isServed` and `isKeyScanned` use it. */
export function serveAs(collection: Collection, as: Collection): void {
  found.set(collection, as);
}

/** True if no index of an existing table is known. This is so for a view. */
export function hasNoKnownIndex(collection: Collection): boolean {
  return (asServed(collection).indexes ?? []).length === 0;
}

function asServed(collection: Collection): Collection {
  return collection.existing === undefined ? collection : (found.get(collection) ?? collection);
}

/** Collects the conditions that must all be true. Returns false if there is an alternative or a negation. */
function collect(where: Where, conditions: LeafCondition[]): boolean {
  if ("all" in where) return where.all.every((each) => collect(each, conditions));
  if (hasAmong(where)) return isInnerFound(where);
  if ("any" in where) return where.any.length === 1 && collect(where.any[0]!, conditions);
  if ("not" in where || "among" in where) return false;
  conditions.push(where);
  return true;
}

/** True if an index finds the other rows on which a condition depends. */
function isInnerFound(where: Where): boolean {
  if ("all" in where) return where.all.every(isInnerFound);
  if ("any" in where) return where.any.every(isInnerFound);
  if ("not" in where) return isInnerFound(where.not);
  return (
    !("among" in where) ||
    (isFoundByIndex(where.among.collection, where.among.where) && isInnerFound(where.among.where))
  );
}

/** True if an index finds the rows that match a condition, in any order. */
export function isFoundByIndex(collection: Collection, where: Where): boolean {
  if ("all" in where) return where.all.some((each) => isFoundByIndex(collection, each));
  if ("any" in where) return where.any.every((each) => isFoundByIndex(collection, each));
  if ("among" in where) return isIndexed(collection, [where.column]) && isInnerFound(where);
  if (!("operator" in where)) return false;
  return (where.operator === "eq" || where.operator === "in") && isIndexed(collection, [where.column]);
}

/**
 * True if an index begins with these columns, in any order. Memberships need an index of the user and the group (a set of
 * `uniques` with the user first, or an index), and a narrowed resource one of the column that holds the group. The store
 * makes the declared indexes of its own tables. Of an existing table, it knows those that were found at startup.
 */
export function isIndexed(declared: Collection, names: readonly string[]): boolean {
  const collection = asServed(declared);
  if (names.some((name) => hasNoIndexFor(collection, name, false))) return false;
  if (names.length === 1 && isUnique(collection, names[0]!)) return true;
  return [...(collection.indexes ?? []), ...(collection.uniques ?? [])].some((index) =>
    names.every((name) => index.slice(0, names.length).includes(name)),
  );
}

/** True if no two rows have the same value in the column. */
export function isUnique({ columns }: Collection, name: string): boolean {
  if (name === "id") return true;
  const unique = columns.find((column) => column.name === name)?.unique;
  return unique !== undefined && unique !== false;
}

function isRange(operator: Operator): boolean {
  return operator === "lt" || operator === "lte" || operator === "gt" || operator === "gte" || operator === "starts";
}

const cachedIndexes = new WeakMap<Collection, readonly (readonly string[])[]>();

function listIndexes(collection: Collection): readonly (readonly string[])[] {
  let indexes = cachedIndexes.get(collection);
  if (indexes === undefined) cachedIndexes.set(collection, (indexes = [["id"], ...(collection.indexes ?? [])]));
  return indexes;
}

/** True if an index begins with the columns of `equal` and continues in the requested order. */
function leads(
  collection: Collection,
  index: readonly string[],
  equal: ReadonlySet<string>,
  order: readonly Sort[],
): boolean {
  if (index.length <= equal.size) return false;
  for (let at = 0; at < equal.size; at++) if (!equal.has(index[at]!)) return false;
  const isDescending = order[0]!.descending === true;
  for (const [at, { column, descending = false }] of order.entries()) {
    // The requested order continues after the columns that this index has in order. If hardly any rows share a value in
    // these columns, the database sorts the rest while it reads.
    if (index[equal.size + at] !== column || hasOtherOrder(collection, column) || descending !== isDescending)
      return at > 0 && isVaried(collection, order[at - 1]!.column);
    if (column === "id") return true;
  }
  return true;
}

/** True if an index on the column does not order the rows by the values of the column. */
function hasOtherOrder(collection: Collection, name: string): boolean {
  return collection.existing !== undefined && findServed(collection, name) !== undefined;
}

function findServed({ existing, columns }: Collection, name: string): Column["served"] {
  return name === "id" ? existing?.served : columns.find((column) => column.name === name)?.served;
}

/**
 * True if no index finds a record by its id. This is so if the key of an existing table is compared in a converted
 * form.
 */
export function isKeyScanned(collection: Collection): boolean {
  return asServed(collection).existing?.served === "nothing";
}

/** True if no index finds the rows of a condition, because the column stores its values in another form. */
function hasNoIndexFor(collection: Collection, name: string, isRange: boolean): boolean {
  if (collection.existing === undefined) return false;
  const served = findServed(collection, name);
  return served === "nothing" || (served === "equality" && isRange);
}

function isNullable({ columns }: Collection, name: string): boolean {
  return columns.find((column) => column.name === name)?.nullable === true;
}

/**
 * True if hardly any rows share a value. This is so for times and most texts, not for numbers and texts with few
 * different values.
 */
function isVaried({ columns }: Collection, name: string): boolean {
  const column = columns.find((each) => each.name === name)!;
  return column.few !== true && (column.type === "text" || column.type === "date-time");
}
