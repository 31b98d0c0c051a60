import type { Call } from "../../../core/call/call.ts";
import type { ListQuery, Value } from "../../../store/store.ts";

/** A login that can be ended separately, in the form that its user sees. */
export interface ListedLogin {
  readonly id: string;
  /** `tokens` is a refresh token family, which is listed after its first use. */
  readonly kind: "session" | "tokens";
  readonly created_at: string;
  readonly last_seen_at: string;
  /** The latest expiry, regardless of use. */
  readonly expires_at: string;
  readonly address: string;
  readonly user_agent: string | null;
  /** True if the caller used this login. */
  readonly current: boolean;
}

/** A page of a user's logins, newest first. */
export interface LoginPage {
  /** Returns only the logins after this one (`placeOf`). */
  readonly after: readonly Value[] | null;
  /** Reverses the order: oldest first. */
  readonly backwards: boolean;
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The largest number of active logins of each kind for one user. Beyond that, the oldest one ends. */
export const maxLogins = 100;

/** Returns the query of a page. `id` is the column with the public id. */
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

/** Formats a stored login. `id` is its public id, and `currentKey` is the key of the caller's login. */
export function listedLogin(
  { id: key, created_at, last_seen_at, expires_at, address, user_agent }: Omit<ListedLogin, "kind" | "current">,
  kind: ListedLogin["kind"],
  id: string,
  currentKey: string | null,
): ListedLogin {
  return { id, kind, created_at, last_seen_at, expires_at, address, user_agent, current: key === currentKey };
}

/** Returns the client's address and user agent, in the form that is stored with a login. */
export function seenFrom(call: Call) {
  return { address: call.client.address, user_agent: call.header("user-agent")?.slice(0, MAX_USER_AGENT) ?? null };
}

const MAX_USER_AGENT = 300;

/** Returns the position of a login in the order of a page. */
export function placeOf({ created_at, id }: ListedLogin): readonly Value[] {
  return [created_at, id];
}

/** Merges the logins of all kinds in the order of the page, and returns the first `limit` of them. */
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
