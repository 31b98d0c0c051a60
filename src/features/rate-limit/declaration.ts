import { everyAction, type Action } from "../../access/permission/contract.ts";
import {
  aBoolean,
  aFullList,
  aFunction,
  isObject,
  isText,
  matching,
  membersMistakes,
  oneOf,
  optional,
  seen,
  shown,
  someOf,
  wholeFrom,
} from "../../core/checking/members.ts";
import type { ChecksOf } from "../../core/checking/options.ts";
import type { LimitedRequest } from "../../http/limiting/limiting.ts";
import type { Resource } from "../../resource/resource.ts";

/** How often somebody may ask. */
export interface RateLimit {
  /** Lower-case words joined by hyphens; problems and header fields call it by this name. */
  readonly name: string;
  /**
   * Whose requests count together: those of an `address` (IPv6 by /64), counted before credentials are looked at; of a `user`; of one
   * `credential` of a user; of a `caller`, who is the user or else the address. A function gives a text of its own, at once; null: it does not count; anything else is a fault (500).
   * Nobody is no user and has no credential.
   */
  readonly by: "address" | "user" | "credential" | "caller" | ((request: LimitedRequest) => string | null);
  /** How many in any window. */
  readonly limit: number;
  readonly windowSeconds: number;
  /**
   * Resources with all that stands on them, and endpoints as `"POST /api/token/"` or `"/reports"`; together they are one scope. Where it is
   * left out, everything but what looks at no credentials (health, the documentation); logins among it.
   */
  readonly at?: readonly (Resource | string)[];
  /** Only what permissions are asked about as these; everything where it is left out. */
  readonly actions?: readonly Action[];
}

/** Options of `rateLimits()`. */
export interface RateLimitsOptions {
  readonly limits: readonly RateLimit[];
  /** Answers say what is left: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11). False where it is left out. */
  readonly fields?: boolean;
  /** How often processes tell each other what they have counted, in milliseconds; 200 where it is left out. */
  readonly exchangeMs?: number;
}

const MAX_LIMIT = 1_000_000_000;
const MAX_WINDOW_SECONDS = 31 * 86_400;

/** How each option is checked. */
export const optionChecks: ChecksOf<RateLimitsOptions> = {
  limits: aFullList,
  fields: optional(aBoolean),
  exchangeMs: optional(wholeFrom(10, 60_000)),
};

const limitChecks: ChecksOf<RateLimit> = {
  name: matching(/^[a-z][a-z0-9-]{0,49}$/, "it has to be lower case with hyphens, like writes-of-a-day"),
  by: seen((value) =>
    typeof value === "function" ? aFunction(value) : oneOf("address", "user", "credential", "caller")(value),
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
  actions: optional(someOf(...everyAction)),
};

/** What is wrong with the limits, each with its place. */
export function limitMistakes(options: unknown): readonly string[] {
  const limits = isObject(options) ? options["limits"] : null;
  if (!Array.isArray(limits)) return [];
  return Array.from(limits, (each: unknown, at) => {
    if (!isObject(each)) return [`limits[${at}] is ${shown(each)}, and no object`];
    const { name } = each;
    const isTwice = limits.slice(0, at).some((other) => isObject(other) && other["name"] === name);
    return [...membersMistakes(each, limitChecks), ...(isTwice ? ["the name is there twice; rename one"] : [])].map(
      (mistake) => `limits[${at}]: ${mistake}`,
    );
  }).flat();
}
