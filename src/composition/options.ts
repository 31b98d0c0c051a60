import { type LoginThrottle } from "../access/throttle/throttle.ts";
import { proxyList } from "../core/call/trusted-proxies.ts";
import {
  aBoolean,
  aFunction,
  aList,
  anything,
  type ValueCheck,
  isObject,
  matching,
  membersMistakes,
  objectWith,
  buildChoiceCheck,
  optional,
  orNull,
  seen,
  shownWithoutText,
  describeType,
  text,
  wholeFrom,
} from "../core/checking/members.ts";
import { secretMistakes, type Secret } from "../core/crypto/secret.ts";
import { origins } from "../core/headers/origin.ts";
import type { Observer } from "../core/observation.ts";
import { aTracer } from "../core/tracer.ts";
import type { Tracer } from "../core/tracer.ts";
import type { Feature, ServiceParts } from "../feature/feature.ts";
import { partsLists } from "../feature/parts-checks.ts";
import { aBasePath } from "../http/base-path.ts";
import { MAX_BODY_BYTES } from "../http/limits.ts";
import type { ScopesAllow } from "../http/request/core.ts";
import { aStore } from "../store/checking.ts";
import type { Store } from "../store/store.ts";

/** The options of a service. */
export interface ServiceOptions extends ServiceParts {
  /**
   * The public name, in lower case with hyphens. Default: `api`. It is the realm of challenges, the issuer of tokens,
   * the first part of metric names, and part of `X-<name>-Explain`.
   */
  readonly name?: string;
  /** The store for all data. It is opened here and closed with the service. */
  readonly store: Store;
  /** The features, in any order. Each one starts after the features that it needs, and stops before them. */
  readonly features?: readonly Feature[];
  /**
   * True if responses and bodies may also be XML. Default: true. If false, `Accept: application/xml` gives 406, and an
   * XML body 415.
   */
  readonly xml?: boolean;
  /**
   * Signs cursors. Also the key for the fingerprints of repeatable requests and for the ETags of records. At least 32
   * bytes. Processes with the same store need the same secret. If it is left out, this process signs cursors with a
   * random secret. Fingerprints and ETags are then plain digests. Processes without a secret make the same digests, but
   * a caller can work out the number of writes from the ETags.
   */
  readonly secret?: Secret;
  /**
   * Counts wrong credentials. Default: `loginThrottle({ store })`, which allows 10 a minute for each address and each
   * account.
   */
  readonly throttle?: LoginThrottle;
  /** The exact origins whose pages may call from a browser. */
  readonly allowedOrigins?: readonly string[];
  /** The name of the setting for `allowedOrigins` in error messages. Default: `allowedOrigins`. */
  readonly allowedOriginsSetting?: string;
  /** The scope of HSTS, which makes browsers use TLS: only this `host` (default), or also all `subdomains`. */
  readonly hsts?: "host" | "subdomains";
  /**
   * The exact origins of the service itself, in addition to the origin that a request names. Needed if a proxy changes
   * `Host`.
   */
  readonly ownOrigins?: readonly string[];
  /** The trusted proxies: addresses, CIDR ranges or `unix`. Their `X-Forwarded-*` headers are used. */
  readonly trustedProxies?: readonly string[];
  /**
   * Decides which methods a credential with limited scopes may use, before the endpoint's permission decides. Default:
   * the rules of the features.
   */
  readonly scopesAllow?: ScopesAllow;
  /**
   * The path prefix of all endpoints (`/api/v1`), also in links and documents. Any other path gives 404. A proxy or
   * framework must pass the whole path.
   */
  readonly basePath?: string;
  /**
   * The largest body of an endpoint without its own `maxBodyBytes`. In bytes. Default: 1 MiB, which is also the
   * maximum.
   */
  readonly maxBodyBytes?: number;
  /**
   * The time limit for custom code in one request: its hooks, handlers, schemes and formats together. In seconds.
   * Default: 60. After this time, the caller gets 503, the unfinished work writes nothing, and the fault in the log
   * names the unfinished code. The time in which a body arrives does not count.
   */
  readonly handlerTimeoutSeconds?: number;
  /** True if bodies of 1 KiB and more are compressed for callers that accept it. Default: `true`. */
  readonly compression?: boolean;
  /**
   * True to allow logins (`logsIn`) from other hosts over cleartext. Other people on the network can then read the
   * passwords. Default: false.
   */
  readonly allowCleartextLogins?: boolean;
  /** Traces requests and their parts, as `await openTelemetry()` does. */
  readonly tracer?: Tracer | null;
  /**
   * Receives all observations. Default: prints faults and errors to standard error, with their stack. Null: reports
   * nothing.
   */
  readonly observe?: Observer | null;
  /**
   * Returns milliseconds since the epoch. Default: the machine's clock, corrected by the store's clock if it has one.
   */
  readonly now?: () => number;
  /**
   * Makes the id of a new record whose resource has `id: "uuid"`. It may call `draw`, which returns a UUID of version 7
   * (RFC 9562 §5.7). Default: uses `draw`. A value that is not a UUID in lower case is a fault, and the request gets
   * 500.
   */
  readonly makeUUID?: (draw: () => string) => string;
}

/** The checks of the options. `compose` checks the elements of `mounts`, `endpoints` and the other lists of parts. */
const serviceOptions: Readonly<Record<keyof ServiceOptions, ValueCheck>> = {
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
  hsts: optional(buildChoiceCheck("host", "subdomains")),
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

/** Returns true if features can be set up with these options. The mistakes of the features can then be reported too. */
export function canSetUp(options: unknown): options is ServiceOptions {
  const needed = ["store", "features", "throttle", "tracer"] as const;
  return isObject(options) && needed.every((name) => serviceOptions[name](options[name]) === null);
}

/** Returns the mistakes in the options, each with its fix. */
export function collectMistakes(options: ServiceOptions): readonly string[] {
  const input: unknown = options;
  if (!isObject(input))
    return [`createService: its options are ${shownWithoutText(input)}; write createService({ store, mounts })`];
  const mistakes = [
    ...membersMistakes({ ...options }, serviceOptions),
    ...secretMistakes(options.secret),
    ...clockMistakes(options.now),
  ];
  return mistakes.map((mistake) => `createService: ${mistake}`);
}

/** Checks the clock by reading it once. */
function clockMistakes(now: (() => unknown) | undefined): readonly string[] {
  if (typeof now !== "function") return [];
  const time = now();
  return Number.isFinite(time)
    ? []
    : [`now gave ${describeType(time)}; it has to give milliseconds since the epoch at once`];
}
