import { decideOn } from "../../../access/permission/decision.ts";
import type { Reply } from "../../../core/call/call.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { valueOfJSON } from "../../../core/exact-numbers.ts";
import { formatLink } from "../../../core/headers/link.ts";
import { DEFAULT_LIMIT } from "../../../resource/page-size.ts";
import { isServed } from "../../../store/served.ts";
import type { BesideQuery, ListQuery, ListText, Sort, Value, Where } from "../../../store/store.ts";
import { contentTag } from "../../answer/writing.ts";
import type { Exchange } from "../../exchange.ts";
import type { Cursor, Cursors } from "../../list/cursors.ts";
import { readInRound } from "../../scheduling/rounds.ts";
import { takeTurn } from "../../scheduling/slices.ts";
import type { MountInPlace } from "../mount.ts";
import { areColumns, showPage } from "../older/translating.ts";
import { askedOf, type Asked } from "./asked.ts";
import { askForPage, askForRows } from "./asking.ts";
import { allOf } from "./conditions.ts";
import { countOf } from "./counting.ts";
import { expandingOf, expandPage, type Expanding, type Shown } from "./expand/expanding.ts";
import { cacheOf, shapesOf } from "./expand/expansion.ts";
import { bindingOf } from "./places.ts";
import { mayReadWithin, requireParents } from "./reading.ts";
import { searched } from "./searching.ts";

/** The header that announces support for `QUERY`, and its media type (RFC 10008). */
const ACCEPT_QUERY = ["Accept-Query", "application/json"] as const;

/** GET of a collection: one page, found by keyset, with links to the neighboring pages. */
export function list(placed: MountInPlace, exchange: Exchange): Eventually<Reply> {
  return listAsked(placed, exchange, askedOf(placed, exchange.query));
}

/** Returns the requested page, for a query in the address or in the body. */
export function listAsked(placed: MountInPlace, exchange: Exchange, asked: Asked): Eventually<Reply> {
  exchange.useDeprecated(asked.deprecations);
  const { call, identityWasRead, observedIdentity } = exchange;
  const caller = identityWasRead ? (observedIdentity?.id ?? null) : null;
  const binding = (): string => bindingOf(call.path, caller, asked.shape());
  const cursor =
    asked.cursor === null ? null : exchange.service.cursors.require(asked.cursor, binding(), asked.cursorPointer);
  const place = { caller, binding, cursor, kept: asked.kept };
  const wanted = queryOf(placed, exchange, asked);
  return after(requireParents(placed, exchange), () =>
    after(searched(exchange, wanted, asked.search), (query) => {
      const expanding = asked.showing === null ? null : expandingOf(exchange, asked.showing, query);
      return after(readInTurn(exchange, query, cursor, expanding?.beside), (page) =>
        after(linksOf(exchange, query, place, page), (links) =>
          after(countOf(exchange, query, asked.count), (count) =>
            after(shownOf(placed, exchange, { fields: asked.fields, expanding }, page), (shown) =>
              replyOf(placed, asked, shown, {
                headers: [...links, ...(count ?? []), ACCEPT_QUERY],
                tag: tagOf(shown, query),
              }),
            ),
          ),
        ),
      );
    }),
  );
}

/** Returns the page with its expansions, with computed fields, or in an older shape. */
function shownOf(
  placed: MountInPlace,
  exchange: Exchange,
  { fields, expanding }: Pick<Asked, "fields"> & { readonly expanding: Expanding | null },
  page: ListText,
): Eventually<Shown> {
  if (expanding !== null) return expandPage(exchange, expanding, page);
  if (areColumns(placed, fields)) return page;
  return after(showPage(placed, fields, page), (json) => ({ json }));
}

function replyOf(
  { resource, jsonMembers, cache }: MountInPlace,
  { showing }: Asked,
  shown: Shown,
  { headers, tag }: { readonly headers: Headers; readonly tag: string },
): Reply {
  const body = { kind: "json", json: shown.json, element: resource.plural, items: resource.name, jsonMembers } as const;
  return {
    status: 200,
    headers,
    body: showing === null ? body : { ...body, related: shapesOf(showing.expansions) },
    tag,
    cache: showing === null ? cache : cacheOf(showing.placed, showing.expansions),
    // Sent even if the caller did not use it (RFC 7240 §2).
    vary: "Prefer",
  };
}

/** Returns the query for the rows below this parent that the permission allows. */
function queryOf(
  { resource: { parentColumn } }: MountInPlace,
  { only, params }: Pick<Exchange, "only" | "params">,
  { query }: Asked,
): ListQuery {
  if (parentColumn === null && only === null) return query;
  const below: Where | null =
    parentColumn === null ? null : { column: parentColumn, operator: "eq", value: params[parentColumn]! };
  const narrowed = { ...query, where: allOf([query.where, below, only]), repeated: false };
  return { ...narrowed, long: !isServed(narrowed) };
}

/** The page may be the same object as the last time, and hashing it costs as much as signing. */
const tags = new WeakMap<Shown, string>();

/**
 * Returns the tag of a collection as this caller would read it without a query. Returns null if the caller may not read
 * it.
 */
export function tagOfCollection(placed: MountInPlace, exchange: Exchange): Eventually<string | null> {
  const { identity, params } = exchange;
  const { list } = placed.permissions;
  const decision =
    list === undefined
      ? "deny"
      : decideOn(list, { identity, action: "list", params, now: exchange.now }, placed.collection);
  if (decision === "deny") return null;
  const only = decision === "allow" ? null : decision.only;
  const asked = askedOf(placed, "");
  const query = queryOf(placed, { only, params }, asked);
  const read = (): Eventually<string> =>
    after(readPage(exchange, query, null), (page) =>
      after(shownOf(placed, exchange, { fields: null, expanding: null }, page), (shown) => tagOf(shown, query)),
    );
  return after(mayReadWithin(placed, exchange), (may) => (may ? read() : null));
}

function tagOf(page: Shown, { repeated }: ListQuery): string {
  if (repeated !== true) return contentTag(page.json);
  let tag = tags.get(page);
  if (tag === undefined) tags.set(page, (tag = contentTag(page.json)));
  return tag;
}

/**
 * Reads a page. A page that is longer than the default takes milliseconds to read and to write, so it waits for a turn.
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
  // For the previous page, reads the nearest rows in reverse order and turns them back.
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

type Headers = readonly (readonly [string, string])[];

/** The position of a page, and the binding of its cursors. */
interface Place {
  readonly caller: number | null;
  readonly binding: () => string;
  readonly cursor: Cursor | null;
  readonly kept: string;
}

/** The values that the links of a page depend on, in addition to the page. */
interface Linked extends Pick<Place, "caller" | "kept"> {
  readonly path: string;
  readonly cursors: Cursors;
}

/**
 * The cached links of pages that may be the same object as the last time. Writing and signing them costs more than a
 * lookup.
 */
const linked = new WeakMap<ListText, Linked & { readonly links: Headers }>();

function linksOf(exchange: Exchange, query: ListQuery, place: Place, page: ListText): Eventually<Headers> {
  const make = (): Eventually<Headers> => makeLinks(exchange, query, place, page);
  if (query.repeated !== true || place.cursor !== null) return make();
  const { caller, kept } = place;
  const { path } = exchange.call;
  const { cursors } = exchange.service;
  const known = linked.get(page);
  // An empty page is the same object for all queries.
  const isKnown = known?.path === path && known.kept === kept && known.caller === caller && known.cursors === cursors;
  if (isKnown) return known.links;
  return after(make(), (links) => {
    linked.set(page, { caller, kept, path, cursors, links });
    return links;
  });
}

/** Returns the links of a page: always `first`, and `prev` and `next` only if there are rows on that side. */
function makeLinks(
  exchange: Exchange,
  query: ListQuery,
  { binding, cursor, kept }: Place,
  page: ListText,
): Eventually<Headers> {
  const { service, call } = exchange;
  const { path } = call;
  const link = (rel: string, to: Cursor | null): string => {
    const place = to === null ? "" : `cursor=${service.cursors.format(to, binding())}`;
    const search = kept === "" || place === "" ? kept + place : `${kept}&${place}`;
    return formatLink(search === "" ? path : `${path}?${search}`, rel);
  };
  const isAnyBehind = (sort: readonly Sort[], values: readonly Value[] | null): Eventually<boolean> =>
    values === null
      ? false
      : after(
          askForRows(exchange, { ...query, columns: ["id"], sort, after: values, limit: 1 }),
          (rows) => rows.length > 0,
        );
  // A page that was found backwards is followed by the one that the caller came from, unless it was deleted.
  return after(cursor?.direction === "before" ? isAnyBehind(query.sort, page.last) : page.more, (hasNext) =>
    after(cursor === null ? false : isAnyBehind(reversed(query.sort), page.first), (hasPrevious) => {
      let links = link("first", null);
      if (hasPrevious) links += `, ${link("prev", { direction: "before", values: page.first! })}`;
      if (hasNext) links += `, ${link("next", { direction: "after", values: page.last! })}`;
      return [["Link", links]];
    }),
  );
}
