import { formatDefaultSort } from "../../../resource/default-sort.ts";
import type { Filter, ListRequest } from "../../../resource/query.ts";
import type { Key } from "../../../store/store.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { Params } from "../../request/path.ts";

/**
 * Returns the filters, the order and the search terms of a list as JSON text. A cursor is valid only for the same text.
 * The text is an array: a list of the filters, each as JSON in a string, then the order, then each term. It is built
 * without `JSON.stringify` for the names, which need no escaping. This saves time, because every page with a next page
 * needs this text.
 */
export function formatShape({ filters, sort, search }: Pick<ListRequest, "filters" | "sort" | "search">): string {
  const written = filters.map(formatFilter);
  if (written.length > 1) written.sort((one, other) => (one.text < other.text ? -1 : 1));
  let shape = "[[";
  for (const { quoted } of written) shape += shape === "[[" ? quoted : `,${quoted}`;
  shape += "],[";
  let comma = "";
  for (const { field, descending } of sort) {
    shape += `${comma}{"field":"${field}","descending":${descending}}`;
    comma = ",";
  }
  shape += "]";
  for (const word of search) shape += `,${JSON.stringify(word)}`;
  return `${shape}]`;
}

/** Returns a filter as JSON, and this JSON as a JSON string. */
function formatFilter({ field, operator, value }: Filter): { readonly text: string; readonly quoted: string } {
  const isNumber = typeof value === "number";
  const text = `{"field":"${field}","operator":"${operator}","value":${isNumber ? value : JSON.stringify(value)}}`;
  const quoted = isNumber
    ? `"{\\"field\\":\\"${field}\\",\\"operator\\":\\"${operator}\\",\\"value\\":${value}}"`
    : JSON.stringify(text);
  return { text, quoted };
}

/**
 * Returns the text that a cursor is valid for: the path, the caller, and the filters and the order (`formatShape`).
 * `caller` is null if the list does not depend on the caller. The limit and the fields may change between pages.
 */
export function formatBinding(path: string, caller: number | null, shape: string): string {
  return `${path.endsWith("/") ? path.slice(0, -1) : path} ${caller ?? ""} ${shape}`;
}

/** A position in the list of all records within one parent record. */
export interface PlaceWithin {
  readonly params: Params;
  /** The id of the last record that was shown. */
  readonly lastId: Key;
  /** The caller, if the list depends on the caller. */
  readonly caller: number | null;
  /** The expansions of each record. */
  readonly expand: string;
}

const wholeList = formatShape({ filters: [], search: [], sort: [{ field: "id", descending: false }] });

/** Returns the address of the next page, in the order of the ids. */
export function addressOfNext(
  { service }: Exchange,
  { resource }: ServedMount,
  { params, lastId, caller, expand }: PlaceWithin,
): string {
  const path = service.basePath + resource.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name]));
  const cursor = service.cursors.format(
    { direction: "after", values: [lastId] },
    formatBinding(path, caller, wholeList),
  );
  const sort = formatDefaultSort(resource.defaultSort) === null ? "" : "sort=id&";
  return `${path}?${expand === "" ? "" : `expand=${expand}&`}${sort}cursor=${cursor}`;
}
