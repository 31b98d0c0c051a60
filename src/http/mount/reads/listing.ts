import { decideOn } from "../../../access/permission/decision.ts";
import type { Reply } from "../../../core/call/call.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { valueOfJSON } from "../../../core/exact-numbers.ts";
import { formatLink } from "../../../core/headers/link.ts";
import { DEFAULT_LIMIT } from "../../../resource/page-size.ts";
import { isServed } from "../../../store/served.ts";
import type { BesideQuery, ListQuery, ListText, Sort, Value, Where } from "../../../store/store.ts";
import { contentTag } from "../../answer/writing.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Cursor, Cursors } from "../../request/cursors.ts";
import type { Exchange } from "../../request/exchange.ts";
import { readInRound } from "../../scheduling/rounds.ts";
import { takeTurn } from "../../scheduling/slices.ts";
import { areColumns, showPage } from "../older/translating.ts";
import { askForPage, askForRows } from "./asking.ts";
import { combineAll } from "./conditions.ts";
import { buildCountHeaders } from "./counting.ts";
import { buildExpanding, expandPage, type Expanding, type ExpandedJSON } from "./expand/expanding.ts";
import { chooseCache, buildShapes } from "./expand/expansion.ts";
import { readQueryText, type ListRequest } from "./list-request.ts";
import { withoutEmpty } from "./page-query.ts";
import { formatBinding } from "./places.ts";
import { mayReadWithin, requireParents } from "./reading.ts";
import { addSearch } from "./searching.ts";

/** The header that announces support for `QUERY`, and its media type (RFC 10008). */
const ACCEPT_QUERY = ["Accept-Query", "application/json"] as const;

/** The media type of pages, whose forms send empty parameters. */
const PAGE = "text/html";

/** Answers GET of a collection with one keyset page and links to the previous and the next page. */
export function list(mount: ServedMount, exchange: Exchange): Eventually<Reply> {
  const { query, format } = exchange;
  return listAsked(mount, exchange, readQueryText(mount, format.mediaType === PAGE ? withoutEmpty(query) : query));
}

/** Returns the requested page, for a query in the address or in the body. */
export function listAsked(mount: ServedMount, exchange: Exchange, request: ListRequest): Eventually<Reply> {
  exchange.useDeprecated(request.deprecations);
  const { call, identityWasRead, observedIdentity } = exchange;
  const caller = identityWasRead ? (observedIdentity?.id ?? null) : null;
  const binding = (): string => formatBinding(call.path, caller, request.shape());
  const cursor =
    request.cursor === null ? null : exchange.service.cursors.require(request.cursor, binding(), request.cursorPointer);
  const place = { caller, binding, cursor, addressQuery: request.addressQuery };
  const wanted = narrowQuery(mount, exchange, request);
  return after(requireParents(mount, exchange), () =>
    after(addSearch(exchange, mount, wanted, request.search), (query) => {
      const expanding = request.showing === null ? null : buildExpanding(exchange, request.showing, query);
      return after(readInTurn(exchange, query, cursor, expanding?.beside), (page) =>
        after(resolveLinks(exchange, query, place, page), (links) =>
          after(buildCountHeaders(exchange, query, request.count), (count) =>
            after(convertPage(mount, exchange, { fields: request.fields, expanding }, page), (shown) =>
              buildReply(mount, request, shown, {
                headers: [...links, ...(count ?? []), ACCEPT_QUERY],
                tag: computeTag(shown, query),
              }),
            ),
          ),
        ),
      );
    }),
  );
}

/** Returns the page as this caller sees it: with its expansions and computed fields, or in an older shape. */
function convertPage(
  mount: ServedMount,
  exchange: Exchange,
  { fields, expanding }: Pick<ListRequest, "fields"> & { readonly expanding: Expanding | null },
  page: ListText,
): Eventually<ExpandedJSON> {
  if (expanding !== null) return expandPage(exchange, expanding, page);
  if (areColumns(mount, fields)) return page;
  return after(showPage(mount, fields, page), (json) => ({ json }));
}

function buildReply(
  { resource, jsonMembers, cache }: ServedMount,
  { showing }: ListRequest,
  shown: ExpandedJSON,
  { headers, tag }: { readonly headers: ListHeaders; readonly tag: string },
): Reply {
  const body = { kind: "json", json: shown.json, element: resource.plural, items: resource.name, jsonMembers } as const;
  return {
    status: 200,
    headers,
    body: showing === null ? body : { ...body, related: buildShapes(showing.expansions) },
    tag,
    cache: showing === null ? cache : chooseCache(showing.mount, showing.expansions),
    // Sent even if the request has no `Prefer` (RFC 7240 §2).
    vary: "Prefer",
  };
}

/** Adds two conditions to a query: the rows belong to the parent in the path, and the permission allows them. */
function narrowQuery(
  { resource: { parentColumn } }: ServedMount,
  { only, params }: Pick<Exchange, "only" | "params">,
  { query }: ListRequest,
): ListQuery {
  if (parentColumn === null && only === null) return query;
  const below: Where | null =
    parentColumn === null ? null : { column: parentColumn, operator: "eq", value: params[parentColumn]! };
  const narrowed = { ...query, where: combineAll([query.where, below, only]), repeated: false };
  return { ...narrowed, long: !isServed(narrowed) };
}

/**
 * The cached ETags of pages. A store may return the same page object again, and hashing a page costs as much as signing
 * its links.
 */
const tags = new WeakMap<ExpandedJSON, string>();

/**
 * Returns the ETag that this caller would get for the collection without a query. Returns null if the caller may not
 * read the collection.
 */
export function tagOfCollection(mount: ServedMount, exchange: Exchange): Eventually<string | null> {
  const { identity, params } = exchange;
  const { list } = mount.permissions;
  const decision =
    list === undefined ? "deny" : decideOn(list, { identity, action: "list", params, now: exchange.now }, mount);
  if (decision === "deny") return null;
  const only = decision === "allow" ? null : decision.only;
  const request = readQueryText(mount, "");
  const query = narrowQuery(mount, { only, params }, request);
  const read = (): Eventually<string> =>
    after(readPage(exchange, query, null), (page) =>
      after(convertPage(mount, exchange, { fields: null, expanding: null }, page), (shown) => computeTag(shown, query)),
    );
  return after(mayReadWithin(mount, exchange), (may) => (may ? read() : null));
}

function computeTag(page: ExpandedJSON, { repeated }: ListQuery): string {
  if (repeated !== true) return contentTag(page.json);
  let tag = tags.get(page);
  if (tag === undefined) tags.set(page, (tag = contentTag(page.json)));
  return tag;
}

/**
 * Reads a page. A page with more records than the default limit takes milliseconds to read and to write, so other
 * requests run first.
 */
function readInTurn(
  exchange: Exchange,
  query: ListQuery,
  cursor: Cursor | null,
  beside?: readonly BesideQuery[],
): Eventually<ListText> {
  const read = () => readPage(exchange, query, cursor, beside);
  return query.limit > DEFAULT_LIMIT ? takeTurn().then(read) : readInRound(read);
}

function readPage(
  exchange: Exchange,
  query: ListQuery,
  cursor: Cursor | null,
  beside?: readonly BesideQuery[],
): Eventually<ListText> {
  if (cursor === null) return askForPage(exchange, query, beside);
  if (cursor.direction === "after")
    return askForPage(exchange, { ...query, after: cursor.values, repeated: false }, beside);
  if (query.maxLength !== undefined) return readLargeBefore(exchange, query, cursor);
  // For the previous page, the nearest rows are read in reverse order and then reversed.
  const columns = [...new Set([...query.columns!, ...query.sort.map(({ column }) => column)])];
  const before = { ...query, columns, sort: reversed(query.sort), after: cursor.values };
  return after(askForRows(exchange, before), (rows) => {
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

/** Reads the previous page of large records, up to the length limit. */
function readLargeBefore(exchange: Exchange, query: ListQuery, { values }: Cursor): Eventually<ListText> {
  const before = { ...query, sort: reversed(query.sort), after: values, repeated: false };
  return after(askForPage(exchange, before), ({ json, count, first, last }) => {
    const turned = (valueOfJSON(json) as readonly unknown[]).toReversed();
    return { json: JSON.stringify(turned), count, more: true, first: last, last: first };
  });
}

function reversed(sort: readonly Sort[]): readonly Sort[] {
  return sort.map(({ column, descending, nullsFirst }) => ({
    column,
    descending: descending !== true,
    nullsFirst: nullsFirst !== true,
  }));
}

type ListHeaders = readonly (readonly [string, string])[];

/**
 * The requested position in a list. `binding` returns the text that its cursors are valid for: the path, the caller,
 * the filters and the order.
 */
interface PageContext {
  readonly caller: number | null;
  readonly binding: () => string;
  readonly cursor: Cursor | null;
  readonly addressQuery: string;
}

/** The values that the links of a page depend on, in addition to the page. */
interface Linked extends Pick<PageContext, "caller" | "addressQuery"> {
  readonly path: string;
  readonly cursors: Cursors;
}

/**
 * The cached links of pages. A store may return the same page object again, and making and signing links costs more
 * than a lookup.
 */
const linked = new WeakMap<ListText, Linked & { readonly links: ListHeaders }>();

function resolveLinks(
  exchange: Exchange,
  query: ListQuery,
  place: PageContext,
  page: ListText,
): Eventually<ListHeaders> {
  const make = (): Eventually<ListHeaders> => makeLinks(exchange, query, place, page);
  if (query.repeated !== true || place.cursor !== null) return make();
  const { caller, addressQuery } = place;
  const { path } = exchange.call;
  const { cursors } = exchange.service;
  const cached = linked.get(page);
  // All empty pages are the same object, so the cached links may be of another list.
  const isKnown =
    cached?.path === path &&
    cached.addressQuery === addressQuery &&
    cached.caller === caller &&
    cached.cursors === cursors;
  if (isKnown) return cached.links;
  return after(make(), (links) => {
    linked.set(page, { caller, addressQuery, path, cursors, links });
    return links;
  });
}

/**
 * Returns the links of a page: always `first`, `prev` if there are rows before the page, and `next` if there are rows
 * after it.
 */
function makeLinks(
  exchange: Exchange,
  query: ListQuery,
  { binding, cursor, addressQuery }: PageContext,
  page: ListText,
): Eventually<ListHeaders> {
  const { service, call } = exchange;
  const { path } = call;
  const link = (rel: string, to: Cursor | null): string => {
    const place = to === null ? "" : `cursor=${service.cursors.format(to, binding())}`;
    const search = addressQuery === "" || place === "" ? addressQuery + place : `${addressQuery}&${place}`;
    return formatLink(search === "" ? path : `${path}?${search}`, rel);
  };
  const isAnyBehind = (sort: readonly Sort[], values: readonly Value[] | null): Eventually<boolean> =>
    values === null
      ? false
      : after(
          askForRows(exchange, { ...query, columns: ["id"], sort, after: values, limit: 1 }),
          (rows) => rows.length > 0,
        );
  // If the caller followed a `prev` link, the page with that link usually comes next. Its rows may have been deleted
  // since, so the store is asked.
  return after(cursor?.direction === "before" ? isAnyBehind(query.sort, page.last) : page.more, (hasNext) =>
    after(cursor === null ? false : isAnyBehind(reversed(query.sort), page.first), (hasPrevious) => {
      let links = link("first", null);
      if (hasPrevious) links += `, ${link("prev", { direction: "before", values: page.first! })}`;
      if (hasNext) links += `, ${link("next", { direction: "after", values: page.last! })}`;
      return [["Link", links]];
    }),
  );
}
