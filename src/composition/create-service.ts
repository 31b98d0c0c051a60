import { randomBytes } from "node:crypto";
import { makeChain } from "../access/scheme/chain.ts";
import type { Scheme } from "../access/scheme/scheme.ts";
import { throttleCollections, loginThrottle, type LoginThrottle } from "../access/throttle/throttle.ts";
import type { Arrival } from "../core/call/call.ts";
import { makeClientReader } from "../core/call/client.ts";
import { DeclarationError } from "../core/checking/declaration-error.ts";
import { shown } from "../core/checking/members.ts";
import { made, otherCopiesWithin } from "../core/copy.ts";
import { Secret } from "../core/crypto/secret.ts";
import { parseUUID, uuidMaker } from "../core/crypto/uuid.ts";
import type { Eventually } from "../core/eventually.ts";
import type { Observer } from "../core/observation.ts";
import { clockOf } from "../feature/clock.ts";
import { compose, listsOf } from "../feature/composition.ts";
import { requireDue } from "../feature/due.ts";
import type { Feature, Parts, ServiceFacts } from "../feature/feature.ts";
import { harmless, observerOf, tellAll } from "../feature/observers.ts";
import { startFeatures } from "../feature/starting.ts";
import { startUpkeep } from "../feature/upkeep.ts";
import { printFaults } from "../features/ops/log/print-faults.ts";
import { tracedStore } from "../features/ops/traced-store.ts";
import { stateTags } from "../http/answer/state-tags.ts";
import type { Answer } from "../http/answer/writing.ts";
import { parseBasePath } from "../http/base-path.ts";
import { fetchThrough, type FetchInfo } from "../http/bindings/web/web.ts";
import { makeHeldBodies } from "../http/body/held-bodies.ts";
import { readableBy } from "../http/body/readable.ts";
import { served } from "../http/endpoint/replying.ts";
import { explainWhole, type WholeExplanation } from "../http/explaining.ts";
import { withBuiltIn } from "../http/formats/negotiate.ts";
import { HANDLER_TIMEOUT_SECONDS, InFlight } from "../http/limiting/in-flight.ts";
import { Lines } from "../http/scheduling/lines.ts";
import { MAX_BODY_BYTES } from "../http/limits.ts";
import { makeCursors } from "../http/list/cursors.ts";
import { makeLongReads } from "../http/scheduling/long-reads.ts";
import { SlowLists } from "../http/scheduling/slow-lists.ts";
import { endpointsOf } from "../http/mount/endpoints.ts";
import { explainLists, type ExplainedList } from "../http/mount/explaining.ts";
import type { MountInPlace } from "../http/mount/mount.ts";
import { collectionsOf, placeMounts } from "../http/mount/placing.ts";
import { idempotencyCountsCollection } from "../http/mount/writes/idempotency.ts";
import { respond, type RoutedService } from "../http/pipeline.ts";
import { requestIds } from "../http/request-ids.ts";
import { makeRoutes, type Route } from "../http/routes.ts";
import { readerOf } from "../store/reader.ts";
import type { Collection, Store } from "../store/store.ts";
import { canSetUp, mistakesOf, type ServiceOptions } from "./options.ts";
import { factsOf, findStanding, ownParts, requireFacts, scopesAllowOf, upkeepOf } from "./parts.ts";
import { tellAtStart } from "./telling.ts";

export type { ServiceOptions } from "./options.ts";

/** A service that is ready. Bindings pass requests to it. */
export interface Service {
  /** Answers a request from a binding. Never throws. */
  respond(arrival: Arrival): Eventually<Answer>;
  /** Answers a Fetch `Request`, for frameworks that use it: Hono, Next.js, Deno, a test. */
  fetch(request: Request, info: FetchInfo): Promise<Response>;
  /**
   * Returns true if this address (`/api/books?limit=2`) belongs to the service, for any method. For code that passes on all other requests.
   */
  serves(target: string): boolean;
  /** Explains the result of the schemes for a request, and the decision of its endpoint's permission. It has no other effect. */
  explain(arrival: Arrival): Promise<WholeExplanation>;
  /**
   * Reports the current cost of each list that the declarations allow, for an operator. It reads all of them, one resource after another.
   */
  explainLists(): AsyncGenerator<readonly ExplainedList[]>;
  readonly store: Store;
  readonly routes: readonly Route[];
  /** The authentication schemes. */
  readonly schemes: readonly Scheme[];
  /** The resources. */
  readonly mounts: readonly MountInPlace[];
  /** The path prefix of the service, without a final slash. Empty for the root. */
  readonly basePath: string;
  /** Returns what one of its features offers. Throws a TypeError if the service does not have it. */
  use<Offer>(feature: Feature<Offer>): Offer;
  /** The observer. Bindings report to it what was refused before it became a request. */
  readonly observe: Observer | null;
  /** Returns the time of the service, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns the number of requests in progress. */
  inFlight(): number;
  /** Stops the features and closes the store. Call it after the requests have stopped. */
  close(): Promise<void>;
}

/**
 * Assembles a service, opens its store and starts its features. Throws `DeclarationError` with everything that is missing, wrong or
 * duplicate. In this case, or if a feature cannot start, nothing stays open.
 *
 * @example
 * ```ts
 * import { anyone, createService, defineResource, listen, mount, text } from "latchkey";
 * import { sqliteStore } from "latchkey/stores";
 *
 * const book = defineResource({ name: "book", fields: { title: text({ maxLength: 200 }) } });
 * const service = await createService({
 *   store: sqliteStore({ path: "books.db" }),
 *   mounts: [mount(book, { permission: anyone })],
 * });
 * console.log((await listen(service, { port: 8000 })).url);
 * ```
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const copies = otherCopiesWithin(options, "");
  // Other mistakes would only follow from this one.
  if (copies.length > 0) throw new DeclarationError(copies.map((each) => `createService: ${each}`));
  const mistakes = mistakesOf(options);
  // Without a store, nothing can be set up, so no further mistakes can be found.
  if (!canSetUp(options)) throw new DeclarationError(mistakes);
  const { store } = options;
  if (serving.has(store))
    throw new DeclarationError([
      ...mistakes,
      "createService: store already serves an open service; make a store for each service",
    ]);
  serving.add(store);
  const release = (): void => void serving.delete(store);
  try {
    const service = await putTogether(options, mistakes);
    return made({ ...service, close: () => service.close().finally(release) });
  } catch (error) {
    release();
    throw error;
  }
}

/** The stores of open services. If a store is opened again, its first service loses it. */
const serving = new WeakSet<Store>();

async function putTogether(options: ServiceOptions, mistakes: readonly string[]): Promise<Service> {
  const { tracer = null, ownOrigins = [], name = "api" } = options;
  // A value that is not a secret is reported with the other mistakes.
  const secret = options.secret instanceof Secret ? options.secret : null;
  const store = tracer === null ? options.store : tracedStore(options.store, tracer);
  const throttle = options.throttle ?? loginThrottle({ store, ...(secret === null ? {} : { secret }) });
  const own = ownParts(options);
  const late: { facts?: ServiceFacts } = {};
  const inFlight = new InFlight(options.handlerTimeoutSeconds ?? HANDLER_TIMEOUT_SECONDS);
  const basePath = parseBasePath(String(options.basePath ?? "")) ?? "";
  const observers = options.observe === null ? [] : [harmless(options.observe ?? printFaults(name), name)];
  const tell: Observer = (observation) => tellAll(observers, observation);
  const clock = clockOf(options, tell);
  const { now } = clock;
  const composition = compose(options.features ?? [], own, {
    store,
    secret,
    throttle,
    name,
    basePath,
    ownOrigins,
    tracer,
    observe: tell,
    now,
    service: () => requireFacts(late),
    xml: options.xml !== false,
    mistakes,
  });
  const all = [own, ...composition.inOrder.map(({ parts }) => parts)];
  for (const { observe: each } of [...all, ...(tracer === null ? [] : [tracer])])
    if (each !== undefined) observers.push(harmless(each, name));
  const observe = observerOf(observers);
  const facts = (late.facts = factsOf(all, composition, {
    observe: tell,
    xml: options.xml !== false,
    inFlight: () => inFlight.count,
    clockAheadMs: clock.aheadMs,
    respond: (arrival) => respond(core, arrival),
    explain: (arrival) => explainWhole(core, arrival),
  }));
  const placed = placeMounts(facts.mounts);
  const routes = routesOf(placed, facts, basePath);
  const core = coreOf(
    options,
    { store, throttle, secret, basePath, now, observe, all, facts, use: composition.use, inFlight },
    routes.find,
  );
  const tables = tablesOf(all);
  const upkeep = upkeepOf(composition, throttle);
  requireDue(upkeep, tables, now());
  await store.open(tables);
  tellAtStart(placed, routes.all, { now: now(), observe });
  const stopClock = await clock.start();
  const stop = await startFeatures(composition, { store, observe }).catch((error: unknown) => {
    stopClock();
    throw error;
  });
  const stopUpkeep = startUpkeep(upkeep, { store, observe, now });
  return {
    respond: (arrival) => respond(core, arrival),
    fetch: (request, info) => fetchThrough((arrival) => respond(core, arrival), request, info),
    serves: (target) => routes.find(pathOf(target)) !== null,
    explain: (arrival) => explainWhole(core, arrival),
    explainLists: () => explainLists(store, placed),
    store,
    routes: routes.all,
    schemes: facts.schemes,
    mounts: placed,
    basePath,
    use: composition.use,
    observe,
    now,
    inFlight: () => inFlight.count,
    async close() {
      stopUpkeep();
      stopClock();
      await stop();
    },
  };
}

function routesOf(
  placed: readonly MountInPlace[],
  { endpoints, formats, xml }: ServiceFacts,
  basePath: string,
): ReturnType<typeof makeRoutes> {
  const readable = readableBy(withBuiltIn(formats, xml));
  return makeRoutes([...placed.flatMap(endpointsOf), ...endpoints.map(served)].map(readable), basePath);
}

function pathOf(target: string): string {
  const question = target.indexOf("?");
  return question === -1 ? target : target.slice(0, question);
}

function tablesOf(all: readonly Parts[]): readonly Collection[] {
  const { mounts, collections } = listsOf(all);
  return [...collectionsOf(mounts), ...collections, ...throttleCollections, idempotencyCountsCollection];
}

/** The common parts of the parts of a service. */
interface Common {
  readonly store: Store;
  readonly throttle: LoginThrottle;
  readonly secret: Secret | null;
  readonly basePath: string;
  readonly now: () => number;
  readonly observe: Observer | null;
  readonly all: readonly Parts[];
  readonly facts: ServiceFacts;
  readonly use: RoutedService["use"];
  readonly inFlight: InFlight;
}

function makeUUIDOf({ makeUUID }: ServiceOptions): (now: number) => string {
  const draw = uuidMaker(randomBytes);
  if (makeUUID === undefined) return draw;
  return (now) => {
    const made: unknown = makeUUID(() => draw(now));
    if (typeof made === "string" && parseUUID(made) !== null) return made;
    throw new TypeError(`createService: makeUUID gave ${shown(made)}; it has to give a UUID in lower case`);
  };
}

/** Returns the parts that answer every request of the service. */
function coreOf(options: ServiceOptions, common: Common, find: RoutedService["find"]): RoutedService {
  const { store, throttle, secret, basePath, now, observe, all, facts, use, inFlight } = common;
  const { tracer = null, allowedOrigins = [], ownOrigins = [], name = "api" } = options;
  return {
    find,
    store,
    reader: readerOf(store),
    chain: makeChain({ schemes: facts.schemes, throttle, observe, standing: findStanding(all) }),
    basePath,
    maxBodyBytes: options.maxBodyBytes ?? MAX_BODY_BYTES,
    compression: options.compression ?? true,
    formats: withBuiltIn(facts.formats, facts.xml),
    explainHeader: `x-${name}-explain`,
    callContext: {
      now,
      makeRequestId: requestIds(),
      readClient: makeClientReader(options.trustedProxies ?? []),
      about: { name, allowedOrigins: options.allowedOriginsSetting ?? "allowedOrigins" },
    },
    makeUUID: makeUUIDOf(options),
    cursors: makeCursors((secret ?? new Secret(randomBytes(32))).deriveEach("cursor")),
    stateTag: stateTags(secret?.deriveOldest("etag") ?? new Uint8Array()),
    fingerprintKey: secret?.deriveOldest("idempotency") ?? new Uint8Array(),
    heldBodies: makeHeldBodies(),
    longReads: makeLongReads(),
    slowLists: new SlowLists(),
    lines: new Lines(),
    alongside: all.flatMap(({ alongside = [] }) => alongside),
    scopesAllow: scopesAllowOf(options.scopesAllow === undefined ? all : [options]),
    limiters: all.flatMap(({ limiter }) => limiter ?? []),
    allowsCleartextLogins: options.allowCleartextLogins ?? false,
    hsts: options.hsts ?? "host",
    allowedOrigins,
    sameSiteOrigins: [...allowedOrigins, ...ownOrigins],
    tracer,
    observe,
    use,
    inFlight,
  };
}
