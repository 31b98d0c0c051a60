import type { Deprecated } from "../../../core/deprecation.ts";
import { formatQuery, parseQuery } from "../../../core/headers/query.ts";
import { isIssues } from "../../../core/problem/problem.ts";
import { readListRequest, type AskedOnce } from "../../../resource/query.ts";
import { isServed } from "../../../store/served.ts";
import type { ListQuery, Where } from "../../../store/store.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { expandableNames } from "../../declarations/relations.ts";
import { invalid } from "../../request/exchange.ts";
import { FORM_PARAMETER, FORMAT_PARAMETER } from "../../request/format.ts";
import { columnsFor, convertSort } from "../older/translating.ts";
import { collectDeprecatedInList } from "../used-deprecations.ts";
import { buildWhere } from "./conditions.ts";
import { listColumns, needsAnyColumn } from "./expand/expanded.ts";
import type { RecordSelection } from "./expand/expanding.ts";
import { buildExpansions } from "./expand/expansion.ts";
import { withinLength, limitWithin } from "./page-length.ts";
import { formatShape } from "./places.ts";

/**
 * The content of a list request. It does not depend on the caller, or on whether the query came in the address or in a
 * body.
 */
export interface ListRequest {
  /** The cursor as it was sent. */
  readonly cursor: string | null;
  /** The pointer to the cursor. Default: `?cursor`. */
  readonly cursorPointer?: string;
  /** The search terms. A record must contain a word that starts with each of them. */
  readonly search: readonly string[];
  /** The query for callers who may see every row. */
  readonly query: ListQuery;
  /**
   * Returns the filters and the order as text. A cursor is valid only for the same text. A function, because most pages
   * do not need it.
   */
  readonly shape: () => string;
  /** The query of the address without its cursor. */
  readonly addressQuery: string;
  /** The expansions and columns of the page. Null if the page is sent as the store wrote it. */
  readonly showing: RecordSelection | null;
  /** The fields to show, by their names in this shape. Null: all. */
  readonly fields: readonly string[] | null;
  /** How to count the rows. Default: the preference of the caller. */
  readonly count?: "exact" | "estimated";
  /** The deprecated parts that it uses. */
  readonly deprecations: readonly Deprecated[];
}

/** The cached query texts of one mount. */
interface QueryCache {
  /** The texts that were requested more than once. */
  readonly repeated: Map<string, ListRequest>;
  /** The texts that were requested once. Each slot (`chooseSlot`) contains the last text only. */
  readonly once: string[];
  /** 1 for each slot with a cached text. For most new texts the slot has 0, so no map lookup is necessary. */
  readonly places: Uint8Array;
}

/**
 * The maximum number of cached queries per mount. Clients repeat a few queries many times, and parsing a query costs
 * half as much as its page.
 */
const MAX_CACHED = 100;
const SLOTS = 256;
/**
 * The maximum length of a cached text, in characters. Each resource has a cache, and a caller may try to fill all of
 * them.
 */
const LONGEST = 1000;
const remembered = new WeakMap<ServedMount, QueryCache>();

/**
 * Parses the text of a query. Caches a text only when it is requested a second time, because adding it to the cache
 * costs more than parsing it.
 */
export function readQueryText(mount: ServedMount, text: string): ListRequest {
  if (text.length > LONGEST) return readAsked(mount, text);
  const { repeated: cache, once, places } = resolveQueryCache(mount);
  const place = chooseSlot(text);
  const found = places[place] === 1 ? cache.get(text) : undefined;
  if (found !== undefined) return found;
  const request = readAsked(mount, text);
  if (once[place] !== text) {
    once[place] = text;
    return request;
  }
  const repeated = { ...request, query: { ...request.query, repeated: true } };
  if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value!);
  cache.set(text, repeated);
  places[place] = 1;
  return repeated;
}

function resolveQueryCache(mount: ServedMount): QueryCache {
  let memory = remembered.get(mount);
  if (memory === undefined) {
    memory = {
      repeated: new Map(),
      once: Array.from({ length: SLOTS }, () => ""),
      places: new Uint8Array(SLOTS),
    };
    remembered.set(mount, memory);
  }
  return memory;
}

/**
 * Returns the slot of a text, from 0 to 255. It is computed from the length and the last characters, in which most
 * texts differ.
 */
function chooseSlot(text: string): number {
  let place = text.length;
  for (let at = Math.max(0, text.length - 8); at < text.length; at++) place = (place * 31 + text.charCodeAt(at)) | 0;
  return place & (SLOTS - 1);
}

function readAsked(mount: ServedMount, text: string): ListRequest {
  const parameters = parseQuery(text);
  // A filter with this name is `form[eq]`, because `?form=new` is the page of a form.
  if (parameters.some(([name]) => name === FORM_PARAMETER))
    throw invalid([{ pointer: "?form", code: "unknown_parameter", detail: "There is no such parameter." }]);
  const request = readListRequest(
    mount.resource,
    parameters.filter(([name]) => name !== FORMAT_PARAMETER),
    expandableNames(mount),
  );
  if (isIssues(request)) throw invalid(request);
  return {
    ...askFor(mount, buildWhere(mount, request.filters), request),
    deprecations: collectDeprecatedInList(mount.resource, request.filters, request),
    shape: () => formatShape(request),
    addressQuery: formatQuery(request.cursor === null ? parameters : parameters.filter(([name]) => name !== "cursor")),
  };
}

/**
 * Returns the limits of a page. If computed fields or permissions need hidden columns, the length of the hidden values
 * must not affect where the page ends, so it has few enough records for every length.
 */
function limitLength(mount: ServedMount, limit: number): Pick<ListQuery, "limit" | "maxLength"> {
  const { resource, declared, computed } = mount;
  if (declared === undefined || (computed.length === 0 && !needsAnyColumn(mount)))
    return { limit, ...withinLength(resource, limit) };
  return { limit: limitWithin(declared.resource, limit) };
}

/** Returns the query for the requested rows, with their order, columns and expansions. */
export function askFor(
  mount: ServedMount,
  where: Where | null,
  { search, sort, limit, cursor, fields, expand }: AskedOnce,
): Omit<ListRequest, "shape" | "addressQuery" | "deprecations"> {
  const { collection, shown } = mount;
  const showing =
    expand.length === 0 ? null : { mount, columns: fields ?? shown, expansions: buildExpansions(mount, expand) };
  const query: ListQuery = {
    collection,
    where,
    sort: convertSort(mount, sort).map(({ field, descending }) => ({ column: field, descending })),
    columns: showing === null ? columnsFor(mount, fields) : listColumns(mount),
    ...limitLength(mount, limit),
  };
  return { cursor, search, showing, fields, query: { ...query, long: !isServed(query) } };
}
