import { after, type Eventually } from "../../eventually.ts";
import { formatLink } from "../../headers/link.ts";
import { parseQuery } from "../../headers/query.ts";
import { decideOn } from "../../permission/decision.ts";
import type { Issue } from "../../problem/problem.ts";
import { DEFAULT_LIMIT, readListRequest, type ListRequest } from "../../resource/query.ts";
import { isServed } from "../../store/served.ts";
import type { ListQuery, ListText, Sort, Value, Where } from "../../store/store.ts";
import type { Reply } from "../call.ts";
import type { Cursor } from "../cursors.ts";
import { invalid, type Exchange } from "../exchange.ts";
import { FORMAT_PARAMETER } from "../formats/format.ts";
import { takeTurn } from "../turns.ts";
import { contentTag } from "../writing.ts";
import { askForPage, askForRows } from "./asking.ts";
import { allOf, whereOf } from "./conditions.ts";
import { countOf } from "./counting.ts";
import type { MountInPlace } from "./mount.ts";
import { requireParents } from "./reading.ts";

/** GET of a collection: one page, found by keyset, with links to those around it. */
export function list(placed: MountInPlace, exchange: Exchange): Eventually<Reply> {
  const asked = askedOf(placed, exchange.call.query);
  const binding = bindingOf(exchange, asked);
  const cursor = asked.request.cursor === null ? null : exchange.service.cursors.require(asked.request.cursor, binding);
  const query = queryOf(placed, exchange, asked);
  return after(requireParents(placed, exchange), () =>
    after(readInTurn(exchange, query, cursor), (page) =>
      after(linksOf(exchange, { query, binding, cursor, kept: asked.kept }, page), (links) =>
        after(countOf(exchange, query), (count) => ({
          status: 200,
          headers: count === null ? links : [...links, ...count],
          body: {
            kind: "json",
            json: page.json,
            element: placed.resource.plural,
            items: placed.resource.name,
            jsonMembers: placed.jsonMembers,
          },
          tag: tagOf(page),
          cache: placed.cache,
          // Whether the caller used it or not (RFC 7240 §2).
          vary: "Prefer",
        })),
      ),
    ),
  );
}

/** What the text of a query asks for, whoever asks and wherever. */
interface Asked {
  readonly request: ListRequest;
  /** For callers who may see every row. */
  readonly query: ListQuery;
  /** Filters and order, as a cursor is bound to them. */
  readonly shape: string;
  /** The query again, without its cursor. */
  readonly kept: string;
}

/** The same few queries are asked over and over, and reading one costs half as much as the page. */
const REMEMBERED = 100;
const remembered = new WeakMap<MountInPlace, Map<string, Asked>>();

function askedOf(placed: MountInPlace, text: string): Asked {
  let known = remembered.get(placed);
  if (known === undefined) remembered.set(placed, (known = new Map<string, Asked>()));
  let asked = known.get(text);
  if (asked === undefined) {
    asked = readAsked(placed, text);
    if (known.size >= REMEMBERED) known.delete(known.keys().next().value!);
    known.set(text, asked);
  }
  return asked;
}

function readAsked({ resource, collection, shown }: MountInPlace, text: string): Asked {
  const parameters = parseQuery(text);
  const request = readListRequest(
    resource,
    parameters.filter(([name]) => name !== FORMAT_PARAMETER),
  );
  if (isIssues(request)) throw invalid(request);
  const { filters, sort, limit, fields } = request;
  const query: ListQuery = {
    collection,
    where: whereOf(filters),
    sort: sort.map(({ field, descending }) => ({ column: field, descending })),
    limit,
    columns: fields ?? shown,
  };
  return {
    request,
    query: { ...query, long: !isServed(query) },
    shape: JSON.stringify([filters.map((each) => JSON.stringify(each)).toSorted(), sort]),
    kept: new URLSearchParams(
      parameters.filter(([name]) => name !== "cursor").map(([name, value]) => [name, value]),
    ).toString(),
  };
}

function isIssues(request: ListRequest | readonly Issue[]): request is readonly Issue[] {
  return Array.isArray(request);
}

/** The rows below this parent, and of those the ones that the permission allows. */
function queryOf(
  { resource: { parentColumn } }: MountInPlace,
  { only, params }: Pick<Exchange, "only" | "params">,
  { query }: Asked,
): ListQuery {
  if (parentColumn === null && only === null) return query;
  const all: Where[] = query.where === null ? [] : [query.where];
  if (parentColumn !== null) all.push({ column: parentColumn, operator: "eq", value: params[parentColumn]! });
  if (only !== null) all.push(only);
  const narrowed = { ...query, where: allOf(all) };
  return { ...narrowed, long: !isServed(narrowed) };
}

/** What a cursor belongs to: this path, these filters, this order, and this caller where that mattered. Limit and fields may change on the way. */
function bindingOf({ call, identityWasRead, observedIdentity }: Exchange, { shape }: Asked): string {
  const path = call.path.endsWith("/") ? call.path.slice(0, -1) : call.path;
  const caller = identityWasRead && observedIdentity !== null ? String(observedIdentity.id) : "";
  return `${path} ${caller} ${shape}`;
}

/** A page may be the very same as the last time, and hashing it costs as much as signing. */
const tags = new WeakMap<ListText, string>();

/** The tag of a collection as this caller would read it without a query; null where they may not. */
export function tagOfCollection(placed: MountInPlace, exchange: Exchange): Eventually<string | null> {
  const { identity, params } = exchange;
  const { list } = placed.permissions;
  const decision =
    list === undefined ? "deny" : decideOn(list, { identity, action: "list", params }, placed.collection);
  if (decision === "deny") return null;
  const only = decision === "allow" ? null : decision.only;
  const query = queryOf(placed, { only, params }, askedOf(placed, ""));
  return after(readPage(exchange, query, null), tagOf);
}

function tagOf(page: ListText): string {
  let tag = tags.get(page);
  if (tag === undefined) tags.set(page, (tag = contentTag(page.json)));
  return tag;
}

/** A page that is longer than the usual one takes milliseconds to read and to write. */
function readInTurn(exchange: Exchange, query: ListQuery, cursor: Cursor | null): Eventually<ListText> {
  const read = () => readPage(exchange, query, cursor);
  return query.limit > DEFAULT_LIMIT ? takeTurn().then(read) : read();
}

function readPage(exchange: Exchange, query: ListQuery, cursor: Cursor | null): Eventually<ListText> {
  if (cursor === null) return askForPage(exchange, query);
  if (cursor.direction === "after") return askForPage(exchange, { ...query, after: cursor.values });
  // The page before: the nearest rows the other way round, turned back.
  return after(askForRows(exchange, { ...query, sort: reversed(query.sort), after: cursor.values }), (rows) => {
    const turned = rows.toReversed();
    const values = (at: number): readonly Value[] | null =>
      turned[at] === undefined ? null : query.sort.map(({ column }) => turned[at]!.record[column]!);
    const records = turned.map(({ record }) => Object.fromEntries(query.columns!.map((name) => [name, record[name]])));
    return {
      json: JSON.stringify(records),
      count: turned.length,
      more: true,
      first: values(0),
      last: values(turned.length - 1),
    };
  });
}

function reversed(sort: readonly Sort[]): readonly Sort[] {
  return sort.map(({ column, descending, nullsFirst }) => ({
    column,
    descending: descending !== true,
    nullsFirst: nullsFirst !== true,
  }));
}

type Headers = readonly (readonly [string, string])[];

/** A page on its way, and where it belongs. */
interface Place {
  readonly query: ListQuery;
  readonly binding: string;
  readonly cursor: Cursor | null;
  readonly kept: string;
}

/** `first` always; `prev` and `next` only while there is a row on that side. */
function linksOf(exchange: Exchange, { query, binding, cursor, kept }: Place, page: ListText): Eventually<Headers> {
  const { service, call } = exchange;
  const { path } = call;
  const link = (rel: string, to: Cursor | null): string => {
    const place = to === null ? "" : `cursor=${service.cursors.format(to, binding)}`;
    const search = kept === "" || place === "" ? kept + place : `${kept}&${place}`;
    return formatLink(search === "" ? path : `${path}?${search}`, rel);
  };
  const isAnyBehind = (sort: readonly Sort[], values: readonly Value[] | null): Eventually<boolean> =>
    values === null
      ? false
      : after(askForRows(exchange, { ...query, sort, after: values, limit: 1 }), (rows) => rows.length > 0);
  // Behind a page that was found backwards stands the one it was found from, unless that is gone.
  return after(cursor?.direction === "before" ? isAnyBehind(query.sort, page.last) : page.more, (hasNext) =>
    after(cursor === null ? false : isAnyBehind(reversed(query.sort), page.first), (hasPrevious) => {
      let links = link("first", null);
      if (hasPrevious) links += `, ${link("prev", { direction: "before", values: page.first! })}`;
      if (hasNext) links += `, ${link("next", { direction: "after", values: page.last! })}`;
      return [["Link", links]];
    }),
  );
}
