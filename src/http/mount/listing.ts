import { after, type Eventually } from "../../eventually.ts";
import { formatLink } from "../../headers/link.ts";
import { parsePrefer } from "../../headers/prefer.ts";
import type { Issue } from "../../problem/problem.ts";
import { readListRequest, type ListRequest } from "../../resource/query.ts";
import type { ListQuery, ListText, Sort, Value, Where } from "../../store/store.ts";
import type { Reply } from "../call.ts";
import type { Cursor } from "../cursors.ts";
import { invalid, type Exchange } from "../exchange.ts";
import type { MountInPlace } from "./mount.ts";
import { requireParents } from "./reading.ts";

/** GET of a collection: one page, found by keyset, with links to those around it. */
export function list(placed: MountInPlace, exchange: Exchange): Eventually<Reply> {
  const request = readListRequest(placed.resource, exchange.parameters());
  if (isIssues(request)) throw invalid(request);
  const binding = bindingOf(exchange, request);
  const cursor = request.cursor === null ? null : exchange.service.cursors.require(request.cursor, binding);
  const query: ListQuery = {
    collection: placed.collection,
    where: whereOf(placed, exchange, request),
    sort: request.sort.map(({ field, descending }) => ({ column: field, descending })),
    limit: request.limit,
    columns: request.fields ?? placed.shown,
  };
  return after(requireParents(placed, exchange), () =>
    after(readPage(exchange, query, cursor), (page) =>
      after(linksOf(exchange, query, binding, cursor, page), (links) =>
        after(countOf(exchange, query), (count) => ({
          status: 200,
          headers: count === null ? links : [...links, ...count],
          body: { kind: "json", json: page.json, element: placed.resource.plural, items: placed.resource.name },
          cache: placed.cache,
          // Whether the caller used it or not (RFC 7240 §2).
          vary: "Prefer",
        })),
      ),
    ),
  );
}

function isIssues(request: ListRequest | readonly Issue[]): request is readonly Issue[] {
  return Array.isArray(request);
}

function whereOf({ resource }: MountInPlace, { only, params }: Exchange, { filters }: ListRequest): Where | null {
  const all: Where[] = filters.map(({ field, operator, value }) => ({
    column: field,
    operator,
    value: value as Value,
  }));
  if (resource.parentColumn !== null)
    all.push({ column: resource.parentColumn, operator: "eq", value: params[resource.parentColumn]! });
  if (only !== null) all.push(only);
  return all.length === 0 ? null : all.length === 1 ? all[0]! : { all };
}

/** What a cursor belongs to: this path, these filters, this order, and this caller where that mattered. Limit and fields may change on the way. */
function bindingOf({ call, identityWasRead, observedIdentity }: Exchange, { filters, sort }: ListRequest): string {
  const path = call.path.endsWith("/") ? call.path.slice(0, -1) : call.path;
  const caller = identityWasRead ? (observedIdentity?.id ?? null) : null;
  return JSON.stringify([path, caller, filters.map((each) => JSON.stringify(each)).toSorted(), sort]);
}

function readPage({ service }: Exchange, query: ListQuery, cursor: Cursor | null): Eventually<ListText> {
  if (cursor === null) return service.store.listJSON(query);
  if (cursor.direction === "after") return service.store.listJSON({ ...query, after: cursor.values });
  // The page before: the nearest rows the other way round, turned back.
  return after(service.store.list({ ...query, sort: reversed(query.sort), after: cursor.values }), (rows) => {
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
  return sort.map(({ column, descending }) => ({ column, descending: descending !== true }));
}

type Headers = readonly (readonly [string, string])[];

/** `first` always; `prev` and `next` only while there is a row on that side. */
function linksOf(
  exchange: Exchange,
  query: ListQuery,
  binding: string,
  cursor: Cursor | null,
  page: ListText,
): Eventually<Headers> {
  const { service } = exchange;
  const link = (rel: string, to: Cursor | null): string =>
    formatLink(addressOf(exchange, to === null ? null : service.cursors.format(to, binding)), rel);
  const isAnyBehind = (sort: readonly Sort[], values: readonly Value[] | null): Eventually<boolean> =>
    values === null
      ? false
      : after(service.store.list({ ...query, sort, after: values, limit: 1 }), (rows) => rows.length > 0);
  // Behind a page that was found backwards stands the one it was found from, unless that is gone.
  return after(cursor?.direction === "before" ? isAnyBehind(query.sort, page.last) : page.more, (hasNext) =>
    after(cursor === null ? false : isAnyBehind(reversed(query.sort), page.first), (hasPrevious) => {
      const links = [link("first", null)];
      if (hasPrevious) links.push(link("prev", { direction: "before", values: page.first! }));
      if (hasNext) links.push(link("next", { direction: "after", values: page.last! }));
      return [["Link", links.join(", ")]];
    }),
  );
}

function addressOf(exchange: Exchange, cursor: string | null): string {
  const kept = exchange.parameters().filter(([name]) => name !== "cursor");
  const query = new URLSearchParams([
    ...kept.map(([name, value]) => [name, value]),
    ...(cursor === null ? [] : [["cursor", cursor]]),
  ]).toString();
  return query === "" ? exchange.call.path : `${exchange.call.path}?${query}`;
}

function countOf({ call, service }: Exchange, { collection, where }: ListQuery): Eventually<Headers | null> {
  const prefer = call.list("prefer");
  if (prefer === undefined || parsePrefer(prefer).get("count") !== "exact") return null;
  return after(service.store.count(collection, where), (count) => [
    ["X-Total-Count", String(count)],
    ["Preference-Applied", "count=exact"],
  ]);
}
