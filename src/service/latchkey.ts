import {
  accountsCollection,
  apiTokensCollection,
  bindingsCollection,
  createService,
  deadFamiliesCollection,
  familiesCollection,
  namedKeysCollection,
  makeMetrics,
  openapiDocument,
  refreshUsesCollection,
  revocationsCollection,
  sessionsCollection,
  postgresStore,
  sqliteStore,
  type Family,
  type Observer,
  type Service,
  type Store,
} from "../index.ts";
import { scopesAllow } from "./access.ts";
import { accountEndpoints } from "./accounts.ts";
import { apiTokenEndpoints } from "./api-token.ts";
import type { ConfigFile } from "./config-file.ts";
import { makeFirstAdministrator, type FirstAdministrator } from "./first-administrator.ts";
import { keyEndpoints } from "./keys.ts";
import { loginListEndpoints } from "./logins.ts";
import { metricsEndpoint, serviceMetrics, tellAlone, type ServiceMetrics } from "./metrics.ts";
import { mountedItems, mountedOrders } from "./orders.ts";
import { makeLoginParts, type Parts } from "./parts.ts";
import { chosenSchemes } from "./schemes.ts";
import { sessionEndpoints } from "./sessions.ts";
import { ConfigError, type SchemeName, type Settings } from "./settings.ts";
import { systemEndpoints } from "./system.ts";
import { tokenEndpoints } from "./tokens.ts";
import { startUpkeep } from "./upkeep.ts";
import { mountUsers } from "./users.ts";
import { wayIn } from "./way-in.ts";
import { protectedEndpoint } from "./who.ts";

export interface LatchkeyOptions {
  readonly settings: Settings;
  /** The user's own resources, endpoints, schemes and formats. */
  readonly config?: ConfigFile;
  readonly observe?: Observer | null;
  readonly now?: () => number;
  /** What else this process has measured, for `/metrics`. */
  readonly measured?: () => readonly Family[];
  /** The text of `/metrics` where several processes are one service; of this process alone where it is left out. */
  readonly gatherMetrics?: () => Promise<string>;
  /** The file into which the first administrator's password goes where one is drawn, for its owner alone; where it is left out, `firstAdministrator` has it. */
  readonly passwordFile?: string;
}

/** The whole service, ready to be served. */
export interface Latchkey extends Service {
  /** What the operator is to be told once; null where there was an administrator. */
  readonly firstAdministrator: FirstAdministrator | null;
  /** What this process has counted. */
  readonly metrics: ServiceMetrics["read"];
  /** `/readyz` answers 503 from now on. */
  stop(): void;
}

/** The whole over an open store, before anything happens by itself. */
export interface OpenLatchkey {
  readonly service: Service;
  readonly parts: Parts;
  readonly readiness: { stopping: boolean };
  readonly metrics: ServiceMetrics;
  close(): Promise<void>;
}

/** Puts the service together and starts it: the first administrator is made, and what has run out is erased. */
export async function createLatchkey(options: LatchkeyOptions): Promise<Latchkey> {
  const { settings, now = Date.now } = options;
  const { service, parts, readiness, metrics, close } = await openLatchkey(options);
  try {
    const firstAdministrator = await makeFirstAdministrator(parts, now(), options.passwordFile ?? null);
    await requireCustomAccount(settings, parts.accounts);
    const stopUpkeep = startUpkeep(parts, now);
    const stopMetrics = metrics.start();
    return {
      ...service,
      firstAdministrator,
      metrics: metrics.read,
      stop() {
        readiness.stopping = true;
      },
      async close() {
        stopUpkeep();
        stopMetrics();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Puts the service together from the toolkit's parts. */
export async function openLatchkey({
  settings,
  config = {},
  observe = null,
  now = Date.now,
  measured = () => [],
  gatherMetrics,
}: LatchkeyOptions): Promise<OpenLatchkey> {
  const counted = makeMetrics();
  const hear: Observer =
    observe === null ? counted.observe : (observation) => (counted.observe(observation), observe(observation));
  const store = storeOf(settings, hear);
  const loginParts = makeLoginParts(settings, store, hear);
  const parts: Parts = { ...loginParts, users: mountUsers(loginParts) };
  const readiness = { stopping: false };
  const metrics = serviceMetrics({ read: () => [...counted.read(), ...measured()] }, parts, () => service.inFlight());
  const mounts = [parts.users, mountedOrders, mountedItems, ...(config.mounts ?? [])];
  const schemes = [...chosenSchemes(parts), ...(config.schemes ?? [])];
  const openapi = (): Promise<unknown> =>
    openapiDocument({
      ...about,
      basePath: settings.basePath,
      endpoints,
      mounts,
      schemes,
      formats: config.formats ?? [],
    });
  // A login whose credential no endpoint would take is not there.
  const logins = {
    token: apiTokenEndpoints(parts),
    session: sessionEndpoints(parts),
    bearer: tokenEndpoints(parts),
  };
  const served = [
    ...loginSchemes.flatMap((scheme) => (settings.schemes.includes(scheme) ? logins[scheme] : [])),
    ...accountEndpoints(parts),
    ...keyEndpoints(parts),
    ...loginListEndpoints(parts),
    protectedEndpoint(parts),
    ...systemEndpoints(parts, readiness, openapi),
    metricsEndpoint(gatherMetrics ?? (() => tellAlone(metrics))),
    ...(config.endpoints ?? []),
  ];
  const hasOwnRoot = served.some(({ method, path }) => method === "GET" && path === "/");
  const endpoints = hasOwnRoot ? served : [...served, wayIn(parts, mounts, served)];
  const service: Service = await createService({
    store,
    schemes,
    mounts,
    endpoints,
    formats: config.formats ?? [],
    collections: [
      accountsCollection,
      bindingsCollection,
      sessionsCollection,
      apiTokensCollection,
      namedKeysCollection,
      refreshUsesCollection,
      deadFamiliesCollection,
      familiesCollection,
      revocationsCollection,
    ],
    secret: settings.secret,
    guessing: parts.guessing,
    scopesAllow,
    allowCleartextLogins: settings.cleartextLogins === "allow",
    hsts: settings.hsts,
    allowedOrigins: settings.allowedOrigins,
    ownOrigins: settings.publicURL === null ? [] : [new URL(settings.publicURL).origin],
    trustedProxies: settings.trustedProxies,
    basePath: settings.basePath,
    compression: settings.compression,
    observe: hear,
    now,
  });
  const close = async (): Promise<void> => {
    parts.revocations.close();
    await service.close();
  };
  try {
    await parts.revocations.open();
  } catch (error) {
    await close();
    throw error;
  }
  return { service, parts, readiness, metrics, close };
}

/** The schemes whose credentials are made here. */
const loginSchemes = ["session", "token", "bearer"] as const satisfies readonly SchemeName[];

/** What the API's documentation says of the whole. */
const about = {
  title: "Latchkey",
  version: "1",
  license: { name: "MIT", identifier: "MIT" },
  tags: {
    tokens: "Logging in with tokens, and out.",
    session: "Logging in with a session cookie, and out.",
    protected: "The example of something that needs credentials.",
    system: "Health, keys and documentation.",
  },
};

function storeOf({ database }: Settings, observe: Observer): Store {
  return database.kind === "sqlite"
    ? sqliteStore({ path: database.path, observe })
    : postgresStore({ url: database.url, observe });
}

/** A token that stands for nobody would only fail later, and quietly. */
async function requireCustomAccount(
  { customToken }: Settings,
  accounts: { findByUsername(name: string): unknown },
): Promise<void> {
  if (customToken === null || (await accounts.findByUsername(customToken.username)) !== null) return;
  throw new ConfigError([
    `LATCHKEY_CUSTOM_TOKEN_USERNAME names ${customToken.username}, and there is no such account. Create it first, or name one that exists.`,
  ]);
}
