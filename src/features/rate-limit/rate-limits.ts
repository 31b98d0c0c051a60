import { hash } from "node:crypto";
import { formatNetwork } from "../../core/call/trusted-proxies.ts";
import { atOnce } from "../../core/checking/at-once.ts";
import { isText, describeType } from "../../core/checking/members.ts";
import { requireOptions } from "../../core/checking/options.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import type { Identity } from "../../core/identity.ts";
import { problem } from "../../core/problem/problem.ts";
import { defineFeature, type Feature } from "../../feature/feature.ts";
import type { LimitedRequest, LimitFields, RequestLimiter } from "../../http/request/limiting.ts";
import { defineProblem } from "../../resource/define-problem.ts";
import { requestCounter, requestCountsCollection, type RequestCounter, type CountResult } from "./counter.ts";
import { limitMistakes, optionChecks, type RateLimit, type RateLimitsOptions } from "./declaration.ts";
import { createExchange } from "./exchange.ts";
import { appliesTo, unservedPlaces } from "./limited-endpoints.ts";

export type { RateLimit, RateLimitsOptions } from "./declaration.ts";

/** The problem of a request beyond a limit. */
export const tooManyRequests = defineProblem({
  code: "too_many_requests",
  status: 429,
  title: "Too many requests",
  detail: "Too many requests. Try again later.",
  why: "The requests of an address, a user or a credential have reached a limit.",
  cure: "Wait for the seconds in Retry-After.",
});

interface Limited {
  readonly limit: RateLimit;
  readonly counter: RequestCounter;
}

const NONE: LimitFields = [];
const PRUNE_SECONDS = 60;

/**
 * Limits the number of requests, for all processes of a store together. A request beyond a limit gets 429 with
 * `Retry-After`. Each process counts in memory and exchanges its counts with the others. It shares the count of a
 * subject each time the count has grown by a twentieth of the limit. If the store does not answer, each process counts
 * alone.
 *
 * @example
 * ```ts
 * import { rateLimits } from "latchkey/features";
 *
 * const limits = [{ name: "burst", by: "address", limit: 600, windowSeconds: 60 }] as const;
 * export const features = [rateLimits({ limits, fields: true })];
 * ```
 */
export function rateLimits(options: RateLimitsOptions): Feature<null> {
  return defineFeature({
    name: "rate-limits",
    setUp({ store, observe, now }) {
      requireOptions(options, optionChecks, { more: limitMistakes(options) });
      const { limits, fields = false, exchangeMs = 200 } = options;
      const all = limits.map((limit): Limited => ({ limit, counter: requestCounter(store, limit) }));
      const exchange = createExchange({ store, observe, now, counters: all.map(({ counter }) => counter) });
      let timer: NodeJS.Timeout | undefined;
      return {
        offer: null,
        collections: [requestCountsCollection],
        problems: [tooManyRequests],
        limiter: createLimiter(all, fields),
        mistakes: (assembled) => unservedPlaces(limits, assembled),
        upkeep: [
          {
            everySeconds: PRUNE_SECONDS,
            due: (time) => {
              const where = { column: "ends_at", operator: "lte", value: time } as const;
              return [{ kind: "deleteAll", collection: requestCountsCollection, where }];
            },
          },
        ],
        start() {
          timer = setInterval(() => void exchange.writePortion(), exchangeMs).unref();
        },
        async stop() {
          clearInterval(timer);
          await exchange.writeAll();
        },
      };
    },
  });
}

function createLimiter(all: readonly Limited[], sendsFields: boolean): RequestLimiter {
  const early = all.filter(({ limit }) => limit.by === "address");
  const late = all.filter(({ limit }) => limit.by !== "address");

  function takeAll(
    some: readonly Limited[],
    request: LimitedRequest,
    count = 1,
    fields: LimitFields = NONE,
  ): Eventually<LimitFields> {
    const [first, ...others] = some;
    if (first === undefined) return fields;
    const subject = appliesTo(first.limit, request.endpoint) ? findSubject(first.limit, request) : null;
    if (subject === null) return others.length === 0 ? fields : takeAll(others, request, count, fields);
    return after(first.counter.take(subject, request.call.now, count), (taken) => {
      const allFields = sendsFields ? [...fields, ...formatFields(first.limit, taken)] : fields;
      if (taken.isAllowed) return takeAll(others, request, count, allFields);
      throw count >= first.limit.limit ? tooLong(first.limit, count + 1) : refusal(first.limit, taken, allFields);
    });
  }

  return {
    arriving: (request) => (early.length === 0 ? NONE : takeAll(early, request)),
    settled: (request, arrived) =>
      takeAll(
        early.filter(({ limit }) => !appliesTo(limit, arrived)),
        request,
      ),
    identified: (request) => (late.length === 0 ? NONE : takeAll(late, request)),
    records: (request, more) => takeAll([...early, ...late], request, more),
  };
}

function findSubject({ name, by }: RateLimit, request: LimitedRequest): string | null {
  const { call, identity } = request;
  const address = (): string => `address ${formatNetwork(call.client.address)}`;
  if (typeof by === "function") return ownSubject(name, by(request));
  switch (by) {
    case "address":
      return address();
    case "user":
      return identity === null ? null : `user ${identity.id}`;
    case "credential":
      return identity === null ? null : formatCredential(identity);
    case "caller":
      return identity === null ? address() : `user ${identity.id}`;
  }
}

function formatCredential({ id, scheme, keyId, sessionId, family }: Identity): string {
  return `user ${id} ${scheme} ${keyId ?? sessionId ?? family ?? ""}`;
}

/**
 * Checks the result of a custom function. Replaces a long text by its digest, because a caller may control the text.
 */
function ownSubject(limit: string, value: unknown): string | null {
  const who = `by of the limit ${limit}`;
  const subject = atOnce(value, who);
  if (subject === null) return null;
  if (!isText(subject)) throw new TypeError(`${who} gave ${describeType(subject)}; it has to give a text, or null`);
  return subject.length <= 100 ? subject : hash("sha256", subject, "base64url");
}

function formatFields(
  { name, limit, windowSeconds }: RateLimit,
  { remaining, resetSeconds }: CountResult,
): LimitFields {
  return [
    ["RateLimit-Policy", `"${name}";q=${limit};w=${windowSeconds}`],
    ["RateLimit", `"${name}";r=${remaining};t=${resetSeconds}`],
  ];
}

function refusal({ name, limit, windowSeconds }: RateLimit, { retrySeconds }: CountResult, fields: LimitFields): Error {
  return problem(tooManyRequests, {
    detail: `The limit ${name} is used up: ${limit} requests in ${windowSeconds} seconds.`,
    headers: [["Retry-After", String(retrySeconds)], ...fields],
  });
}

/** The problem for an array with more records than the limit, which can never succeed. */
function tooLong({ name, limit, windowSeconds }: RateLimit, records: number): Error {
  return problem(tooManyRequests, {
    detail: `The limit ${name} is ${limit} records in ${windowSeconds} seconds, and the array has ${records}. Send fewer records at once.`,
  });
}
