import type { Deprecated } from "../../../deprecation.ts";
import { formatQuery, parseQuery } from "../../../headers/query.ts";
import { isIssues } from "../../../problem/problem.ts";
import { readListRequest, type AskedOnce } from "../../../resource/query.ts";
import { isServed } from "../../../store/served.ts";
import type { ListQuery, Where } from "../../../store/store.ts";
import { invalid } from "../../exchange.ts";
import { FORMAT_PARAMETER } from "../../formats/format.ts";
import { goingInList } from "../going.ts";
import type { MountInPlace } from "../mount.ts";
import { columnsFor, filterFor, sortFor } from "../older/translating.ts";
import { expandableNames } from "../relations.ts";
import { whereOf } from "./conditions.ts";
import { columnsOf } from "./expand/beside.ts";
import type { Showing } from "./expand/expanding.ts";
import { expansionsOf } from "./expand/expansion.ts";
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
  /** Those that were asked once, lately. */
  readonly once: Set<string>;
}

/** The same few queries are asked over and over, and reading one costs half as much as the page. */
const REMEMBERED = 100;
const remembered = new WeakMap<MountInPlace, Memory>();

/** What the text of a query asks for. One that comes again is remembered: to keep what is never asked again costs more than reading it. */
export function askedOf(placed: MountInPlace, text: string): Asked {
  let memory = remembered.get(placed);
  if (memory === undefined) remembered.set(placed, (memory = { known: new Map<string, Asked>(), once: new Set() }));
  const { known, once } = memory;
  const found = known.get(text);
  if (found !== undefined) return found;
  const asked = readAsked(placed, text);
  if (!once.delete(text)) {
    if (once.size >= REMEMBERED) once.clear();
    once.add(text);
    return asked;
  }
  const repeated = { ...asked, query: { ...asked.query, repeated: true } };
  if (known.size >= REMEMBERED) known.delete(known.keys().next().value!);
  known.set(text, repeated);
  return repeated;
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
    ...askFor(
      placed,
      whereOf(
        placed.links,
        request.filters.map((each) => filterFor(placed, each)),
      ),
      request,
    ),
    deprecations: goingInList(placed.resource, { ...request, conditions: request.filters }),
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
  };
  return { cursor, search, showing, fields, query: { ...query, long: !isServed(query) } };
}
