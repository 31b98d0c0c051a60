import { randomBytes } from "node:crypto";
import { makeChain } from "./auth/chain.ts";
import { makeClientReader } from "./auth/client.ts";
import type { Explanation } from "./auth/explanation.ts";
import { guessesCollection, makeGuessing, type Guessing } from "./auth/guessing.ts";
import type { Scheme } from "./auth/scheme.ts";
import { fetchThrough, type FetchInfo } from "./bindings/web/web.ts";
import { Secret } from "./crypto/secret.ts";
import type { Eventually } from "./eventually.ts";
import type { Arrival } from "./http/call.ts";
import type { ScopesAllow } from "./http/core.ts";
import { makeCursors } from "./http/cursors.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { explainArrival } from "./http/explaining.ts";
import type { Format } from "./http/formats/format.ts";
import { json } from "./http/formats/json.ts";
import { xml } from "./http/formats/xml.ts";
import { endpointsOf } from "./http/mount/endpoints.ts";
import { placeMounts, type Mount } from "./http/mount/mount.ts";
import { respond, type RoutedService } from "./http/pipeline.ts";
import { makeRoutes, type Route } from "./http/routes.ts";
import type { Answer } from "./http/writing.ts";
import type { Observer } from "./observation.ts";
import type { Collection, Store } from "./store/store.ts";

/** What a service is made of. */
export interface ServiceOptions {
  /** Where everything is kept. It is opened here and closed with the service. */
  readonly store: Store;
  /** The ways of logging in, as a set: their order never changes an answer. */
  readonly schemes?: readonly Scheme[];
  readonly mounts?: readonly Mount[];
  readonly endpoints?: readonly Endpoint[];
  /** Besides JSON, which is the default, and XML. */
  readonly formats?: readonly Format[];
  /** Tables that are no resource's: sessions, tokens, accounts. */
  readonly collections?: readonly Collection[];
  /**
   * Signs cursors, and keys the fingerprints of repeatable requests. Processes that share a store share it; left out, one is
   * drawn for the cursors of this process, and fingerprints are plain digests, which the next process knows again.
   */
  readonly secret?: Secret;
  /** Counts wrong credentials; 10 a minute for each address where it is left out. */
  readonly guessing?: Guessing;
  /** Exact origins whose pages may call from a browser. */
  readonly allowedOrigins?: readonly string[];
  /** Exact origins of the service itself, besides the one that a request names: the public one, where something in front changes `Host`. */
  readonly ownOrigins?: readonly string[];
  /** Addresses, CIDR ranges or `unix`, whose `X-Forwarded-*` are believed. */
  readonly trustedProxies?: readonly string[];
  /** What a credential that is limited to scopes may ask for at all, before the endpoint's own permission; everything where it is left out. */
  readonly scopesAllow?: ScopesAllow;
  /** Hears what happens. */
  readonly observe?: Observer | null;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** A service that is ready to answer. Bindings bring it requests. */
export interface Service {
  /** Answers what a binding hands over. Never throws. */
  respond(arrival: Arrival): Eventually<Answer>;
  /** Answers a Fetch `Request`, for whatever speaks that: Hono, Next.js, Deno, a test. */
  fetch(request: Request, info?: FetchInfo): Promise<Response>;
  /** What the schemes would make of a request; nothing happens. */
  explain(arrival: Arrival): Eventually<Explanation>;
  readonly store: Store;
  readonly routes: readonly Route[];
  /** How many requests are being answered. */
  inFlight(): number;
  /** Closes the store. Whoever brought requests has stopped before. */
  close(): Promise<void>;
}

/** Puts a service together and opens its store. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { store, schemes = [], observe = null, allowedOrigins = [], ownOrigins = [], now = Date.now } = options;
  const guessing = options.guessing ?? makeGuessing({ store });
  const placed = placeMounts(options.mounts ?? []);
  const routes = makeRoutes([...placed.flatMap(endpointsOf), ...(options.endpoints ?? [])]);
  const core: RoutedService = {
    find: routes.find,
    store,
    chain: makeChain({ schemes, guessing, observe }),
    formats: [json, xml, ...(options.formats ?? [])],
    callContext: { now, makeRequestId: requestIds(), readClient: makeClientReader(options.trustedProxies ?? []) },
    cursors: makeCursors((options.secret ?? new Secret(randomBytes(32))).derive("cursor")),
    fingerprintKey: options.secret?.derive("idempotency") ?? new Uint8Array(),
    scopesAllow: options.scopesAllow ?? null,
    allowedOrigins,
    sameSiteOrigins: [...allowedOrigins, ...ownOrigins],
    observe,
    inFlight: { count: 0 },
  };
  await store.open([...placed.map(({ collection }) => collection), ...(options.collections ?? []), guessesCollection]);
  return {
    respond: (arrival) => respond(core, arrival),
    fetch: (request, info) => fetchThrough((arrival) => respond(core, arrival), request, info),
    explain: (arrival) => explainArrival(core, arrival),
    store,
    routes: routes.all,
    inFlight: () => core.inFlight.count,
    close: () => store.close(),
  };
}

/** Ids that are unique between processes and cost next to nothing: a prefix drawn once, and a count. */
function requestIds(): () => string {
  const prefix = randomBytes(9).toString("base64url");
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}
