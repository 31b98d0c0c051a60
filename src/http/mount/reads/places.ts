import type { Filter, ListRequest } from "../../../resource/query.ts";
import type { Key } from "../../../store/store.ts";
import type { Params } from "../../endpoint/path.ts";
import type { Exchange } from "../../exchange.ts";
import type { MountInPlace } from "../mount.ts";

/**
 * Filters, words and order of a list as JSON, as a cursor is bound to them: a list of the filters, each a text of its own, the order and the words. It
 * is written by hand, since that is asked for with every page that has a next one. The names in it have nothing to escape.
 */
export function shapeOf({ filters, sort, search }: Pick<ListRequest, "filters" | "sort" | "search">): string {
  const written = filters.map(writtenOf);
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

/** A filter as JSON, and that as a text in JSON. */
function writtenOf({ field, operator, value }: Filter): { readonly text: string; readonly quoted: string } {
  const isNumber = typeof value === "number";
  const text = `{"field":"${field}","operator":"${operator}","value":${isNumber ? value : JSON.stringify(value)}}`;
  const quoted = isNumber
    ? `"{\\"field\\":\\"${field}\\",\\"operator\\":\\"${operator}\\",\\"value\\":${value}}"`
    : JSON.stringify(text);
  return { text, quoted };
}

/** What a cursor belongs to: this path, these filters, this order, and this caller where that mattered. Limit and fields may change on the way. */
export function bindingOf(path: string, caller: number | null, shape: string): string {
  return `${path.endsWith("/") ? path.slice(0, -1) : path} ${caller ?? ""} ${shape}`;
}

/** A place in the list of all that stands within a record. */
export interface PlaceWithin {
  readonly params: Params;
  /** The id of the last one that was seen. */
  readonly lastId: Key;
  /** For whom it is, where that mattered. */
  readonly caller: number | null;
  /** What is to stand beside each. */
  readonly expand: string;
}

const wholeList = shapeOf({ filters: [], search: [], sort: [{ field: "id", descending: false }] });

/** The address at which a list goes on. */
export function addressOfNext(
  { service }: Exchange,
  { resource }: MountInPlace,
  { params, lastId, caller, expand }: PlaceWithin,
): string {
  const path = service.basePath + resource.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name]));
  const cursor = service.cursors.format({ direction: "after", values: [lastId] }, bindingOf(path, caller, wholeList));
  return `${path}?${expand === "" ? "" : `expand=${expand}&`}cursor=${cursor}`;
}
