import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { makeAuthenticator, type Authenticator } from "../../tests/harness/authenticator.ts";
import { addTOTPTo, readCookies, type TOTPUser } from "../../tests/harness/factors.ts";
import { clientId, clientSecret, startIssuer, type Issuer } from "../../tests/harness/openid-issuer.ts";
import { adminPassword, serve, withMail, type Answered, type API } from "../../tests/harness/serve.ts";
import { restartChance } from "./chance.ts";

export type Headers = Readonly<Record<string, string>>;

/** One answer of a recording. */
export interface Recorded {
  readonly request: string;
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

/**
 * A service whose answers are recorded. ada (2) is a user with an order, ben (3) has a TOTP factor, cleo (4) is another
 * administrator.
 */
export interface World {
  readonly api: API;
  readonly issuer: Issuer;
  readonly authenticator: Authenticator;
  readonly ben: TOTPUser;
  readonly callers: Readonly<Record<CallerName, Headers>>;
  /** Sends a request and records the answer. */
  ask(method: string, path: string, body?: unknown, headers?: Headers): Promise<Answered>;
  /** The link and the code of the latest mail to an address that has a link. */
  latestMail(address: string): Promise<{ readonly token: string; readonly code: string; readonly text: string }>;
  close(): Promise<void>;
}

export const callerNames = [
  "nobody",
  "wrong password",
  "user by password",
  "user by session",
  "user by access token",
  "user by API token",
  "user by key",
  "user by key that reads",
  "user by key that writes",
  "administrator by password",
  "administrator by session",
  "administrator by old session",
  "administrator by API token",
  "administrator by key",
  "acting administrator",
  "custom header",
] as const;
export type CallerName = (typeof callerNames)[number];

export const origin = "http://localhost:8000";
const password = "password of a user";
const PORT = 45_871;
const nobody: TOTPUser = { id: 0, email: "", password: "", factor: "", recoveryCodes: [], headers: {}, code: () => "" };
const customToken = "a-custom-token-of-at-least-thirty-two-characters";

export const basic = (username: string, secret: string): Headers => ({
  authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString("base64")}`,
});
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const sameOrigin = { "sec-fetch-site": "same-origin" };

/**
 * Starts the service in memory, with a fixed clock and repeatable chance. Every answer from then on is added to
 * `recorded`.
 */
export async function startWorld(
  recorded: Recorded[],
  settings: Readonly<Record<string, string>> = {},
  hasUsers = true,
): Promise<World> {
  restartChance();
  const endings: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void endings.unshift(end) } as unknown as TestContext;
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-wire-"));
  endings.push(() => rmSync(folder, { recursive: true }));
  const clock = { now: () => Date.parse("2026-01-31T09:30:00Z") };
  const issuer = await onFixedPort(() => startIssuer(t, () => clock.now()));
  const providers = path.join(folder, "providers.json");
  const entry = { id: "company", title: "Company", issuer: issuer.issuer, client_id: clientId, create: true };
  writeFileSync(path.join(folder, "company.secret"), `${clientSecret}\n`, { mode: 0o600 });
  writeFileSync(providers, JSON.stringify([{ ...entry, client_secret_file: "company.secret" }]));
  const api = await serve(t, {
    settings: {
      ...withMail,
      LATCHKEY_DATABASE: "sqlite::memory:",
      LATCHKEY_SECRET: "a secret of the service that is long enough",
      LATCHKEY_PUBLIC_URL: origin,
      LATCHKEY_REGISTRATION: "verified",
      LATCHKEY_LOGIN_CODES: "on",
      LATCHKEY_IDENTITY_PROVIDERS: providers,
      LATCHKEY_SCHEMES: "basic,session,token,bearer,custom-header",
      LATCHKEY_CUSTOM_TOKEN: customToken,
      LATCHKEY_CUSTOM_TOKEN_USERNAME: "admin",
      ...settings,
    },
    binding: "fetch",
  });
  clock.now = () => api.clock.now;
  const inbox: { readonly to: string; readonly text: string }[] = [];

  async function ask(method: string, at: string, body?: unknown, headers: Headers = {}): Promise<Answered> {
    const answer = await api.ask(method, at, { headers, ...(body === undefined ? {} : { body }) });
    recorded.push({
      request: describe(method, at, body, headers),
      status: answer.status,
      headers: [...answer.headers].map(([name, value]) => `${name}: ${value}`).toSorted(),
      body: answer.text,
    });
    return answer;
  }

  const latestMail: World["latestMail"] = async (address) => {
    for (const mail of await api.mails()) inbox.push({ to: mail.to, text: mail.text });
    const text = inbox.findLast(({ to, text: each }) => to === address && each.includes("token="))?.text ?? "";
    return { token: /[?&]token=([\w.~-]+)/.exec(text)?.[1] ?? "", code: /^(\d{8})$/m.exec(text)?.[1] ?? "", text };
  };

  const made = hasUsers ? await makeCallers(api) : { ben: nobody, callers: {} as World["callers"] };
  return {
    api,
    issuer,
    authenticator: makeAuthenticator(origin),
    ...made,
    ask,
    latestMail,
    async close() {
      for (const end of endings) await end();
    },
  };
}

async function makeCallers(api: API): Promise<Pick<World, "ben" | "callers">> {
  const admin = basic("admin", adminPassword);
  const create = async (name: string): Promise<{ readonly id: number; readonly email: string }> => {
    const email = `${name}@shop.example`;
    const answer = await api.post("/users", { name, email, password }, admin);
    if (answer.status !== 201) throw new Error(answer.text);
    return { id: answer.json.id, email };
  };
  const [ada, ben, cleo] = [await create("ada"), await create("ben"), await create("cleo")];
  await api.patch(`/users/${cleo.id}/account`, { role: "admin" }, admin);

  const withFactor = await addTOTPTo(api, { ...ben, password });
  const session = async (username: string, secret: string): Promise<Headers> => ({
    ...readCookies(await api.post("/api/session/", { username, password: secret }, sameOrigin)),
    ...sameOrigin,
  });
  const pair = async (username: string, secret: string): Promise<Headers> =>
    bearer((await api.post("/api/token/", { username, password: secret })).json.access);
  const key = async (id: number, by: Headers, scopes?: readonly string[]): Promise<Headers> =>
    bearer(
      (await api.post(`/users/${id}/keys`, { name: "A key", ...(scopes === undefined ? {} : { scopes }) }, by)).json
        .key,
    );
  const apiToken = async (id: number, by: Headers): Promise<Headers> => ({
    authorization: `Token ${(await api.post(`/users/${id}/token`, undefined, by)).json.token}`,
  });
  const oldSession = await session("admin", adminPassword);
  api.clock.turn(1200);
  const ofAda = basic("ada@shop.example", password);
  await api.post("/orders", { status: "open" }, ofAda);
  await api.post("/orders/1/items", { product: "Tea", quantity: 2, unit_price: "3.50" }, ofAda);
  await api.post("/orders", { status: "paid" }, admin);
  const callers: Record<CallerName, Headers> = {
    nobody: {},
    "wrong password": basic("ada@shop.example", "a wrong password"),
    "user by password": ofAda,
    "user by session": await session("ada@shop.example", password),
    "user by access token": await pair("ada@shop.example", password),
    "user by API token": await apiToken(ada.id, ofAda),
    "user by key": await key(ada.id, ofAda),
    "user by key that reads": await key(ada.id, ofAda, ["read"]),
    "user by key that writes": await key(ada.id, ofAda, ["write"]),
    "administrator by password": admin,
    "administrator by session": await session("admin", adminPassword),
    "administrator by old session": oldSession,
    "administrator by API token": await apiToken(1, admin),
    "administrator by key": await key(1, admin),
    "acting administrator": bearer((await api.post(`/users/${ada.id}/act`, undefined, admin)).json.access),
    "custom header": { "x-custom-token": customToken },
  };
  return { ben: withFactor, callers };
}

/** The issuer is a part of answers, so it gets the same port in each recording. */
async function onFixedPort<T>(start: () => Promise<T>): Promise<T> {
  const { listen } = Server.prototype;
  Server.prototype.listen = function listenOnFixedPort(this: Server, ...[, ...rest]: unknown[]) {
    return Reflect.apply(listen, this, [PORT, ...rest]) as Server;
  } as typeof listen;
  try {
    return await start();
  } finally {
    Server.prototype.listen = listen;
  }
}

function describe(method: string, at: string, body: unknown, headers: Headers): string {
  const shown = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  // An authenticator signs with a key of its own, so its answers are not repeatable.
  const hide = (name: string, value: unknown): unknown => (name === "credential" ? "…" : value);
  const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body, hide);
  return [`${method} ${at}`, ...shown, text].filter((each) => each !== "").join(" | ");
}
