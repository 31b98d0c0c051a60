import type { FoundExisting, FoundExistingColumn } from "../../door/stores.ts";
import { kindFor } from "./kinds.ts";

/** The filters and sort orders of a table, by the names of its columns. */
export interface FoundLists {
  readonly filters: readonly string[];
  readonly sorts: readonly string[];
  /**
   * Columns at the start of an index. Declaring them would also allow lists that no index serves, so the generated file
   * only suggests them in comments.
   */
  readonly unserved: { readonly filters: readonly string[]; readonly sorts: readonly string[] };
}

/**
 * Returns the filters and sort orders that an index serves, alone and in combination. The start of the service
 * therefore warns about none of them.
 */
export function chooseLists(found: FoundExisting, key: string, shown: readonly FoundExistingColumn[]): FoundLists {
  const lead = new Set(found.indexes.map(([first]) => first));
  const candidates = shown.filter((column) => lead.has(column.name) && column.name !== key && isCompared(column));
  const unique = candidates.filter(({ name }) => isUnique(found, name));
  const lists = { filters: unique.map(({ name }) => name), sorts: [] as string[] };
  const areServed = (more: Partial<typeof lists>): boolean => areAllServed(found, key, shown, { ...lists, ...more });
  for (const { name } of candidates) {
    if (lists.filters.includes(name)) continue;
    const filters = [...lists.filters, name];
    if (areServed({ filters })) lists.filters = filters;
  }
  const ordered = candidates.filter(({ nullable, storage }) => !nullable && /date|time/i.test(storage));
  for (const { name } of ordered) {
    const sorts = [...lists.sorts, name];
    if (areServed({ sorts })) lists.sorts = sorts;
  }
  const without = (all: readonly FoundExistingColumn[], taken: readonly string[]): readonly string[] =>
    all.map(({ name }) => name).filter((name) => !taken.includes(name));
  return {
    ...lists,
    unserved: { filters: without(candidates, lists.filters), sorts: without(ordered, lists.sorts) },
  };
}

/**
 * Returns true if an index has the rows in the order of their keys, with texts by code point. In SQLite, an index of a
 * `COLLATE NOCASE` key has another order.
 */
export function isInOrderOfKey({ indexes, columns }: FoundExisting, key: string): boolean {
  const found = columns.find(({ name }) => name === key);
  return found?.byCodePoint !== false && indexes.some(([first]) => first === key);
}

/** The types of PostgreSQL that are compared as text only after a cast. No index contains the result of the cast. */
const castTypes = /^(?:citext|inet|cidr|macaddr|name|xml|interval|"char"|character(?! varying))/;

function isCompared(column: FoundExistingColumn): boolean {
  const kind = kindFor(column);
  // No index has texts of several formats in the order of their times.
  return column.shape !== "mixed" && "type" in kind && kind.type !== "json" && !castTypes.test(column.storage);
}

function isUnique({ uniques }: FoundExisting, column: string): boolean {
  return [...uniques.values()].some((each) => each.length === 1 && each[0] === column);
}

/** Returns true if an index serves every filter and every pair of filters, in every sort order. */
function areAllServed(
  found: FoundExisting,
  key: string,
  shown: readonly FoundExistingColumn[],
  { filters, sorts }: Pick<FoundLists, "filters" | "sorts">,
): boolean {
  const combinations = [
    [],
    ...filters.map((one) => [one]),
    ...filters.flatMap((one) => filters.map((other) => [one, other])),
  ];
  return combinations.every((equal) =>
    [key, ...sorts].every(
      (order) => equal.some((name) => isUnique(found, name)) || isServed(found, key, shown, new Set(equal), order),
    ),
  );
}

/** Returns true if an index has the rows with equal values next to each other, in the requested order. */
function isServed(
  { indexes }: Pick<FoundExisting, "indexes">,
  key: string,
  shown: readonly FoundExistingColumn[],
  equal: ReadonlySet<string>,
  order: string,
): boolean {
  if (equal.has(order)) return isServed({ indexes }, key, shown, equal, key);
  const isInstant = /time/i.test(shown.find(({ name }) => name === order)?.storage ?? "");
  return [...indexes, [key]].some((index) => {
    if (!index.slice(0, equal.size).every((name) => equal.has(name)) || index[equal.size] !== order) return false;
    // Few rows have the same time, so the index need not order them by their keys.
    return order === key || isInstant || index[equal.size + 1] === key;
  });
}
