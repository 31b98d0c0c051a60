import { randomBytes } from "node:crypto";
import { makeSchemeSet } from "../access/scheme/scheme-set.ts";
import { throttleCollections, loginThrottle, type LoginThrottle } from "../access/throttle/throttle.ts";
import { makeClientReader } from "../core/call/client.ts";
import { shown } from "../core/checking/members.ts";
import { Secret } from "../core/crypto/secret.ts";
import { parseUUID, uuidMaker } from "../core/crypto/uuid.ts";
import type { Observer } from "../core/observation.ts";
import { chooseClock } from "../feature/clock.ts";
import { compose, combineLists } from "../feature/composition.ts";
import { requireDue } from "../feature/due.ts";
import type { Parts, ServiceFacts } from "../feature/feature.ts";
import { guardObserver, combineObservers, notifyAll } from "../feature/observers.ts";
import { printFaults } from "../features/ops/log/print-faults.ts";
import { tracedStore } from "../features/ops/traced-store.ts";
import { parseBasePath } from "../http/base-path.ts";
import { readableBy } from "../http/body/readable.ts";
import type { ServedMount } from "../http/declarations/mount.ts";
import { served } from "../http/declarations/replying.ts";
import { makeRoutes } from "../http/declarations/routes.ts";
import { explainWhole } from "../http/explaining.ts";
import { withBuiltIn } from "../http/formats/negotiate.ts";
import { MAX_BODY_BYTES } from "../http/limits.ts";
import { buildEndpoints } from "../http/mount/endpoints.ts";
import { collectCollections, placeMounts } from "../http/mount/placing.ts";
import { idempotencyCountsCollection } from "../http/mount/writes/idempotency.ts";
import { respond, type RoutedService } from "../http/pipeline.ts";
import { requestIds } from "../http/request-ids.ts";
import { makeCursors } from "../http/request/cursors.ts";
import { makeHeldBodies } from "../http/request/held-bodies.ts";
import { HANDLER_TIMEOUT_SECONDS, InFlight } from "../http/request/in-flight.ts";
import { makeRevisionTags, tagFormsCollection } from "../http/request/revision-tags.ts";
import { stateTags } from "../http/request/state-tags.ts";
import { Lines } from "../http/scheduling/lines.ts";
import { makeLongReads } from "../http/scheduling/long-reads.ts";
import { SlowLists } from "../http/scheduling/slow-lists.ts";
import { createStoreReader } from "../store/reader.ts";
import type { Collection, Store } from "../store/store.ts";
import { type ServiceOptions } from "./options.ts";
import { buildFacts, findAssuranceCheck, ownParts, requireFacts, joinScopeLimits, collectUpkeep } from "./parts.ts";

/** The parts of a service before its start. */
export type Assembly = ReturnType<typeof assembleParts>;

/** Puts the parts of a service together. Does not open the store, and starts no feature. */
export function assembleParts(options: ServiceOptions, mistakes: readonly string[]) {
  const { tracer = null, ownOrigins = [], name = "api" } = options;
  // A value that is not a secret is reported with the other mistakes.
  const secret = options.secret instanceof Secret ? options.secret : null;
  const store = tracer === null ? options.store : tracedStore(options.store, tracer);
  const throttle = options.throttle ?? loginThrottle({ store, ...(secret === null ? {} : { secret }) });
  const own = ownParts(options);
  const late: { facts?: ServiceFacts } = {};
  const inFlight = new InFlight(options.handlerTimeoutSeconds ?? HANDLER_TIMEOUT_SECONDS);
  const basePath = parseBasePath(String(options.basePath ?? "")) ?? "";
  const observers = options.observe === null ? [] : [guardObserver(options.observe ?? printFaults(name), name)];
  const notifyObservers: Observer = (observation) => notifyAll(observers, observation);
  const clock = chooseClock(options, notifyObservers);
  const { now } = clock;
  const composition = compose(options.features ?? [], own, {
    store,
    secret,
    throttle,
    name,
    basePath,
    ownOrigins,
    tracer,
    observe: notifyObservers,
    now,
    service: () => requireFacts(late),
    xml: options.xml !== false,
    mistakes,
  });
  const all = [own, ...composition.inOrder.map(({ parts }) => parts)];
  for (const { observe: each } of [...all, ...(tracer === null ? [] : [tracer])])
    if (each !== undefined) observers.push(guardObserver(each, name));
  const observe = combineObservers(observers);
  const facts = (late.facts = buildFacts(all, composition, {
    observe: notifyObservers,
    xml: options.xml !== false,
    servedMounts: () => mounts,
    inFlight: () => inFlight.count,
    clockAheadMs: clock.aheadMs,
    respond: (arrival) => respond(core, arrival),
    explain: (arrival) => explainWhole(core, arrival),
  }));
  const mounts = placeMounts(facts.mounts);
  const routes = buildRoutes(mounts, facts, basePath);
  const core = createCore(
    options,
    { store, throttle, secret, basePath, now, observe, all, facts, use: composition.use, inFlight },
    routes.find,
  );
  const tables = collectTables(all, mounts);
  const upkeep = collectUpkeep(composition, throttle);
  requireDue(upkeep, tables, now());
  return { store, basePath, inFlight, now, clock, observe, composition, facts, mounts, routes, core, tables, upkeep };
}

function buildRoutes(
  mounts: readonly ServedMount[],
  { endpoints, formats, xml }: ServiceFacts,
  basePath: string,
): ReturnType<typeof makeRoutes> {
  const readable = readableBy(withBuiltIn(formats, xml));
  return makeRoutes([...mounts.flatMap(buildEndpoints), ...endpoints.map(served)].map(readable), basePath);
}

function collectTables(all: readonly Parts[], mounts: readonly ServedMount[]): readonly Collection[] {
  const { collections } = combineLists(all);
  return [
    ...collectCollections(mounts),
    ...collections,
    ...throttleCollections,
    idempotencyCountsCollection,
    tagFormsCollection,
  ];
}

/** The values that `createCore` needs in addition to the options of the service. */
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
function createCore(options: ServiceOptions, common: Common, find: RoutedService["find"]): RoutedService {
  const { store, throttle, secret, basePath, now, observe, all, facts, use, inFlight } = common;
  const { tracer = null, allowedOrigins = [], ownOrigins = [], name = "api" } = options;
  return {
    find,
    store,
    reader: createStoreReader(store),
    schemeSet: makeSchemeSet({ schemes: facts.schemes, throttle, observe, standing: findAssuranceCheck(all) }),
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
    revisionTags: makeRevisionTags(now),
    secret,
    fingerprintKey: secret?.deriveOldest("idempotency") ?? new Uint8Array(),
    heldBodies: makeHeldBodies(),
    longReads: makeLongReads(),
    slowLists: new SlowLists(),
    lines: new Lines(),
    alongside: all.flatMap(({ alongside = [] }) => alongside),
    scopesAllow: joinScopeLimits(options.scopesAllow === undefined ? all : [options]),
    limiters: all.flatMap(({ limiter }) => limiter ?? []),
    allowsCleartextLogins: options.allowCleartextLogins ?? false,
    hsts: options.hsts ?? "host",
    allowedOrigins,
    ownOrigins,
    sameSiteOrigins: [...allowedOrigins, ...ownOrigins],
    tracer,
    observe,
    use,
    inFlight,
  };
}
