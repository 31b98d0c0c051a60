import { formatLink } from "../../core/headers/link.ts";
import { isIssues } from "../../core/problem/problem.ts";
import { readPageRequest } from "../../resource/query.ts";
import type { Value } from "../../store/store.ts";
import { exchangeOf, invalid, type Context } from "../exchange.ts";

/** A part of a list, as it is asked for. */
export interface PageQuery {
  /** Only what stands behind this place; null: from the beginning. */
  readonly after: readonly Value[] | null;
  /** The other way round. */
  readonly backwards: boolean;
  readonly limit: number;
}

/** What is listed, and where each of it stands in the order. */
export interface Listing<T> {
  read(query: PageQuery): Promise<readonly T[]>;
  placeOf(item: T): readonly Value[];
}

/** One page, and its `Link` header. */
export interface ReadPage<T> {
  readonly items: readonly T[];
  readonly headers: readonly (readonly [string, string])[];
}

/** A page of a list that is no mounted resource's: `?limit=` and `?cursor=`, and links to the pages around it while they exist. */
export async function readPage<T>(context: Context, { read, placeOf }: Listing<T>): Promise<ReadPage<T>> {
  const exchange = exchangeOf(context);
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
