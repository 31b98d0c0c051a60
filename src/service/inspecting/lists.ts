import type { FoundExisting, FoundExistingColumn } from "../../door/stores.ts";
import { kindFor } from "./kinds.ts";

/** What lists of a table can be asked for, by the names of its columns. */
export interface FoundLists {
  readonly filters: readonly string[];
  readonly sorts: readonly string[];
  /** An index begins with these too, and does not serve every list that they would allow: whoever wants them says so. */
  readonly unserved: { readonly filters: readonly string[]; readonly sorts: readonly string[] };
}

/** The lists that an index serves, alone and together: by what is equal, and in an order. The start then names none. */
export function listsOf(found: FoundExisting, key: string, shown: readonly FoundExistingColumn[]): FoundLists {
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

/** Whether an index gives the rows in the order of their keys, texts by code point. In SQLite a key may be `COLLATE NOCASE`. */
export function isInOrderOfKey({ indexes, columns }: FoundExisting, key: string): boolean {
  const found = columns.find(({ name }) => name === key);
  return found?.byCodePoint !== false && indexes.some(([first]) => first === key);
}

/** Types of PostgreSQL that are texts only when they are turned into one, which no index has. */
const turned = /^(?:citext|inet|cidr|macaddr|name|xml|interval|"char"|character(?! varying))/;

function isCompared(column: FoundExistingColumn): boolean {
  const kind = kindFor(column);
  return "factory" in kind && kind.factory !== "json" && !turned.test(column.storage);
}

function isUnique({ uniques }: FoundExisting, column: string): boolean {
  return [...uniques.values()].some((each) => each.length === 1 && each[0] === column);
}

/** Every filter and every two of them, in every order. */
function areAllServed(
  found: FoundExisting,
  key: string,
  shown: readonly FoundExistingColumn[],
  { filters, sorts }: Pick<FoundLists, "filters" | "sorts">,
): boolean {
  const asked = [[], ...filters.map((one) => [one]), ...filters.flatMap((one) => filters.map((other) => [one, other]))];
  return asked.every((equal) =>
    [key, ...sorts].every(
      (order) => equal.some((name) => isUnique(found, name)) || isServed(found, key, shown, new Set(equal), order),
    ),
  );
}

/** Whether the rows that are equal stand one behind another in an index, in their order. */
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
    // Hardly any rows have the same instant.
    return order === key || isInstant || index[equal.size + 1] === key;
  });
}
