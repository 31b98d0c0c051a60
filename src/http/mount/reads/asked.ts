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
import { columnsOf } from "./expand/beside.ts";
import type { Showing } from "./expand/expanding.ts";
import { expansionsOf } from "./expand/expansion.ts";
import { withinLength } from "./page-length.ts";
import { shapeOf } from "./places.ts";

/** What is asked for, whoever asks and wherever. */
export interface Asked {
  /** As it was sent. */
  readonly cursor: string | null;
  /** Where it stood; `?cursor` where it is left out. */
  readonly cursorPointer?: string;
  /** What words of a record have to begin with. */
  readonly search: readonly string[];
  /** For callers who may see every row. */
  readonly query: ListQuery;
  /** Filters and order, as a cursor is bound to them. Most pages need none. */
  readonly shape: () => string;
  /** The query of the address again, without its cursor. */
  readonly kept: string;
  /** What is shown of the page; null: the page as it is. */
  readonly showing: Showing | null;
  /** The fields that are shown, by their names in this shape; null: all. */
  readonly fields: readonly string[] | null;
  /** How many there are; as the caller prefers where it is left out. */
  readonly count?: "exact" | "estimated";
  /** What of it will go. */
  readonly deprecations: readonly Deprecated[];
}

/** Texts of queries of one place. */
interface Memory {
  /** Those that were asked again. */
  readonly known: Map<string, Asked>;
  /** Those that were asked once, lately: the last one of each place (`placeOf`). */
  readonly once: string[];
  /** 1 in the places of those that are known: most that are not are told by that, with no map to look into. */
  readonly places: Uint8Array;
}

/** The same few queries are asked over and over, and reading one costs half as much as the page. */
const REMEMBERED = 100;
const PLACES = 256;
/** Longer texts are not remembered, in characters: there may be many resources, and callers who fill the memory of each. */
const LONGEST = 1000;
const remembered = new WeakMap<MountInPlace, Memory>();

/** What the text of a query asks for. One that comes again is remembered: to keep what is never asked again costs more than reading it. */
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

/** One of a few numbers for a text, by its length and its end, where texts mostly differ. */
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

/** The rows that are asked for, in their order and shape. */
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
