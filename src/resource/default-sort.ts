import { isText } from "../core/checking/members.ts";
import { shownName, suggestion } from "../core/checking/nearest.ts";
import type { Fields, ResourceDeclaration, SortField } from "./declaration/declaration.ts";

/** Reads an order that is written as in `?sort=`, without `id` at its end. */
export function readSortNames(text: string): readonly SortField[] {
  return text.split(",").map((part) => {
    const descending = part.startsWith("-");
    return { field: descending ? part.slice(1) : part, descending };
  });
}

/** Returns the order with `id` at its end, if it does not name `id`. */
export function breakTies(sort: readonly SortField[]): readonly SortField[] {
  return sort.some(({ field }) => field === "id") ? sort : [...sort, { field: "id", descending: false }];
}

/**
 * Returns the order as text, without the ascending `id` at its end: `-created_at`. Returns null for the order by id.
 */
export function formatDefaultSort(sort: readonly SortField[]): string | null {
  const names = sort.map(({ field, descending }) => (descending ? `-${field}` : field));
  if (names.at(-1) === "id") names.pop();
  return names.length === 0 ? null : names.join(",");
}

/** Returns the mistakes in `defaultSort`. */
export function defaultSortMistakes({
  defaultSort,
  sorts = [],
  fields,
}: Pick<ResourceDeclaration<Fields>, "defaultSort" | "sorts" | "fields">): readonly string[] {
  if (!isText(defaultSort)) return [];
  const known = ["id", ...sorts];
  const names = readSortNames(defaultSort).map(({ field }) => field);
  return names.flatMap((name, at) => {
    if (names.indexOf(name) < at) return [`defaultSort: ${shownName(name)} is named twice; leave one of them out`];
    if (known.includes(name)) return [];
    return Object.hasOwn(fields, name)
      ? [`defaultSort: lists cannot be sorted by ${name}; add it to sorts, or name another field`]
      : [`defaultSort: there is no sort ${shownName(name)}${suggestion(name, known)}`];
  });
}
