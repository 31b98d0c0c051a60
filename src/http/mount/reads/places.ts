import type { ListRequest } from "../../../resource/query.ts";
import type { Key } from "../../../store/store.ts";
import type { Params } from "../../endpoint/path.ts";
import type { Exchange } from "../../exchange.ts";
import type { MountInPlace } from "../mount.ts";

/** Filters, words and order of a list, as a cursor is bound to them. */
export function shapeOf({ filters, sort, search }: Pick<ListRequest, "filters" | "sort" | "search">): string {
  return JSON.stringify([filters.map((each) => JSON.stringify(each)).toSorted(), sort, ...search]);
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
