import type { Deprecated } from "../../../core/deprecation.ts";
import { formatQuery, parseQuery } from "../../../core/headers/query.ts";
import { isIssues } from "../../../core/problem/problem.ts";
import { readListRequest, type AskedOnce } from "../../../resource/query.ts";
import { isServed } from "../../../store/served.ts";
import type { ListQuery, Where } from "../../../store/store.ts";
import { invalid } from "../../exchange.ts";
import { FORMAT_PARAMETER } from "../../formats/format.ts";
import { goingInList } from "../going.ts";
import type { MountInPlace } from "../mount.ts";
import { columnsFor, sortFor } from "../older/translating.ts";
import { expandableNames } from "../relations.ts";
import { whereOf } from "./conditions.ts";
import { columnsOf } from "./expand/expanded.ts";
import type { Showing } from "./expand/expanding.ts";
import { expansionsOf } from "./expand/expansion.ts";
import { withinLength } from "./page-length.ts";
import { shapeOf } from "./places.ts";

/** The content of a list request, independent of the caller and of its form. */
export interface Asked {
  /** The cursor as it was sent. */
  readonly cursor: string | null;
  /** The pointer to the cursor. Default: `?cursor`. */
  readonly cursorPointer?: string;
  /** The beginnings of words that a record must contain. */
  readonly search: readonly string[];
  /** The query for callers who may see every row. */
  readonly query: ListQuery;
  /** Returns the filters and the order, which a cursor is bound to. Most pages do not need it. */
  readonly shape: () => string;
  /** The query of the address without its cursor. */
  readonly kept: string;
  /** The parts to show with the page. Null: the page unchanged. */
  readonly showing: Showing | null;
  /** The fields to show, by their names in this shape. Null: all. */
  readonly fields: readonly string[] | null;
  /** How to count the rows. Default: the preference of the caller. */
  readonly count?: "exact" | "estimated";
  /** The deprecated parts that it uses. */
  readonly deprecations: readonly Deprecated[];
}

/** The cached query texts of one mount. */
interface Memory {
  /** The texts that were requested more than once. */
  readonly known: Map<string, Asked>;
  /** The texts that were requested once, recently: the last one of each slot (`placeOf`). */
  readonly once: string[];
  /** A slot is 1 if a known text is in it. Most unknown texts are found without a map lookup. */
  readonly places: Uint8Array;
}

/**
 * The most cached queries. The same few are requested again and again, and parsing one costs half as much as the page.
 */
const REMEMBERED = 100;
const PLACES = 256;
/**
 * The longest cached text, in characters. There may be many resources, and callers who try to fill the memory of each.
 */
const LONGEST = 1000;
const remembered = new WeakMap<MountInPlace, Memory>();

/**
 * Parses the text of a query. A repeated text is cached. Caching a text that is never repeated costs more than parsing
 * it.
 */
export function askedOf(placed: MountInPlace, text: string): Asked {
  if (text.length > LONGEST) return readAsked(placed, text);
  const { known, once, places } = memoryOf(placed);
  const place = placeOf(text);
  const found = places[place] === 1 ? known.get(text) : undefined;
  if (found !== undefined) return found;
  const asked = readAsked(placed, text);
  if (once[place] !== text) {
    once[place] = text;
    return asked;
  }
  const repeated = { ...asked, query: { ...asked.query, repeated: true } };
  if (known.size >= REMEMBERED) known.delete(known.keys().next().value!);
  known.set(text, repeated);
  places[place] = 1;
  return repeated;
}

function memoryOf(placed: MountInPlace): Memory {
  let memory = remembered.get(placed);
  if (memory === undefined) {
    memory = {
      known: new Map(),
      once: Array.from({ length: PLACES }, () => ""),
      places: new Uint8Array(PLACES),
    };
    remembered.set(placed, memory);
  }
  return memory;
}

/** Returns a small number for a text, from its length and its end, in which most texts differ. */
function placeOf(text: string): number {
  let place = text.length;
  for (let at = Math.max(0, text.length - 8); at < text.length; at++) place = (place * 31 + text.charCodeAt(at)) | 0;
  return place & (PLACES - 1);
}

function readAsked(placed: MountInPlace, text: string): Asked {
  const parameters = parseQuery(text);
  const request = readListRequest(
    placed.resource,
    parameters.filter(([name]) => name !== FORMAT_PARAMETER),
    expandableNames(placed),
  );
  if (isIssues(request)) throw invalid(request);
  return {
    ...askFor(placed, whereOf(placed, request.filters), request),
    deprecations: goingInList(placed.resource, request.filters, request),
    shape: () => shapeOf(request),
    kept: formatQuery(request.cursor === null ? parameters : parameters.filter(([name]) => name !== "cursor")),
  };
}

/** Returns the requested rows, in their order and shape. */
export function askFor(
  placed: MountInPlace,
  where: Where | null,
  { search, sort, limit, cursor, fields, expand }: AskedOnce,
): Omit<Asked, "shape" | "kept" | "deprecations"> {
  const { collection, shown } = placed;
  const showing =
    expand.length === 0 ? null : { placed, columns: fields ?? shown, expansions: expansionsOf(placed, expand) };
  const query: ListQuery = {
    collection,
    where,
    sort: sortFor(placed, sort).map(({ field, descending }) => ({ column: field, descending })),
    limit,
    columns: showing === null ? columnsFor(placed, fields) : columnsOf(collection),
    ...withinLength(placed.resource, limit),
  };
  return { cursor, search, showing, fields, query: { ...query, long: !isServed(query) } };
}
