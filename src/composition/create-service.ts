import type { Scheme } from "../access/scheme/scheme.ts";
import type { Arrival } from "../core/call/call.ts";
import { DeclarationError } from "../core/checking/declaration-error.ts";
import { made, otherCopiesWithin } from "../core/copy.ts";
import type { Eventually } from "../core/eventually.ts";
import type { Observer } from "../core/observation.ts";
import type { Feature } from "../feature/feature.ts";
import { startFeatures } from "../feature/starting.ts";
import { startUpkeep } from "../feature/upkeep.ts";
import type { Answer } from "../http/answer/writing.ts";
import { fetchThrough, type FetchInfo } from "../http/bindings/web/web.ts";
import type { ServedMount } from "../http/declarations/mount.ts";
import { type Route } from "../http/declarations/routes.ts";
import { explainWhole, type WholeExplanation } from "../http/explaining.ts";
import { explainLists, type ExplainedList } from "../http/mount/explaining.ts";
import { unindexedTables } from "../http/mount/membership-tables.ts";
import { computeShapeDigest } from "../http/mount/shape-digest.ts";
import { respond } from "../http/pipeline.ts";
import type { Format } from "../http/request/format.ts";
import type { MountedShape } from "../http/request/revision-tags.ts";
import { StoreSetupError, type Collection, type Store } from "../store/store.ts";
import { assembleParts, type Assembly } from "./assembly.ts";
import { canSetUp, collectMistakes, type ServiceOptions } from "./options.ts";
import { reportAtStart } from "./start-reports.ts";

export type { ServiceOptions } from "./options.ts";

/** A service that is ready. Bindings pass requests to it. */
export interface Service {
  /** Answers a request from a binding. Never throws. */
  respond(arrival: Arrival): Eventually<Answer>;
  /** Answers a Fetch `Request`, for frameworks that use it: Hono, Next.js, Deno, a test. */
  fetch(request: Request, info: FetchInfo): Promise<Response>;
  /**
   * Returns true if this address (`/api/books?limit=2`) belongs to the service, for any method. For a framework that
   * answers requests for other addresses itself.
   */
  serves(target: string): boolean;
  /**
   * Explains the result of the schemes for a request, and the decision of its endpoint's permission. It has no other
   * effect.
   */
  explain(arrival: Arrival): Promise<WholeExplanation>;
  /**
   * Reports the current cost of each list that the declarations allow, for an operator. It reads all of these
   * lists, one resource after another.
   */
  explainLists(): AsyncGenerator<readonly ExplainedList[]>;
  readonly store: Store;
  readonly routes: readonly Route[];
  /** The authentication schemes. */
  readonly schemes: readonly Scheme[];
  /** The resources. */
  readonly mounts: readonly ServedMount[];
  /** The formats of answers and bodies, JSON first. */
  readonly formats: readonly Format[];
  /** The path prefix of the service, without a final slash. Empty for the root. */
  readonly basePath: string;
  /** Returns the offer of a feature of this service. Throws a TypeError if the service does not have the feature. */
  use<Offer>(feature: Feature<Offer>): Offer;
  /**
   * The observer. Bindings also use it to report input that they refused before it became a request. Null if nothing
   * observes.
   */
  readonly observe: Observer | null;
  /** Returns the time of the service, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns the number of requests in progress. */
  inFlight(): number;
  /** Stops the features and closes the store. Call it after the requests have stopped. */
  close(): Promise<void>;
}

/**
 * Assembles a service, opens its store and starts its features. Throws `DeclarationError` with everything that is
 * missing, wrong or duplicate. In this case, or if a feature cannot start, nothing stays open.
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
  return assembleService(options).open();
}

/** A service whose store is still closed. If the service is never opened, there is nothing to close. */
export interface AssembledService {
  /** The tables of the service. `open` opens the store with them. */
  readonly collections: readonly Collection[];
  /** Opens the store and starts the features. If a feature cannot start, nothing stays open. */
  open(): Promise<Service>;
}

/**
 * Assembles a service without opening its store, for commands that need its declarations. Throws `DeclarationError`
 * with everything that is missing, wrong or duplicate.
 *
 * @example
 * ```ts
 * import { anyone, defineResource, mount, text } from "latchkey";
 * import { assembleService, sqliteStore } from "latchkey/stores";
 *
 * const book = defineResource({ name: "book", fields: { title: text() } });
 * const service = assembleService({
 *   store: sqliteStore({ path: "books.db" }),
 *   mounts: [mount(book, { permission: anyone })],
 * });
 * console.log(service.collections.map(({ name }) => name));
 * ```
 */
export function assembleService(options: ServiceOptions): AssembledService {
  const copies = otherCopiesWithin(options, "");
  // Stops here, because a second copy of the package causes many other mistakes.
  if (copies.length > 0) throw new DeclarationError(copies.map((each) => `createService: ${each}`));
  const mistakes = collectMistakes(options);
  // Stops here if the store, the list of features, the throttle or the tracer is wrong, because no feature can be set
  // up with it.
  if (!canSetUp(options)) throw new DeclarationError(mistakes);
  const { store } = options;
  requireFree(store, mistakes);
  const assembly = assembleParts(options, mistakes);
  return {
    collections: assembly.tables,
    async open() {
      requireFree(store, []);
      serving.add(store);
      const release = (): void => void serving.delete(store);
      try {
        const service = await start(assembly);
        return made({ ...service, close: () => service.close().finally(release) });
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

/**
 * The stores of open services. If a second service opened one of these stores, the first service could no longer use
 * it.
 */
const serving = new WeakSet<Store>();

function requireFree(store: Store, mistakes: readonly string[]): void {
  if (!serving.has(store)) return;
  throw new DeclarationError([
    ...mistakes,
    "createService: store already serves an open service; make a store for each service",
  ]);
}

async function start(assembly: Assembly): Promise<Service> {
  const { store, basePath, inFlight, now, clock, observe, composition, facts, mounts, routes, core } = assembly;
  await store.open(assembly.tables);
  await requireIndexes(store, mounts);
  await core.revisionTags.open(store, collectShapes(mounts));
  reportAtStart(mounts, routes.all, { now: now(), observe });
  const stopClock = await clock.start();
  const stop = await startFeatures(composition, { store, observe }).catch((error: unknown) => {
    stopClock();
    throw error;
  });
  const stopUpkeep = startUpkeep(assembly.upkeep, { store, observe, now });
  return {
    respond: (arrival) => respond(core, arrival),
    fetch: (request, info) => fetchThrough((arrival) => respond(core, arrival), request, info),
    serves: (target) => routes.find(extractPath(target)) !== null,
    explain: (arrival) => explainWhole(core, arrival),
    explainLists: () => explainLists(store, mounts),
    store,
    routes: routes.all,
    schemes: facts.schemes,
    formats: core.formats,
    mounts,
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

/** Throws if an existing table has no index for a permission by memberships, and closes the store. */
async function requireIndexes(store: Store, mounts: readonly ServedMount[]): Promise<void> {
  const missing = unindexedTables(mounts);
  if (missing.length === 0) return;
  await store.close();
  throw new StoreSetupError(missing);
}

function collectShapes(mounts: readonly ServedMount[]): readonly MountedShape[] {
  return mounts.map((mount) => ({ collection: mount.collection, shape: computeShapeDigest(mount) }));
}

function extractPath(target: string): string {
  const question = target.indexOf("?");
  return question === -1 ? target : target.slice(0, question);
}
