import { everyAction, type Action } from "../../access/permission/contract.ts";
import {
  aBoolean,
  aFullList,
  aFunction,
  isObject,
  isText,
  matching,
  membersMistakes,
  buildChoiceCheck,
  optional,
  seen,
  shown,
  buildListCheck,
  wholeFrom,
} from "../../core/checking/members.ts";
import type { ChecksOf } from "../../core/checking/options.ts";
import type { LimitedRequest } from "../../http/request/limiting.ts";
import type { Resource } from "../../resource/resource.ts";

/** A limit on the number of requests. */
export interface RateLimit {
  /** Lower-case words joined by hyphens. Problems and header fields use this name. */
  readonly name: string;
  /**
   * The subject whose requests count together. `address` (IPv6 by /64) is counted before credentials are checked.
   * `user` counts a user, and `credential` one credential of a user. `caller` counts the user, or the address if the
   * caller is anonymous. A function returns the text of the subject synchronously, or null to count nothing. Any other
   * result is an error (500). The requests of an anonymous caller do not count for `user` and `credential`.
   */
  readonly by: "address" | "user" | "credential" | "caller" | ((request: LimitedRequest) => string | null);
  /** The largest number of requests in any period of `windowSeconds`. */
  readonly limit: number;
  readonly windowSeconds: number;
  /**
   * Resources with all of their endpoints, and single endpoints as `"POST /api/token/"` or `"/reports"`. Their requests
   * count together. Default: every endpoint that checks credentials, including logins, but not health or the
   * documentation.
   */
  readonly at?: readonly (Resource | string)[];
  /** Counts only requests with these actions, as permissions get them. Default: all actions. */
  readonly actions?: readonly Action[];
}

/** Options of `rateLimits()`. */
export interface RateLimitsOptions {
  readonly limits: readonly RateLimit[];
  /**
   * True to send the remaining requests in responses: `RateLimit` and `RateLimit-Policy`
   * (draft-ietf-httpapi-ratelimit-headers-11). Default: false.
   */
  readonly fields?: boolean;
  /** The interval at which processes exchange their counts, in milliseconds. Default: 200. */
  readonly exchangeMs?: number;
}

const MAX_LIMIT = 1_000_000_000;
const MAX_WINDOW_SECONDS = 31 * 86_400;

/** The checks of each option. */
export const optionChecks: ChecksOf<RateLimitsOptions> = {
  limits: aFullList,
  fields: optional(aBoolean),
  exchangeMs: optional(wholeFrom(10, 60_000)),
};

const limitChecks: ChecksOf<RateLimit> = {
  name: matching(/^[a-z][a-z0-9-]{0,49}$/, "it has to be lower case with hyphens, like writes-of-a-day"),
  by: seen((value) =>
    typeof value === "function" ? aFunction(value) : buildChoiceCheck("address", "user", "credential", "caller")(value),
  ),
  limit: wholeFrom(1, MAX_LIMIT),
  windowSeconds: wholeFrom(1, MAX_WINDOW_SECONDS),
  at: optional((value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => isText(each) || (isObject(each) && isText(each["path"])))
      ? null
      : 'it has to be a list of resources and endpoints, like [orders, "POST /api/token/"]; a resource as defineResource gives it',
  ),
  actions: optional(buildListCheck(...everyAction)),
};

/** Returns the mistakes in the limits, each with its location. */
export function limitMistakes(options: unknown): readonly string[] {
  const limits = isObject(options) ? options["limits"] : null;
  if (!Array.isArray(limits)) return [];
  return Array.from(limits, (each: unknown, at) => {
    if (!isObject(each)) return [`limits[${at}] is ${shown(each)}, not an object`];
    const { name } = each;
    const isTwice = limits.slice(0, at).some((other) => isObject(other) && other["name"] === name);
    return [...membersMistakes(each, limitChecks), ...(isTwice ? ["the name is there twice; rename one"] : [])].map(
      (mistake) => `limits[${at}]: ${mistake}`,
    );
  }).flat();
}
