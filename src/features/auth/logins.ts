import type { Call } from "../../core/call/call.ts";
import type { ListQuery, Row, Value } from "../../store/store.ts";

/** A login that can be ended by itself, as its user sees it. */
export interface ListedLogin {
  readonly id: string;
  /** `tokens` is a refresh family, which is known once it has been used. */
  readonly kind: "session" | "tokens";
  readonly created_at: string;
  readonly last_seen_at: string;
  /** Its end however much it is used. */
  readonly expires_at: string;
  readonly address: string;
  readonly user_agent: string | null;
  /** The caller came with this one. */
  readonly current: boolean;
}

/** Which logins of a user are asked for: the newest first. */
export interface LoginPage {
  /** Only those behind this one (`placeOf`). */
  readonly after: readonly Value[] | null;
  /** The other way round: the oldest first. */
  readonly backwards: boolean;
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** How many living logins of each kind a user has at most; beyond that the oldest ends. */
export const maxLogins = 100;

/** The query of a page, where `id` is the column with the id that is shown. */
export function loginPage(
  { after, backwards, limit }: LoginPage,
  id: string,
): Pick<ListQuery, "sort" | "after" | "limit"> {
  const sort = [
    { column: "created_at", descending: !backwards },
    { column: id, descending: backwards },
  ];
  return { sort, limit, ...(after === null ? {} : { after }) };
}

/** A login as it is kept; `id` is the column with the id that is shown, and `currentKey` the key of the caller's own. */
export function listedLogin(
  { record }: Row,
  kind: ListedLogin["kind"],
  id: string,
  currentKey: string | null,
): ListedLogin {
  return {
    id: record[id] as string,
    kind,
    created_at: record["created_at"] as string,
    last_seen_at: record["last_seen_at"] as string,
    expires_at: record["expires_at"] as string,
    address: record["address"] as string,
    user_agent: record["user_agent"] as string | null,
    current: record["id"] === currentKey,
  };
}

/** From where a login was used, as it is kept. */
export function seenFrom(call: Call) {
  return { address: call.client.address, user_agent: call.header("user-agent")?.slice(0, MAX_USER_AGENT) ?? null };
}

const MAX_USER_AGENT = 300;

/** Where a login stands in the order of a page. */
export function placeOf({ created_at, id }: ListedLogin): readonly Value[] {
  return [created_at, id];
}

/** The first of two lists that are in the order of the page. */
export function mergeLogins(
  lists: readonly (readonly ListedLogin[])[],
  { backwards, limit }: LoginPage,
): readonly ListedLogin[] {
  const newestFirst = lists.flat().toSorted((one, other) => {
    if (one.created_at !== other.created_at) return one.created_at > other.created_at ? -1 : 1;
    return one.id < other.id ? -1 : 1;
  });
  return (backwards ? newestFirst.toReversed() : newestFirst).slice(0, limit);
}
