import type { Collection, Column, ListQuery, Operator, Sort, Where } from "./store.ts";

type Condition = Exclude<Where, { readonly all: unknown } | { readonly any: unknown } | { readonly not: unknown }>;

/**
 * Whether an index gives the rows of a query one after another, in their order: then a page costs what it shows, however
 * many rows there are. What is not served may have to look at all of them, and is to be asked for as a `long` read.
 */
export function isServed(query: Pick<ListQuery, "collection" | "where" | "sort">): boolean {
  const { where, sort } = query;
  const collection = asServed(query.collection);
  const conditions: Condition[] = [];
  if (where !== null && !collect(where, conditions)) return false;
  if (conditions.length === 1 && linkAlone({ where: conditions[0]!, sort }) !== null) return true;
  const equal = new Set<string>();
  let ranged: string | null = null;
  let isOpen = false;
  let unique: string | null = null;
  // A word that few rows have leaves few to put in order.
  if (conditions.some((each) => "word" in each && each.few === true && each.waiting !== true)) return true;
  for (const condition of conditions) {
    if ("word" in condition || "link" in condition) return false;
    const { column, operator, value } = condition;
    if (isKeptOtherwise(collection, column, isRange(operator))) {
      isOpen = true;
      continue;
    }
    if (operator === "eq" && isUnique(collection, column)) return true;
    if (operator === "in" && isUnique(collection, column)) {
      unique = column;
      continue;
    }
    if (operator === "eq" || (operator === "null" && value === true)) equal.add(column);
    else if (isRange(operator) && (ranged === null || ranged === column)) ranged = column;
    else isOpen = true;
  }
  // SQLite may prefer an index that has the order behind what is equal, and go through all that are: 31 ms of a million.
  if (unique !== null) return equal.size === 0 || sort[0]?.column === unique;
  if (isOpen) return false;
  const [first, ...rest] = sort.filter(({ column }) => !equal.has(column));
  if (first === undefined) return equal.size > 0;
  // Databases do not agree on where rows without a value stand in an index.
  if ([first, ...rest].some(({ column }) => isNullable(collection, column))) return false;
  if (ranged !== null && !equal.has(ranged) && first.column !== ranged) return false;
  return indexesOf(collection).some((index) => leads(collection, index, equal, [first, ...rest]));
}

/**
 * The column in whose order an index gives the rows of a range one after another; null where there is none. Whoever takes some of them takes them in this
 * order: a database that expects many would else look through the table for the first one, also when all are gone.
 */
export function rangedColumn({ existing, columns, indexes = [] }: Collection, where: Where): string | null {
  if (existing !== undefined) return null;
  const conditions = "all" in where ? where.all : [where];
  for (const condition of conditions) {
    if (!("column" in condition) || !isRange(condition.operator)) continue;
    const column = columns.find(({ name }) => name === condition.column);
    // Databases do not agree on where rows without a value stand in an index.
    if (column === undefined || column.nullable === true) continue;
    if (indexes.some(([first]) => first === column.name)) return column.name;
  }
  return null;
}

type Link = Extract<Where, { readonly link: unknown }>;

/** What links to one value, in the order of the ids and nothing else: the table of the links has these rows one behind another. Null for other lists. */
export function linkAlone({ where, sort }: Pick<ListQuery, "where" | "sort">): Link | null {
  if (where === null || !("link" in where) || where.values.length !== 1) return null;
  return sort.length === 1 && sort[0]!.column === "id" ? where : null;
}

/** The tables that were there before, as they were found: their indexes are those of others. */
const found = new WeakMap<Collection, Collection>();

/** From now on a collection is taken as it was found. */
export function serveAs(collection: Collection, as: Collection): void {
  found.set(collection, as);
}

function asServed(collection: Collection): Collection {
  return collection.existing === undefined ? collection : (found.get(collection) ?? collection);
}

/** The conditions that all have to hold; false where it is enough that one of some does. */
function collect(where: Where, conditions: Condition[]): boolean {
  if ("all" in where) return where.all.every((each) => collect(each, conditions));
  if ("any" in where) return where.any.length === 1 && collect(where.any[0]!, conditions);
  if ("not" in where) return false;
  conditions.push(where);
  return true;
}

/** Whether one row at most has a value. */
export function isUnique({ columns }: Collection, name: string): boolean {
  if (name === "id") return true;
  const unique = columns.find((column) => column.name === name)?.unique;
  return unique !== undefined && unique !== false;
}

function isRange(operator: Operator): boolean {
  return operator === "lt" || operator === "lte" || operator === "gt" || operator === "gte" || operator === "starts";
}

const known = new WeakMap<Collection, readonly (readonly string[])[]>();

function indexesOf(collection: Collection): readonly (readonly string[])[] {
  let indexes = known.get(collection);
  if (indexes === undefined) known.set(collection, (indexes = [["id"], ...(collection.indexes ?? [])]));
  return indexes;
}

/** Whether an index has the columns that are equal first, and goes on in the order asked for. */
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
    // Where few rows are equal in what the index has, the database puts these in order while it goes on.
    if (index[equal.size + at] !== column || hasOtherOrder(collection, column) || descending !== isDescending)
      return at > 0 && isVaried(collection, order[at - 1]!.column);
    if (column === "id") return true;
  }
  return true;
}

/** Whether an index over the column has another order than its values. */
function hasOtherOrder(collection: Collection, name: string): boolean {
  return collection.existing !== undefined && servedOf(collection, name) !== undefined;
}

function servedOf({ existing, columns }: Collection, name: string): Column["served"] {
  return name === "id" ? existing?.served : columns.find((column) => column.name === name)?.served;
}

/** Whether no index finds a record by its id, since the key of a table that was there before is compared in another way than its values. */
export function isKeyScanned(collection: Collection): boolean {
  return asServed(collection).existing?.served === "nothing";
}

/** Whether no index finds the rows of a condition, since the column is kept in another form. */
function isKeptOtherwise(collection: Collection, name: string, isRange: boolean): boolean {
  if (collection.existing === undefined) return false;
  const served = servedOf(collection, name);
  return served === "nothing" || (served === "equality" && isRange);
}

function isNullable({ columns }: Collection, name: string): boolean {
  return columns.find((column) => column.name === name)?.nullable === true;
}

/** Whether hardly any rows have the same value: a time or a text, and neither one of a few words nor a number of something. */
function isVaried({ columns }: Collection, name: string): boolean {
  const column = columns.find((each) => each.name === name)!;
  return column.few !== true && (column.type === "text" || column.type === "date-time");
}
