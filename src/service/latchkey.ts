import type { People } from "../door/auth.ts";
import { csv, type Format } from "../door/http.ts";
import { type Feature, type Service, type ServiceOptions } from "../door/index.ts";
import type { MetricFamily, Observation, Observer } from "../door/ops.ts";
import { DeclarationError } from "../door/resources.ts";
import {
  assembleService,
  postgresStore,
  sqliteStore,
  StoreUnavailable,
  type Collection,
  type Store,
} from "../door/stores.ts";
import { optionalFeatures, type BuiltIn } from "./built-in.ts";
import { builtInFeatures, chosenFeatures } from "./features.ts";
import { ownAddress, createSender, sharedOutbox } from "./mail.ts";
import { requireLatchkeyOptions, type LatchkeyOptions } from "./options.ts";
import { importsCollection } from "./records/import-records.ts";
import { ConfigError, type Settings } from "./settings/settings.ts";
import { serviceName } from "./settings/values.ts";
import {
  findUnusedPassword,
  makeFirstAdministrator,
  type FirstAdministrator,
  type UnusedPassword,
} from "./users/first-administrator.ts";

/** The complete service, ready to be served. */
export interface Latchkey extends Service {
  /** The first administrator's data, to show to the operator once. Null if an administrator existed already. */
  readonly firstAdministrator: FirstAdministrator | null;
  /**
   * The first administrator's generated password from an earlier start, if no login has used it. Null if there is none.
   */
  readonly unusedPassword: UnusedPassword | null;
  /** Returns the metrics of this process. */
  readonly metrics: () => readonly MetricFamily[];
  /** Sets the URL on which the service listens, for the links in mails if `LATCHKEY_PUBLIC_URL` is not set. */
  listensAt(url: string): void;
  /** Makes `/readyz` answer 503 from now on. */
  stop(): void;
}

/** The complete service over an open store, without the first administrator. */
export interface OpenLatchkey {
  readonly service: Service;
  readonly people: People;
  readonly builtIn: BuiltIn;
  /** Sets the URL on which the service listens, for links in mails. */
  listensAt(url: string): void;
  /** Returns true if the service has a feature. A config file may leave features out. */
  has(feature: Feature): boolean;
}

/** The complete service over a store that is still closed. */
export interface AssembledLatchkey {
  /** The tables with which the service opens its store. */
  readonly collections: readonly Collection[];
  open(): Promise<OpenLatchkey>;
}

/**
 * Assembles the service, starts it, and creates the first administrator if none exists. Starts the upkeep, which
 * deletes expired rows regularly. Throws `ConfigError` for invalid options.
 *
 * @example
 * ```ts
 * import { createLatchkey, readSettings } from "latchkey/service";
 *
 * const settings = readSettings({ LATCHKEY_DATABASE: "sqlite::memory:" });
 * export const service = await createLatchkey({ settings });
 * ```
 */
export async function createLatchkey(options: LatchkeyOptions): Promise<Latchkey> {
  requireLatchkeyOptions(options);
  const { settings } = options;
  const { service, people, builtIn, has, listensAt } = await openLatchkey(options);
  try {
    const parts = { settings, store: service.store, people };
    const firstAdministrator = await makeFirstAdministrator(parts, service.now(), options.passwordFile ?? null);
    const unusedPassword = firstAdministrator === null ? await findUnusedPassword(parts) : null;
    await requireCustomAccount(settings, people.accounts);
    return {
      ...service,
      firstAdministrator,
      unusedPassword,
      metrics: has(builtIn.metrics) ? service.use(builtIn.metrics).read : () => [],
      listensAt,
      stop: has(builtIn.health) ? service.use(builtIn.health).stopping : () => undefined,
    };
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** Adds CSV for lists, unless a custom format replaces it. */
function withCSV(own: readonly Format[]): readonly Format[] {
  return own.some(({ mediaType }) => mediaType === "text/csv") ? own : [...own, csv()];
}

/** Assembles the service and opens its store. */
export async function openLatchkey(options: LatchkeyOptions): Promise<OpenLatchkey> {
  return (await assembleLatchkey(options)).open();
}

/** Assembles the service from its features and its settings. Opens nothing. */
export async function assembleLatchkey({
  settings,
  config = {},
  observe = null,
  tracer = null,
  now,
  measured = () => [],
  gatherMetrics: gather,
  over = (below) => below,
  overMail = (below) => below,
  isForDevelopment = false,
  makeUUID = (draw) => draw(),
}: LatchkeyOptions): Promise<AssembledLatchkey> {
  let service: Service | null = null;
  const observeLate: Observer = (observation) => (service === null ? observe : service.observe)?.(observation);
  const store = over(createStore(settings, observeLate));
  const send = settings.mail === null ? null : overMail(await createSender(settings.mail));
  const outbox = sharedOutbox();
  const address = ownAddress(settings);
  const builtIn = builtInFeatures({ settings, config, measured, gather, send, outbox, address, isForDevelopment });
  const features = chosenFeatures(settings, builtIn, config, outbox);
  const options: ServiceOptions = {
    name: serviceName,
    allowedOriginsSetting: "LATCHKEY_ALLOWED_ORIGINS",
    store,
    features,
    schemes: config.schemes ?? [],
    mounts: config.mounts ?? [],
    endpoints: config.endpoints ?? [],
    formats: withCSV(config.formats ?? []),
    xml: config.without?.includes("xml") !== true,
    collections: [importsCollection],
    secret: settings.secret,
    allowCleartextLogins: settings.cleartextLogins === "allow",
    hsts: settings.hsts,
    allowedOrigins: settings.allowedOrigins,
    ownOrigins: settings.publicURL === null ? [] : [new URL(settings.publicURL).origin],
    trustedProxies: settings.trustedProxies,
    basePath: settings.basePath,
    compression: settings.compression,
    handlerTimeoutSeconds: settings.handlerTimeoutSeconds,
    tracer,
    observe,
    makeUUID,
    ...(now === undefined ? {} : { now }),
  };
  const assembled = await explaining(settings, () => assembleService(options));
  return {
    collections: assembled.collections,
    async open() {
      const opened = (service = await explaining(settings, assembled.open));
      if (settings.passkeyRpId === null && config.without?.includes("passkeys") !== true) observeLate(noPasskeys);
      const has = (feature: Feature): boolean => features.includes(feature);
      const people = opened.use(builtIn.accounts);
      return { service: opened, people, builtIn, listensAt: address.listensAt, has };
    },
  };
}

/**
 * Adds the names of the settings to errors. Throws `ConfigError` if the file is not a SQLite database. Only SQLite can
 * detect this, with the code NOTADB.
 */
async function explaining<T>({ database }: Settings, task: () => T | Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    const code = error instanceof StoreUnavailable ? (error.cause as { readonly errcode?: number }).errcode : null;
    if (database.kind === "sqlite" && code === NOT_A_DATABASE)
      throw new ConfigError([
        `LATCHKEY_DATABASE: ${database.path} is not a SQLite database. Name another file, or restore a backup: latchkey db restore.`,
      ]);
    if (database.kind === "postgres" && error instanceof StoreUnavailable && error.name === "StoreUnavailable")
      throw new StoreUnavailable(`LATCHKEY_DATABASE: ${error.message}`, { cause: error });
    throw error instanceof DeclarationError ? withHints(error) : error;
  }
}

/**
 * Adds a hint for each built-in feature that clashes with a custom feature: the config file can leave the built-in one
 * out.
 */
function withHints(error: DeclarationError): DeclarationError {
  const clashing = optionalFeatures.filter((name) =>
    error.mistakes.some(
      (mistake) =>
        mistake.includes(`in the feature ${name} and`) ||
        mistake.includes(`in the feature ${name};`) ||
        mistake.startsWith(`two features are called ${name};`),
    ),
  );
  const hints = clashing.map(
    (name) => `the feature ${name} is built in; without: ["${name}"] in the config file leaves it out`,
  );
  return hints.length === 0 ? error : new DeclarationError([...error.mistakes, ...hints], { cause: error.cause });
}

const noPasskeys: Observation = {
  kind: "notice",
  level: "info",
  message:
    "Passkeys are off, because LATCHKEY_PUBLIC_URL has an IP address and passkeys are bound to a host name. Name a host in LATCHKEY_PUBLIC_URL.",
};

const NOT_A_DATABASE = 26;

function createStore({ database }: Settings, observe: Observer): Store {
  const { tablePrefix = "" } = database;
  return database.kind === "sqlite"
    ? sqliteStore({ path: database.path, observe, tablePrefix })
    : postgresStore({ url: database.url, observe, tablePrefix });
}

/**
 * Throws `ConfigError` if the account of the custom token does not exist. Without this check, requests with the token
 * would fail later.
 */
async function requireCustomAccount(
  { customToken }: Settings,
  accounts: { findByConfiguredName(name: string): unknown },
): Promise<void> {
  if (customToken === null || (await accounts.findByConfiguredName(customToken.username)) !== null) return;
  throw new ConfigError([
    `LATCHKEY_CUSTOM_TOKEN_USERNAME names ${customToken.username}, but there is no such account. Create it first, or name an existing one.`,
  ]);
}
