import { textOperators, type Operator } from "../../core/operators.ts";
import type { Resource } from "../../resource/resource.ts";
import { isKeyScanned, isServed, isUnique } from "../../store/served.ts";
import type { Collection, Column, Key, ListQuery, Sort, StoredRecord, Value, Where } from "../../store/store.ts";
import { buildLinkedRows, type Link } from "../declarations/links.ts";
import { narrowedColumns } from "../declarations/memberships.ts";
import type { ServedMount } from "../declarations/mount.ts";
import type { WordCondition } from "./reads/searching.ts";

/** One kind of list that a declaration allows. */
export interface ListShape {
  /** The filters, the order and the restriction, like `status[eq] created_at[gt] by -created_at, own user_id`. */
  readonly title: string;
  readonly query: ListQuery;
  /** True if an index returns its rows in order. */
  readonly isServed: boolean;
}

interface TitledConditions {
  readonly title: string;
  readonly where: readonly Where[];
}

/** One filter of one column, as a condition. */
interface SingleFilter {
  readonly column: string;
  readonly operator: Operator;
  readonly where: Where;
}

type Shaped = Pick<ServedMount, "resource" | "collection" | "permissions" | "links">;

/**
 * Returns the kinds of lists of a resource: no filter, a search, each single filter, and each pair of a filter with an
 * `eq` filter. Combines each of these with each order, and with each restriction: all rows, the caller's own rows, or
 * the rows within one parent. The filters use the values of `sample`, an existing row. `word` is one of its words.
 * Default: `abc`, as a rare word.
 */
export function collectShapes(
  mount: Shaped,
  sample: StoredRecord | null,
  word: WordCondition | null = null,
): readonly ListShape[] {
  const { resource, collection } = mount;
  const { list } = mount.permissions;
  const { parentColumn } = resource;
  const readSample = (name: string): Value => sample?.[name] ?? chooseDefaultSample(collection, name);
  const only = (name: string): Where => ({ column: name, operator: "eq", value: readSample(name) });
  const whose: TitledConditions[] =
    parentColumn === null
      ? [
          { title: "", where: [] },
          ...(list === undefined ? [] : narrowedColumns(list, collection.name)).map((name) => ({
            title: `, own ${name}`,
            where: [only(name)],
          })),
        ]
      : [{ title: `, below ${parentColumn}`, where: [only(parentColumn)] }];
  const shapes: ListShape[] = [];
  for (const { title: suffix, where: narrowed } of whose)
    for (const { title, where } of buildFilters(mount, readSample, word))
      for (const sort of collectOrders(resource)) {
        const all = [...where, ...narrowed];
        const query = { collection, where: all.length === 0 ? null : { all }, sort, limit: 100 };
        shapes.push({ title: `${title}by ${formatOrder(sort)}${suffix}`, query, isServed: isServed(query) });
      }
  return shapes;
}

function buildFilters(
  { resource, collection, links }: Shaped,
  readSample: (name: string) => Value,
  word: WordCondition | null,
): readonly TitledConditions[] {
  const ones = [...resource.filters].flatMap(([column, operators]) => {
    const link = links.find(({ field }) => field === column);
    return operators.map((operator): SingleFilter => {
      const value = readSample(column);
      const where =
        link === undefined
          ? { column, operator, value: chooseOperand(operator, value) }
          : buildLinkedRows(link, chooseLinkedIds(link, operator, value));
      return { column, operator, where };
    });
  });
  const combinations: TitledConditions[] = [{ title: "", where: [] }];
  if (resource.search.length > 0) combinations.push({ title: "search ", where: [word ?? { word: "abc", few: true }] });
  for (const one of ones) {
    combinations.push({ title: `${formatTitle(one)} `, where: [one.where] });
    // A unique value matches only one row.
    if (one.operator !== "eq" || isUnique(collection, one.column)) continue;
    for (const other of ones)
      if (other.column !== one.column && (other.operator !== "eq" || other.column > one.column))
        combinations.push({ title: `${formatTitle(one)} ${formatTitle(other)} `, where: [one.where, other.where] });
  }
  return combinations;
}

/** Returns the first id in the value. Adds a second id if the operator compares with several ids. */
function chooseLinkedIds({ collection, field }: Link, operator: Operator, value: Value): readonly Key[] {
  const { type } = collection.columns.find(({ name }) => name === field)!;
  const [id = samplesByType[type]] = [value ?? []].flat() as Key[];
  return (operator === "in" ? [id, type === "integer" ? Number(id) + 1 : "abd"] : [id]) as Key[];
}

function formatTitle({ column, operator }: SingleFilter): string {
  return `${column}[${operator}]`;
}

function collectOrders({ sorts, defaultSort }: Resource): readonly (readonly Sort[])[] {
  const orders = sorts.flatMap((column) =>
    [false, true].map((descending): readonly Sort[] =>
      column === "id" ? [{ column, descending }] : [{ column, descending }, { column: "id" }],
    ),
  );
  const usual = defaultSort.map(({ field, descending }) => ({ column: field, descending }));
  return orders.some((order) => formatOrder(order) === formatOrder(usual)) ? orders : [...orders, usual];
}

/** Returns the order without the ascending `id` that breaks ties. */
function formatOrder(sort: readonly Sort[]): string {
  const names = sort.map(({ column, descending }) => `${descending === true ? "-" : ""}${column}`);
  return names.filter((name, at) => at === 0 || name !== "id").join();
}

function chooseOperand(operator: Operator, value: Value): Value {
  if (operator === "in") return [value];
  if (operator === "null") return true;
  return textOperators.has(operator) ? String(value).slice(0, 3) : value;
}

const samplesByType: Readonly<Record<Column["type"], Value>> = {
  integer: 1,
  text: "abc",
  boolean: true,
  decimal: "1",
  double: 1.5,
  date: "2026-01-31",
  "date-time": "2026-01-31T09:30:00.000Z",
  json: null,
};

function chooseDefaultSample({ key, columns }: Collection, name: string): Value {
  return samplesByType[name === "id" ? key : columns.find((column) => column.name === name)!.type];
}

/** Returns the titles of the lists that no index serves. Returns none if the declaration accepts scans (`scans`). */
export function unservedLists(mount: Shaped): readonly string[] {
  const { resource, permissions } = mount;
  if (resource.scans || permissions.list === undefined) return [];
  return collectShapes(mount, null).flatMap(({ title, isServed }) => (isServed ? [] : [title]));
}

/**
 * Returns the message about a table in which no index finds a record by its id. Returns null if an index finds it, or
 * if the declaration accepts scans (`scans`).
 */
export function unservedKey({ resource, collection }: Shaped): string | null {
  if (resource.scans || resource.table === null || !isKeyScanned(collection)) return null;
  return `No index finds a record of ${resource.path} by its id, so each request for one reads all rows. Create a unique index over the key of ${resource.table.name}, for texts by code point (in SQLite COLLATE BINARY).`;
}
