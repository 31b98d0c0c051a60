import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { Tracer } from "../../src/core/tracer.ts";
import type { Mail } from "../../src/door/features.ts";
import { requestListener } from "../../src/door/http.ts";
import type { Feature } from "../../src/door/index.ts";
import type { Observation } from "../../src/door/ops.ts";
import type { Store } from "../../src/door/stores.ts";
import type { BuiltIn } from "../../src/service/built-in.ts";
import { createLatchkey, type Latchkey } from "../../src/service/latchkey.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { readSettings, type Settings } from "../../src/service/settings/settings.ts";
import { lateDatabase, testsOnPostgres } from "./test-store.ts";

export const adminPassword = "first-administrator";

/** The service itself accepts no such cost. With the usual one, each hash takes 12 ms of CPU time. */
const quickCost = { memoryKiB: 8, passes: 1, lanes: 1 };

/** The setting of tests that are about hashes. */
export const usualPasswordCost = { LATCHKEY_PASSWORD_COST: "m=19456,t=2,p=1" } as const;

/** The whole service in process, for tests. */
export interface API {
  /** Sends a request. A body that is not a text is sent as JSON. Headers are in lower case. */
  ask(method: string, path: string, options?: AskOptions): Promise<Answered>;
  get(path: string, headers?: Headers): Promise<Answered>;
  post(path: string, body?: unknown, headers?: Headers): Promise<Answered>;
  put(path: string, body?: unknown, headers?: Headers): Promise<Answered>;
  patch(path: string, body?: unknown, headers?: Headers): Promise<Answered>;
  delete(path: string, headers?: Headers): Promise<Answered>;
  /** The headers of the administrator, whose id is 1. */
  readonly admin: Headers;
  /** Creates a user as the administrator. Returns the id and the headers of a login. */
  user(
    name: string,
  ): Promise<{ readonly id: number; readonly email: string; readonly password: string; readonly headers: Headers }>;
  /** A clock that the test sets. */
  readonly clock: { now: number; turn(seconds: number): void };
  /** The observations so far. */
  readonly observed: Observation[];
  readonly service: Latchkey;
  /**
   * Delivers what is due in the outbox, and returns the mails that were sent since the last call, oldest first. Only
   * with the settings of mail (`withMail`).
   */
  mails(): Promise<readonly Mail[]>;
}

/** Settings that turn mail on. Tests send no mail: `api.mails()` returns them. */
export const withMail = {
  LATCHKEY_MAIL_URL: "file:mails-of-a-test",
  LATCHKEY_MAIL_FROM: "no-reply@example.com",
} as const;

type Headers = Readonly<Record<string, string>>;

export interface AskOptions {
  readonly headers?: Headers;
  readonly body?: unknown;
}

export interface Answered {
  readonly status: number;
  readonly headers: globalThis.Headers;
  readonly text: string;
  /** The body as JSON. Undefined if it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects by looking
  readonly json: any;
}

export interface ServeOptions {
  /** LATCHKEY_ settings. Default: the database is in memory, or in PostgreSQL with `LATCHKEY_TEST_STORE=postgres`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly config?: ConfigFile;
  /** The binding for the requests. Default: `LATCHKEY_TEST_BINDING`. */
  readonly binding?: "fetch" | "node";
  /** Receives the parts of requests, and can delay them. */
  readonly tracer?: Tracer;
  /** Makes the ids of records with UUIDs. Default: random ones. */
  readonly makeUUID?: () => string;
  /** True for a service as in `latchkey dev`. Default: false. */
  readonly isForDevelopment?: boolean;
  /** Default: the setting, or a quick cost. */
  readonly passwordCost?: Settings["passwordCost"];
}

/** Starts a service for one test and stops it with the test. */
export async function serve(
  t: TestContext,
  { settings = {}, config = {}, binding, tracer, makeUUID, isForDevelopment = false, passwordCost }: ServeOptions = {},
): Promise<API> {
  const clock = {
    now: Date.parse("2026-01-31T09:30:00Z"),
    turn: (seconds: number) => void (clock.now += seconds * 1000),
  };
  const observed: Observation[] = [];
  const database: TestedDatabase = "LATCHKEY_DATABASE" in settings ? {} : await databaseFor(t);
  const environment = {
    ...database.settings,
    LATCHKEY_ADMIN_PASSWORD: adminPassword,
    ...settings,
  };
  const sent: Mail[] = [];
  const builtIn: BuiltIn[] = [];
  const read = readSettings(environment, config);
  const service = await createLatchkey({
    settings: {
      ...read,
      passwordCost: passwordCost ?? ("LATCHKEY_PASSWORD_COST" in settings ? read.passwordCost : quickCost),
    },
    config: { ...config, features: (each) => (builtIn.push(each), resolveFeatures(config, each)) },
    ...(database.over === undefined ? {} : { over: database.over }),
    overMail: () => async (mail) => void sent.push(mail),
    observe: (observation) => void observed.push(observation),
    now: () => clock.now,
    ...(tracer === undefined ? {} : { tracer }),
    ...(makeUUID === undefined ? {} : { makeUUID }),
    isForDevelopment,
  });
  const send =
    (binding ?? process.env["LATCHKEY_TEST_BINDING"]) === "node" ? await overSocket(t, service) : throughFetch(service);
  t.after(() => service.close());

  async function ask(method: string, path: string, { headers = {}, body }: AskOptions = {}): Promise<Answered> {
    const isText = typeof body === "string" || body instanceof Uint8Array;
    const type = body === undefined || "content-type" in headers ? {} : { "content-type": "application/json" };
    const content = body === undefined ? {} : { body: (isText ? body : JSON.stringify(body)) as string };
    const response = await send(path, { method, headers: { ...type, ...headers }, ...content });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parse(text) };
  }

  const admin = basicHeader("admin", adminPassword);
  return {
    ask,
    get: (path, headers = {}) => ask("GET", path, { headers }),
    post: (path, body, headers = {}) => ask("POST", path, { body, headers }),
    put: (path, body, headers = {}) => ask("PUT", path, { body, headers }),
    patch: (path, body, headers = {}) => ask("PATCH", path, { body, headers }),
    delete: (path, headers = {}) => ask("DELETE", path, { headers }),
    admin,
    async user(name) {
      const email = `${name.toLowerCase()}@example.com`;
      const password = `password of ${name}`;
      const made = await ask("POST", "/users", { headers: admin, body: { name, email, password } });
      if (made.status !== 201) throw new Error(made.text);
      return { id: made.json.id, email, password, headers: basicHeader(email, password) };
    },
    clock,
    observed,
    service,
    async mails() {
      await service.use(builtIn[0]!.outbox).deliverDue();
      return sent.splice(0);
    },
  };
}

function resolveFeatures({ features = [] }: ConfigFile, builtIn: BuiltIn): readonly Feature[] {
  return typeof features === "function" ? features(builtIn) : features;
}

/** Returns a database in memory, or a separate one in PostgreSQL with `LATCHKEY_TEST_STORE=postgres`. */
async function databaseFor(t: TestContext): Promise<TestedDatabase> {
  if (!testsOnPostgres) return { settings: { LATCHKEY_DATABASE: "sqlite::memory:" } };
  const { url, over, free } = await lateDatabase();
  t.after(free);
  return {
    settings: { LATCHKEY_DATABASE: url, LATCHKEY_SECRET: "a secret that all processes of the service know" },
    over,
  };
}

interface TestedDatabase {
  readonly settings?: Readonly<Record<string, string>>;
  readonly over?: (store: Store) => Store;
}

/** Returns the header of RFC 7617. */
export function basicHeader(username: string, password: string): { readonly authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

type Send = (path: string, init: RequestInit) => Promise<Response>;

function throughFetch(service: Latchkey): Send {
  return (path, init) => service.fetch(new Request(`http://127.0.0.1:8000${path}`, init), { peer: "127.0.0.1" });
}

async function overSocket(t: TestContext, service: Latchkey): Promise<Send> {
  const server: Server = createServer(requestListener(service)).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
