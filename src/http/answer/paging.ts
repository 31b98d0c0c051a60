import { formatLink } from "../../core/headers/link.ts";
import { isIssues } from "../../core/problem/problem.ts";
import { readPageRequest } from "../../resource/query.ts";
import type { Value } from "../../store/store.ts";
import { getExchange, invalid, type Context } from "../request/exchange.ts";

/** The part of a list to read. */
export interface PageQuery {
  /** Only rows after this position. Null: from the start. */
  readonly after: readonly Value[] | null;
  /** True to read the rows in reverse order. */
  readonly backwards: boolean;
  readonly limit: number;
}

/** Reads a list, and returns the position of each item. */
export interface Listing<T> {
  read(query: PageQuery): Promise<readonly T[]>;
  placeOf(item: T): readonly Value[];
}

/** One page, and its `Link` header. */
export interface ReadPage<T> {
  readonly items: readonly T[];
  readonly headers: readonly (readonly [string, string])[];
}

/**
 * Reads a page of a list that does not belong to a mounted resource: `?limit=` and `?cursor=`, with links to the next
 * and previous pages.
 */
export async function readPage<T>(context: Context, { read, placeOf }: Listing<T>): Promise<ReadPage<T>> {
  const exchange = getExchange(context);
  const { call, service } = exchange;
  const request = readPageRequest(exchange.parameters());
  if (isIssues(request)) throw invalid(request);
  const { limit } = request;
  const binding = `${call.path.replace(/\/$/, "")} ${exchange.identity?.id ?? ""}`;
  const cursor = request.cursor === null ? null : service.cursors.require(request.cursor, binding);
  const backwards = cursor?.direction === "before";
  const found = await read({ after: cursor?.values ?? null, backwards, limit: limit + 1 });
  const isMore = found.length > limit;
  const items = backwards ? found.slice(0, limit).toReversed() : found.slice(0, limit);
  const isAny = async (place: T | undefined, back: boolean): Promise<boolean> =>
    place !== undefined && (await read({ after: placeOf(place), backwards: back, limit: 1 })).length > 0;
  const hasNext = backwards ? await isAny(items.at(-1), false) : isMore;
  const hasPrevious = backwards ? isMore : cursor !== null && (await isAny(items[0], true));

  const link = (rel: string, direction: "after" | "before" | null, place?: T): string => {
    const query = new URLSearchParams(
      exchange
        .parameters()
        .filter(([name]) => name !== "cursor")
        .map(([...each]) => each),
    );
    if (direction !== null)
      query.set("cursor", service.cursors.format({ direction, values: placeOf(place!) }, binding));
    return formatLink(query.size === 0 ? call.path : `${call.path}?${query.toString()}`, rel);
  };
  const links = [
    link("first", null),
    ...(hasPrevious ? [link("prev", "before", items[0])] : []),
    ...(hasNext ? [link("next", "after", items.at(-1))] : []),
  ];
  return { items, headers: [["Link", links.join(", ")]] };
}
