import { writeFileSync } from "node:fs";
import { createLatchkey } from "../../src/service/latchkey.ts";
import { readSettings } from "../../src/service/settings/settings.ts";

/**
 * Makes the database of a release with the service of this checkout, and writes the credentials of a client to a file.
 * Run it in a checkout of the release: `npm run released -- sqlite:FILE KNOWN.json`, or with the URL of an empty
 * PostgreSQL database, which `pg_dump --inserts --no-owner --no-privileges` then writes as SQL.
 */
const [database = "", credentialsFile = ""] = process.argv.slice(2);

/** This secret may be public, because it protects only the database of a test. */
const secret = "the secret of a database that is kept for the tests";
const passwords = { admin: "first-administrator", ada: "countess of Lovelace" };
const clock = { now: Date.parse("2026-01-31T09:00:00Z") };
const service = await createLatchkey({
  settings: readSettings(
    { LATCHKEY_DATABASE: database, LATCHKEY_SECRET: secret, LATCHKEY_ADMIN_PASSWORD: passwords.admin },
    {},
  ),
  now: () => clock.now,
});

type Headers = Readonly<Record<string, string>>;

interface Reply {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
  readonly headers: globalThis.Headers;
}

async function ask(method: string, path: string, headers: Headers, body?: unknown): Promise<Reply> {
  clock.now += 1000;
  const init = { method, headers: { "content-type": "application/json", ...headers } };
  const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) };
  const response = await service.fetch(new Request(`http://127.0.0.1:8000${path}`, sent), { peer: "127.0.0.1" });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return { status: response.status, json: text === "" ? {} : JSON.parse(text), headers: response.headers };
}

/** Sends a write with an idempotency key. Returns the request and its response. */
async function repeatable(method: string, path: string, headers: Headers, key: string, body: unknown) {
  const reply = await ask(method, path, { ...headers, "idempotency-key": key }, body);
  const { status, json } = reply;
  return { method, path, key, body, status, json, etag: reply.headers.get("etag") };
}

const basic = (username: string, password: string): Headers => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
});
const admin = basic("admin", passwords.admin);
const login = { username: "Ada", password: passwords.ada };

const users = [
  await repeatable("POST", "/users", admin, "a-user-with-a-password", {
    name: "Ada",
    email: "Ada@Example.com",
    ...login,
  }),
];
const ada = basic("ADA", passwords.ada);
for (const name of ["Čeněk", 'O\'Neil \\ "quoted"', "gone", "Zoë"])
  await ask("POST", "/users", admin, { name, email: `${Buffer.from(name).toString("hex")}@example.com` });
await ask("DELETE", "/users/5", admin);
await ask("PUT", "/users/8", admin, { name: "Named", email: "named@example.com" });

const orders = [await repeatable("POST", "/orders", ada, "order-number-1", {})];
await ask("POST", "/orders", ada, {});
orders.push(await repeatable("PATCH", "/orders/1", ada, "order-number-1-is-paid", { status: "paid" }));
for (const [product, unit_price] of [
  ["Difference engine", "9999999999.99"],
  ["Karten", "0.05"],
])
  await ask("POST", "/orders/1/items", ada, { product, quantity: 3, unit_price });

const session = await ask("POST", "/api/session/", {}, login);
const pair = await ask("POST", "/api/token/", {}, login);
const first = await ask("POST", "/api/token/", {}, login);
const second = await ask("POST", "/api/token/refresh/", {}, { refresh: first.json["refresh"] });
const ended = await ask("POST", "/api/token/", {}, login);
await ask("DELETE", "/api/token/", {}, { refresh: ended.json["refresh"] });
const apiToken = await ask("POST", "/api-token-auth/", {}, login);
const key = await ask("POST", "/users/2/keys", ada, { name: "kept" });
const endedKey = await ask("POST", "/users/2/keys", ada, { name: "ended" });
await ask("DELETE", `/users/2/keys/${String(endedKey.json["id"])}`, ada);

const page = await ask("GET", "/users?limit=2&sort=-name", admin);
const [, next = ""] = /<([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "") ?? [];

const reads = [];
for (const [path, headers] of [
  ["/users/1", admin],
  ["/users/2", admin],
  ["/users/3", admin],
  ["/users/8", admin],
  ["/users?limit=3", admin],
  [next, admin],
  ["/orders/1", ada],
  ["/orders", ada],
  ["/orders/1/items", ada],
  ["/orders/1/items/1", ada],
] as const) {
  const { json, headers: replied } = await ask("GET", path, headers);
  reads.push({ as: headers === admin ? "admin" : "ada", path, json, etag: replied.get("etag") });
}
const account = await ask("GET", "/users/2/account", admin);

await service.close();
writeFileSync(
  credentialsFile,
  JSON.stringify(
    {
      madeUntil: new Date(clock.now).toISOString(),
      secret,
      passwords,
      login,
      cookie: session.headers.get("set-cookie")!.split(";")[0],
      access: pair.json["access"],
      refresh: pair.json["refresh"],
      usedRefresh: first.json["refresh"],
      itsSuccessor: second.json["refresh"],
      endedRefresh: ended.json["refresh"],
      apiToken: apiToken.json["token"],
      key: key.json["key"],
      endedKey: endedKey.json["key"],
      createdAt: account.json["created_at"],
      next,
      reads,
      repeatable: { admin: users, ada: orders },
    },
    null,
    2,
  ),
);
