import { type LoginThrottle } from "../access/throttle/throttle.ts";
import { proxyList } from "../core/call/trusted-proxies.ts";
import {
  aBoolean,
  aFunction,
  aList,
  anything,
  type Check,
  isObject,
  matching,
  membersMistakes,
  objectWith,
  oneOf,
  optional,
  orNull,
  seen,
  shownWithoutText,
  sortOf,
  text,
  wholeFrom,
} from "../core/checking/members.ts";
import { secretMistakes, type Secret } from "../core/crypto/secret.ts";
import { origins } from "../core/headers/origin.ts";
import type { Observer } from "../core/observation.ts";
import { aTracer } from "../core/tracer.ts";
import type { Tracer } from "../core/tracer.ts";
import { partsLists } from "../feature/composition.ts";
import type { Feature, ServiceParts } from "../feature/feature.ts";
import { aBasePath } from "../http/base-path.ts";
import type { ScopesAllow } from "../http/core.ts";
import { MAX_BODY_BYTES } from "../http/limits.ts";
import { aStore } from "../store/checking.ts";
import type { Store } from "../store/store.ts";

/** What a service is made of. */
export interface ServiceOptions extends ServiceParts {
  /**
   * What callers are told that it is called, in lower case with hyphens; `api` where it is left out. The realm of challenges, the issuer of
   * its tokens, the first part of the names of its metrics, and `X-<name>-Explain`.
   */
  readonly name?: string;
  /** Where everything is kept. It is opened here and closed with the service. */
  readonly store: Store;
  /** What the service can do, in any order: each is set up, started after those that it needs, and stopped before them. */
  readonly features?: readonly Feature[];
  /** Answers and bodies may be XML too; true where it is left out. Without it `Accept: application/xml` is 406, and such a body 415. */
  readonly xml?: boolean;
  /**
   * Signs cursors, and keys the fingerprints of repeatable requests and the ETags of records. Processes that share a store share it. Left
   * out, one is drawn for the cursors of this process; fingerprints and ETags are plain digests, which the next process knows again and from
   * which a caller can find out how much is written. At least 32 bytes.
   */
  readonly secret?: Secret;
  /** Counts wrong credentials; 10 a minute for each address where it is left out. */
  readonly throttle?: LoginThrottle;
  /** Exact origins whose pages may call from a browser. */
  readonly allowedOrigins?: readonly string[];
  /** What an operator sets those with, for whoever is told that theirs is none; `allowedOrigins` where it is left out. */
  readonly allowedOriginsSetting?: string;
  /** Over TLS browsers are told to stay there (HSTS): for this `host` alone, which it is where it is left out, or for all `subdomains` too. */
  readonly hsts?: "host" | "subdomains";
  /** Exact origins of the service itself, besides the one that a request names: the public one, where something in front changes `Host`. */
  readonly ownOrigins?: readonly string[];
  /** Addresses, CIDR ranges or `unix`, whose `X-Forwarded-*` are believed. */
  readonly trustedProxies?: readonly string[];
  /** What a credential that is limited to scopes may ask for at all, before the endpoint's own permission; everything where it is left out. */
  readonly scopesAllow?: ScopesAllow;
  /** Everything is served below it (`/api/v1`), links and documents included; what is outside of it is 404. A proxy or framework hands the whole path on. */
  readonly basePath?: string;
  /** The largest body that an endpoint takes which names no `maxBodyBytes` of its own; 1 MiB, which is the most there is, where it is left out. */
  readonly maxBodyBytes?: number;
  /**
   * How long code of one's own may take with a request, its hooks, handlers, schemes and formats together; 60 where it is left out. Then the
   * caller gets 503, the fault names what is not done, and nothing of it is written any more. The time in which a body arrives does not count.
   */
  readonly handlerTimeoutSeconds?: number;
  /** Bodies of 1 KiB and more are compressed for whoever asks for it; `true` where it is left out. */
  readonly compression?: boolean;
  /** Lets endpoints with `logsIn` be called from other hosts over cleartext, where whoever is on the way reads along. */
  readonly allowCleartextLogins?: boolean;
  /** Follows requests through their parts, as `await openTelemetry()` does. */
  readonly tracer?: Tracer | null;
  /** Hears what happens. Left out, faults and errors are printed on standard error, with their stack; null: nobody is told. */
  readonly observe?: Observer | null;
  /** Milliseconds since the epoch. Left out, the machine's clock, corrected by the store's where that has one of its own. */
  readonly now?: () => number;
  /**
   * Makes the id of a new record whose resource has `id: "uuid"`. `draw` draws a UUID of version 7 (RFC 9562 §5.7). Default: `draw`. A value
   * that is not a UUID in lower case is a fault, and the request gets 500.
   */
  readonly makeUUID?: (draw: () => string) => string;
}

/** Its options, each with what is told of a value that is none; what stands in the lists of parts is told with the parts. */
const serviceOptions: Readonly<Record<keyof ServiceOptions, Check>> = {
  name: optional(matching(/^[a-z][a-z0-9-]{0,39}$/, "it has to be lower case with hyphens, like book-shop")),
  allowedOriginsSetting: optional(text),
  store: aStore,
  features: optional(aList),
  ...partsLists,
  xml: optional(aBoolean),
  secret: anything,
  throttle: optional(
    objectWith("a throttle, like loginThrottle({ store })", "check", "fail", "look", "pass", "isKnown"),
  ),
  allowedOrigins: optional(origins),
  hsts: optional(oneOf("host", "subdomains")),
  ownOrigins: optional(origins),
  trustedProxies: optional(seen(proxyList)),
  scopesAllow: optional(aFunction),
  basePath: optional(aBasePath),
  maxBodyBytes: optional(wholeFrom(1, MAX_BODY_BYTES)),
  handlerTimeoutSeconds: optional(wholeFrom(1, 3600)),
  compression: optional(aBoolean),
  allowCleartextLogins: optional(aBoolean),
  tracer: optional(orNull(aTracer)),
  observe: optional(orNull(aFunction)),
  now: optional(aFunction),
  makeUUID: optional(aFunction),
};

/** Whether features can be set up with what there is, so that their mistakes are told too. */
export function canSetUp(options: unknown): options is ServiceOptions {
  const needed = ["store", "features", "throttle", "tracer"] as const;
  return isObject(options) && needed.every((name) => serviceOptions[name](options[name]) === null);
}

export function mistakesOf(options: ServiceOptions): readonly string[] {
  const given: unknown = options;
  if (!isObject(given))
    return [`createService: its options are ${shownWithoutText(given)}; write createService({ store, mounts })`];
  const mistakes = [
    ...membersMistakes({ ...options }, serviceOptions),
    ...secretMistakes(options.secret),
    ...clockMistakes(options.now),
  ];
  return mistakes.map((mistake) => `createService: ${mistake}`);
}

/** Time is read with every request, so reading it once more does nothing. */
function clockMistakes(now: (() => unknown) | undefined): readonly string[] {
  if (typeof now !== "function") return [];
  const given = now();
  return Number.isFinite(given)
    ? []
    : [`now gave ${sortOf(given)}; it has to give milliseconds since the epoch at once`];
}
