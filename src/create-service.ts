import { randomBytes } from "node:crypto";
import { makeChain } from "./auth/chain.ts";
import { makeClientReader } from "./auth/client.ts";
import type { Explanation } from "./auth/explanation.ts";
import { guessingCollections, makeGuessing, type AccountGuessing } from "./auth/guessing.ts";
import type { Scheme } from "./auth/scheme.ts";
import { fetchThrough, type FetchInfo } from "./bindings/web/web.ts";
import {
  aBoolean,
  aFunction,
  anObject,
  anything,
  membersMistakes,
  oneOf,
  optional,
  origins,
  texts,
  type Check,
} from "./checking/members.ts";
import { Secret, secretMistakes } from "./crypto/secret.ts";
import type { Eventually } from "./eventually.ts";
import { problemsOf } from "./feature/clashes.ts";
import { clockOf } from "./feature/clock.ts";
import { compose } from "./feature/composition.ts";
import type { Feature, Parts, ServiceFacts } from "./feature/feature.ts";
import { startFeatures } from "./feature/starting.ts";
import { startUpkeep } from "./feature/upkeep.ts";
import { requireBasePath } from "./http/base-path.ts";
import type { Arrival } from "./http/call.ts";
import type { ScopesAllow } from "./http/core.ts";
import { makeCursors } from "./http/cursors.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { explainArrival } from "./http/explaining.ts";
import type { Format } from "./http/formats/format.ts";
import { json } from "./http/formats/json.ts";
import { xml } from "./http/formats/xml.ts";
import { makeHeldBodies } from "./http/held-bodies.ts";
import { makeLongReads } from "./http/long-reads.ts";
import { endpointsOf } from "./http/mount/endpoints.ts";
import { explainLists, type ExplainedList } from "./http/mount/explaining.ts";
import { repeatCountsCollection } from "./http/mount/idempotency.ts";
import { placeMounts, type Mount } from "./http/mount/mount.ts";
import { scansOf } from "./http/mount/shapes.ts";
import { respond, type RoutedService } from "./http/pipeline.ts";
import { makeRoutes, type Route } from "./http/routes.ts";
import type { Answer } from "./http/writing.ts";
import type { Observation, Observer } from "./observation.ts";
import { printFaults } from "./ops/print-faults.ts";
import { tracedStore } from "./ops/traced-store.ts";
import { readerOf } from "./store/reader.ts";
import type { Collection, Store } from "./store/store.ts";
import type { Tracer } from "./tracer.ts";

/** What a service is made of. */
export interface ServiceOptions {
  /** Where everything is kept. It is opened here and closed with the service. */
  readonly store: Store;
  /** What the service can do, in any order: each is set up, started after those that it needs, and stopped before them. */
  readonly features?: readonly Feature[];
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
   * drawn for the cursors of this process, and fingerprints are plain digests, which the next process knows again. At least 32 bytes.
   */
  readonly secret?: Secret;
  /** Counts wrong credentials; 10 a minute for each address where it is left out. */
  readonly guessing?: AccountGuessing;
  /** Exact origins whose pages may call from a browser. */
  readonly allowedOrigins?: readonly string[];
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
}

/** Its options, each with what is told of a value that is none; what stands in the lists of parts is told with the parts. */
const serviceOptions: Readonly<Record<keyof ServiceOptions, Check>> = {
  store: anObject,
  features: anything,
  schemes: anything,
  mounts: anything,
  endpoints: anything,
  formats: anything,
  collections: anything,
  secret: anything,
  guessing: optional(anObject),
  allowedOrigins: optional(origins),
  hsts: optional(oneOf("host", "subdomains")),
  ownOrigins: optional(origins),
  trustedProxies: optional(texts),
  scopesAllow: optional(aFunction),
  basePath: anything,
  compression: optional(aBoolean),
  allowCleartextLogins: optional(aBoolean),
  tracer: anything,
  observe: anything,
  now: optional(aFunction),
};

/** A service that is ready to answer. Bindings bring it requests. */
export interface Service {
  /** Answers what a binding hands over. Never throws. */
  respond(arrival: Arrival): Eventually<Answer>;
  /** Answers a Fetch `Request`, for whatever speaks that: Hono, Next.js, Deno, a test. */
  fetch(request: Request, info: FetchInfo): Promise<Response>;
  /** What the schemes would make of a request; nothing happens. */
  explain(arrival: Arrival): Eventually<Explanation>;
  /** What each list that the declarations permit costs today, for an operator: it asks for all of them, a resource after another. */
  explainLists(): AsyncGenerator<readonly ExplainedList[]>;
  readonly store: Store;
  readonly routes: readonly Route[];
  /** The path below which it stands, without a slash at its end; empty for the root. */
  readonly basePath: string;
  /** What one of its features offers. Throws a TypeError where it is none. */
  use<Offer>(feature: Feature<Offer>): Offer;
  /** Who hears what happens: bindings tell what was refused before it was a request. */
  readonly observe: Observer | null;
  /** The time as the service has it, in milliseconds since the epoch. */
  readonly now: () => number;
  /** How many requests are being answered. */
  inFlight(): number;
  /** Stops the features and closes the store. Whoever brought requests has stopped before. */
  close(): Promise<void>;
}

/**
 * Puts a service together, opens its store and starts its features. Throws `DeclarationError` with everything that is missing, wrong or
 * there twice; then, and where a feature cannot start, nothing is left open.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { tracer = null, allowedOrigins = [], ownOrigins = [] } = options;
  // What is none is told with everything else.
  const secret = options.secret instanceof Secret ? options.secret : null;
  const store = tracer === null ? options.store : tracedStore(options.store, tracer);
  const guessing = options.guessing ?? makeGuessing({ store, ...(secret === null ? {} : { secret }) });
  const own = ownParts(options);
  const late: { facts?: ServiceFacts } = {};
  const basePath = requireBasePath(options.basePath ?? "");
  const observers: Observer[] = options.observe === null ? [] : [options.observe ?? printFaults];
  const clock = clockOf(options, (observation) => tellAll(observers, observation));
  const { now } = clock;
  const composition = compose(options.features ?? [], own, {
    store,
    secret,
    guessing,
    basePath,
    ownOrigins,
    tracer,
    observe: (observation) => tellAll(observers, observation),
    now,
    service: () => requireFacts(late),
    mistakes: [...membersMistakes({ ...options }, serviceOptions), ...secretMistakes(options.secret)].map(
      (mistake) => `createService: ${mistake}`,
    ),
  });
  const all = [own, ...composition.inOrder.map(({ parts }) => parts)];
  observers.push(...all.flatMap((parts) => parts.observe ?? []), ...(tracer === null ? [] : [tracer.observe]));
  const observe = observerOf(observers);
  const facts = (late.facts = factsOf(all, () => core.inFlight.count, clock.aheadMs));
  const placed = placeMounts(facts.mounts);
  const routes = makeRoutes([...placed.flatMap(endpointsOf), ...facts.endpoints], basePath);
  const core: RoutedService = {
    find: routes.find,
    store,
    reader: readerOf(store),
    chain: makeChain({ schemes: facts.schemes, guessing, observe }),
    basePath,
    compression: options.compression ?? true,
    formats: [json, xml, ...facts.formats],
    callContext: { now, makeRequestId: requestIds(), readClient: makeClientReader(options.trustedProxies ?? []) },
    cursors: makeCursors((secret ?? new Secret(randomBytes(32))).deriveEach("cursor")),
    fingerprintKey: secret?.deriveOldest("idempotency") ?? new Uint8Array(),
    heldBodies: makeHeldBodies(),
    longReads: makeLongReads(),
    alongside: all.flatMap(({ alongside = [] }) => alongside),
    scopesAllow: options.scopesAllow ?? scopesAllowOf(all),
    allowsCleartextLogins: options.allowCleartextLogins ?? false,
    hsts: options.hsts ?? "host",
    allowedOrigins,
    sameSiteOrigins: [...allowedOrigins, ...ownOrigins],
    tracer,
    observe,
    use: composition.use,
    inFlight: { count: 0 },
  };
  await store.open([
    ...placed.map(({ collection }) => collection),
    ...all.flatMap(({ collections = [] }) => collections),
    ...guessingCollections,
    repeatCountsCollection,
  ]);
  for (const mount of placed) {
    const message = scansOf(mount);
    if (message !== null) observe?.({ kind: "notice", level: "info", message });
  }
  const stopClock = await clock.start();
  const stop = await startFeatures(composition, store);
  const stopUpkeep = startUpkeep(
    [{ everySeconds: 60, due: (time) => guessing.due?.(time) ?? [] }, ...all.flatMap(({ upkeep = [] }) => upkeep)],
    { store, observe, now },
  );
  return {
    respond: (arrival) => respond(core, arrival),
    fetch: (request, info) => fetchThrough((arrival) => respond(core, arrival), request, info),
    explain: (arrival) => explainArrival(core, arrival),
    explainLists: () => explainLists(store, placed),
    store,
    routes: routes.all,
    basePath,
    use: composition.use,
    observe,
    now,
    inFlight: () => core.inFlight.count,
    async close() {
      stopUpkeep();
      stopClock();
      await stop();
    },
  };
}

/** What stands in no feature. */
function ownParts({
  schemes = [],
  mounts = [],
  endpoints = [],
  formats = [],
  collections = [],
}: ServiceOptions): Parts {
  return { offer: null, schemes, mounts, endpoints, formats, collections };
}

function factsOf(all: readonly Parts[], inFlight: () => number, clockAheadMs: () => number): ServiceFacts {
  return {
    schemes: all.flatMap(({ schemes = [] }) => schemes),
    mounts: all.flatMap(({ mounts = [] }) => mounts),
    endpoints: all.flatMap(({ endpoints = [] }) => endpoints),
    formats: all.flatMap(({ formats = [] }) => formats),
    tags: Object.assign({}, ...all.map(({ tags = {} }) => tags).toReversed()) as Readonly<Record<string, string>>,
    problems: [...new Set(all.flatMap(problemsOf))],
    inFlight,
    clockAheadMs,
    measure: () => all.flatMap(({ measure }) => measure?.() ?? []),
  };
}

/** One function for all who hear; null where nobody does, so that nothing is measured for nobody. */
function observerOf(observers: readonly Observer[]): Observer | null {
  if (observers.length < 2) return observers[0] ?? null;
  return (observation) => tellAll(observers, observation);
}

function tellAll(observers: readonly Observer[], observation: Observation): void {
  for (const observe of observers) observe(observation);
}

/** What all features allow alike; null where none limits anything. */
function scopesAllowOf(all: readonly Parts[]): ScopesAllow | null {
  const rules = all.flatMap((parts) => parts.scopesAllow ?? []);
  return rules.length === 0 ? null : (scopes, method) => rules.every((allow) => allow(scopes, method));
}

function requireFacts({ facts }: { readonly facts?: ServiceFacts }): ServiceFacts {
  if (facts !== undefined) return facts;
  throw new TypeError(
    "The service is known once every feature is set up: ask for it in a handler, in start or in stop.",
  );
}

/** Ids that are unique between processes and cost next to nothing: a prefix drawn once, and a count. */
function requestIds(): () => string {
  const prefix = randomBytes(9).toString("base64url");
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}
