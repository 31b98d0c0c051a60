import type { Collection, ListQuery, Where } from "./store.ts";

type Condition = Extract<Where, { readonly column: string }>;

/**
 * Whether an index gives the rows of a query one after another, in their order: then a page costs what it shows, however
 * many rows there are. What is not served may have to look at all of them, and is to be asked for as a `long` read.
 */
export function isServed({ collection, where, sort }: Pick<ListQuery, "collection" | "where" | "sort">): boolean {
  const conditions: Condition[] = [];
  if (where !== null && !collect(where, conditions)) return false;
  const equal = new Set<string>();
  let ranged: string | null = null;
  let isOpen = false;
  for (const { column, operator, value } of conditions) {
    if ((operator === "eq" || operator === "in") && isUnique(collection, column)) return true;
    if (operator === "eq" || (operator === "null" && value === true)) equal.add(column);
    else if (isRange(operator) && (ranged === null || ranged === column)) ranged = column;
    else isOpen = true;
  }
  if (isOpen) return false;
  const order = sort.filter(({ column }) => !equal.has(column));
  const end = order.findIndex(({ column }) => column === "id");
  const steps = end === -1 ? order : order.slice(0, end + 1);
  const [first] = steps;
  if (first === undefined) return equal.size > 0;
  if (steps.some(({ descending }) => (descending === true) !== (first.descending === true))) return false;
  if (ranged !== null && !equal.has(ranged) && first.column !== ranged) return false;
  const names = steps.map(({ column }) => column);
  return indexesOf(collection).some((index) => leads(index, equal, names));
}

/** The conditions that all have to hold; false where it is enough that one of some does. */
function collect(where: Where, conditions: Condition[]): boolean {
  if ("all" in where) return where.all.every((each) => collect(each, conditions));
  if ("any" in where) return where.any.length === 1 && collect(where.any[0]!, conditions);
  conditions.push(where);
  return true;
}

function isUnique({ columns }: Collection, name: string): boolean {
  if (name === "id") return true;
  const unique = columns.find((column) => column.name === name)?.unique;
  return unique !== undefined && unique !== false;
}

function isRange(operator: Condition["operator"]): boolean {
  return operator === "lt" || operator === "lte" || operator === "gt" || operator === "gte" || operator === "starts";
}

const known = new WeakMap<Collection, readonly (readonly string[])[]>();

function indexesOf(collection: Collection): readonly (readonly string[])[] {
  let indexes = known.get(collection);
  if (indexes === undefined) known.set(collection, (indexes = [["id"], ...(collection.indexes ?? [])]));
  return indexes;
}

/** Whether an index has the columns that are equal first, and goes on in the order asked for. */
function leads(index: readonly string[], equal: ReadonlySet<string>, order: readonly string[]): boolean {
  if (index.length < equal.size + order.length) return false;
  for (let at = 0; at < equal.size; at++) if (!equal.has(index[at]!)) return false;
  return order.every((column, at) => index[equal.size + at] === column);
}
