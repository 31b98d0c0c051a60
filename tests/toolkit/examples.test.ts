import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";

const root = path.join(import.meta.dirname, "../..");
const fromSource = pathToFileURL(path.join(root, "tests/harness/from-source.ts")).href;

/** Starts an example on a free port and returns the address that it prints. */
async function run(t: TestContext, example: string, settings: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn(process.execPath, ["--import", fromSource, path.join(root, "examples", example)], {
    env: { ...process.env, PORT: "0", ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  for await (const chunk of child.stdout) return String(chunk).trim();
  throw new Error(`${example} ended without printing its address.`);
}

function countLines(example: string): number {
  return readFileSync(path.join(root, "examples", example), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "").length;
}

const json = { "content-type": "application/json" };

test("lists, creates, reads, changes and removes records in an example of at most ten lines", async (t) => {
  const books = await run(t, "ten-line-resource.ts");
  assert.ok(countLines("ten-line-resource.ts") <= 10);
  assert.match(books, /^http:\/\/127\.0\.0\.1:\d+\/books$/);

  const made = await fetch(books, { method: "POST", headers: json, body: '{"title":"Flatland","pages":96}' });

  assert.equal(made.status, 201);
  assert.equal(made.headers.get("location"), "/books/1");
  assert.deepEqual(await made.json(), { id: 1, title: "Flatland", pages: 96 });
  assert.equal((await fetch(books, { method: "POST", headers: json, body: '{"title":"","pages":0}' })).status, 400);
  assert.equal(await (await fetch(`${books}?title[starts]=Flat`)).text(), '[{"id":1,"title":"Flatland","pages":96}]');
  assert.equal((await fetch(`${books}/1`, { method: "PATCH", headers: json, body: '{"pages":97}' })).status, 200);
  assert.match(
    await (await fetch(`${books}/1`, { headers: { accept: "application/xml" } })).text(),
    /<book><id>1<\/id>/,
  );
  assert.equal((await fetch(`${books}/1`, { method: "DELETE" })).status, 204);
  assert.equal((await fetch(`${books}/1`)).status, 404);
});

test("offers API keys of a product's own kind in an example of at most forty lines", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-agents-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "agents.db");
  const home = await run(t, "agent-keys.ts", { DATABASE: file });
  assert.ok(countLines("agent-keys.ts") <= 40);
  const user = { name: "Ann", email: "ann@example.com", password: "a long enough one" };
  const basic = `Basic ${Buffer.from(`${user.email}:${user.password}`).toString("base64")}`;
  const ask = async (method: string, path: string, headers: Readonly<Record<string, string>>, body?: object) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return fetch(`${home}${path}`, { method, headers: { ...headers, ...(body === undefined ? {} : json) }, ...sent });
  };
  assert.equal((await ask("POST", "/users", {}, user)).status, 201);

  const made = await ask("POST", "/agent_keys", { authorization: basic }, {});
  const { id, key } = (await made.json()) as { readonly id: string; readonly key: string };

  assert.equal(made.status, 201);
  assert.equal((await ask("POST", "/reports", { "x-agent-key": key })).status, 204);
  // An older process that does not know the table deactivates the user, so the key stays.
  for (const [active, status] of [
    [0, 403],
    [1, 204],
  ] as const) {
    const database = new DatabaseSync(file, { timeout: 5000 });
    database.exec(`UPDATE accounts SET active = ${active}`);
    database.close();
    assert.equal((await ask("POST", "/reports", { "x-agent-key": key })).status, status);
  }
  for (const [method, path] of [
    ["GET", "/agent_keys"],
    ["GET", `/agent_keys/${id}`],
  ] as const)
    assert.ok(!(await (await ask(method, path, { authorization: basic })).text()).includes(key));
  assert.equal((await ask("POST", "/agent_keys", { "x-agent-key": key }, {})).status, 403);
  assert.equal((await ask("DELETE", `/agent_keys/${id}`, { "x-agent-key": key })).status, 403);
  const status = async () => (await ask("POST", "/agent_keys", { authorization: basic }, {})).status;
  assert.deepEqual(
    [await status(), await status(), await status(), await status(), await status()],
    [201, 201, 201, 201, 409],
  );
  assert.equal((await ask("DELETE", `/agent_keys/${id}`, { authorization: basic })).status, 204);
  assert.equal((await ask("POST", "/reports", { "x-agent-key": key })).status, 403);
});

test("serves two versions of an API from one table", async (t) => {
  const service = await run(t, "two-versions.ts");
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(service + path, {
      method,
      headers: json,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, json: await answer.json() };
  };

  const made = await ask("POST", "/v1/tickets", { subject: "Lamp", cents: 1999 });

  assert.deepEqual([made.status, made.headers.get("location")], [201, "/v1/tickets/1"]);
  assert.equal(made.headers.get("sunset"), "Thu, 01 Jul 2027 00:00:00 GMT");
  assert.deepEqual(made.json, { id: 1, subject: "Lamp", state: "open", cents: 1999 });
  const newer = await ask("PATCH", "/tickets/1", { price: "20.50", currency: "USD" });
  assert.deepEqual(newer.json, { id: 1, title: "Lamp", status: "open", price: "20.50", currency: "USD" });
  assert.equal(newer.headers.get("deprecation"), null);
  assert.deepEqual((await ask("GET", "/v1/tickets?cents=2050&state=open")).json, [
    { id: 1, subject: "Lamp", state: "open", cents: 2050 },
  ]);
});

test("defines a scheme and a protected endpoint in an example of at most twelve lines", async (t) => {
  const hello = await run(t, "twelve-line-scheme.ts");
  assert.ok(countLines("twelve-line-scheme.ts") <= 12);

  const rung = (bell: string): Promise<Response> => fetch(hello, { headers: { "x-doorbell": bell } });

  assert.equal(await (await rung("ding-dong")).text(), '{"hello":"ada"}');
  for (const [answered, detail] of [
    [await rung("knock"), "Nobody opens."],
    [await fetch(hello), "Invalid or missing credentials."],
  ] as const) {
    assert.equal(answered.status, 403, "it answers 403 instead of 401, because the scheme has no challenge");
    assert.equal(((await answered.json()) as { detail: string }).detail, detail);
  }
});

test("lets users sign up and log in with a JWT in an example of at most fifteen lines", async (t) => {
  const home = await run(t, "fifteen-line-login.ts");
  assert.ok(countLines("fifteen-line-login.ts") <= 15);
  const text = readFileSync(path.join(root, "examples", "fifteen-line-login.ts"), "utf8");
  assert.deepEqual(
    [...text.matchAll(/from "([^"]+)"/g)].map(([, from]) => from),
    ["latchkey", "latchkey/stores"],
  );
  const post = (at: string, body: object): Promise<Response> =>
    fetch(home + at, { method: "POST", headers: json, body: JSON.stringify(body) });
  const login = { username: "ann@example.com", password: "the password of ann" };
  assert.equal((await post("/users", { name: "Ann", email: login.username, password: login.password })).status, 201);

  const { access, refresh } = (await (await post("/api/token/", login)).json()) as Record<string, string>;

  const hello = (token: string): Promise<Response> =>
    fetch(`${home}/hello`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(await (await hello(access!)).text(), '{"hello":"you"}');
  assert.equal((await fetch(`${home}/users/1`, { headers: { authorization: `Bearer ${access}` } })).status, 200);
  assert.equal((await post("/api/token/refresh/", { refresh })).status, 200);
  assert.equal((await hello(`${access}x`)).status, 401);
  assert.equal((await post("/api/token/", { ...login, password: "another" })).status, 401);
});

test("shows one record to each holder of a signed link, until the user who shared it changes the password", async (t) => {
  const home = await run(t, "signed-links.ts");
  const ask = (path: string, method = "GET", body?: object, user = ""): Promise<Response> =>
    fetch(home + path, {
      method,
      headers: { ...json, ...(user && { authorization: `Basic ${btoa(user)}` }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const ann = "ann@example.com:the password of ann";
  await ask("/users", "POST", { name: "Ann", email: "ann@example.com", password: "the password of ann" });
  for (const body of ["one", "two"]) assert.equal((await ask("/notes", "POST", { body }, ann)).status, 201);

  const { link } = (await (await ask("/notes/1/share", "POST", undefined, ann)).json()) as { link: string };

  assert.equal(await (await ask(link)).text(), '{"id":1,"user_id":1,"body":"one"}');
  assert.equal((await ask(link.replace("/1?", "/2?"))).status, 403);
  assert.equal((await ask(`${link}&fields=id`)).status, 403);
  assert.equal((await ask(link.slice(0, -1))).status, 403);
  assert.equal((await ask(link, "DELETE")).status, 403);
  const changed = { password: "another password of ann", current_password: "the password of ann" };
  assert.equal((await ask("/users/1", "PATCH", changed, ann)).status, 200);
  assert.equal((await ask(link)).status, 403);
});

test("refuses a signed link after a day, also after a restart", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-links-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const settings = { DATABASE: path.join(folder, "links.db"), SECRET: "a secret that both runs of the example know" };
  const ann = { ...json, authorization: `Basic ${btoa("ann@example.com:the password of ann")}` };
  const first = await run(t, "signed-links.ts", settings);
  const account = { name: "Ann", email: "ann@example.com", password: "the password of ann" };
  await fetch(`${first}/users`, { method: "POST", headers: json, body: JSON.stringify(account) });
  await fetch(`${first}/notes`, { method: "POST", headers: ann, body: '{"body":"one"}' });
  const shared = await fetch(`${first}/notes/1/share`, { method: "POST", headers: ann });
  const { link } = (await shared.json()) as { link: string };
  const readLater = async (seconds: number): Promise<number> => {
    const clock = `const now = Date.now; Date.now = () => now() + ${seconds * 1000};`;
    const later = await run(t, "signed-links.ts", {
      ...settings,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clock)}`,
    });
    return (await fetch(later + link)).status;
  };

  // A minute is left for the start of each process.
  assert.equal(await readLater(86_400 - 60), 200);
  assert.equal(await readLater(86_400), 403);
});

test("refuses a signed webhook that was changed, is old or has no signature", async (t) => {
  const home = await run(t, "signed-webhooks.ts");
  const send = (body: string, time = Date.now(), signed = body): Promise<Response> => {
    const mac = createHmac("sha256", "what the shop and we know, and nobody else").update(`${time}.${signed}`);
    const headers = { ...json, "x-shop-signature": `t=${time},v1=${mac.digest("hex")}` };
    return fetch(`${home}/events`, { method: "POST", headers, body });
  };
  const paid = '{ "kind": "paid", "order": "7" }';

  assert.equal((await send(paid)).status, 201);
  assert.equal((await send(paid, Date.now(), "{}")).status, 403);
  assert.equal((await send(paid, Date.now() - 400_000)).status, 403);
  assert.equal((await fetch(`${home}/events`, { method: "POST", headers: json, body: paid })).status, 403);
});

test("logs in with the signature of a device key, and accepts each signature only once", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "shop.db");
  const home = await run(t, "key-pair-login.ts", { DATABASE: file });
  const ask = (path: string, body?: object, headers: object = {}): Promise<Response> =>
    fetch(home + path, {
      method: "POST",
      headers: { ...(body === undefined ? {} : json), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const ann = { authorization: `Basic ${btoa("ann@example.com:the password of ann")}` };
  await ask("/users", { name: "Ann", email: "ann@example.com", password: "the password of ann" });
  const device = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x, y } = device.publicKey.export({ format: "jwk" });
  assert.equal((await ask("/api/device-keys/", { x, y })).status, 403);
  assert.equal((await ask("/api/device-keys/", { x, y: x }, ann)).status, 400);
  const { device_key } = (await (await ask("/api/device-keys/", { x, y }, ann)).json()) as { device_key: string };
  const prove = async (signs: (challenge: string) => string): Promise<object> => {
    const { challenge } = (await (await ask("/api/device-keys/challenge/")).json()) as { challenge: string };
    const key = { key: device.privateKey, dsaEncoding: "ieee-p1363" } as const;
    const signature = sign("sha256", Buffer.from(signs(challenge)), key).toString("base64url");
    return { device_key, challenge, signature };
  };

  const lastLogin = async (): Promise<unknown> => {
    const account = await fetch(`${home}/users/1/account`, { headers: ann });
    return ((await account.json()) as { last_login_at: unknown }).last_login_at;
  };
  assert.equal(await lastLogin(), null);

  const proof = await prove((challenge) => challenge);
  const made = await ask("/api/device-keys/session/", proof);

  assert.equal(made.status, 201);
  const cookie = made.headers.get("set-cookie")!.split(";")[0]!;
  const who = (await (await fetch(`${home}/api/session/`, { headers: { cookie } })).json()) as { username: string };
  assert.equal(who.username, "ann@example.com");
  assert.equal(typeof (await lastLogin()), "string");
  assert.equal((await ask("/api/device-keys/session/", proof)).status, 401);
  assert.equal((await ask("/api/device-keys/session/", await prove(() => "another"))).status, 401);
  const late = await prove((challenge) => challenge);
  const database = new DatabaseSync(file, { timeout: 5000 });
  database.exec("UPDATE device_key_challenges SET expires_at = 1");
  database.close();
  assert.equal((await ask("/api/device-keys/session/", late)).status, 401);
  const elsewhere = { origin: "https://evil.example" };
  assert.equal((await ask("/api/device-keys/session/", await prove((each) => each), elsewhere)).status, 403);
});

test("writes an audit line for each write, but not for a failed write", async (t) => {
  const home = await run(t, "audit-trail.ts");
  const ask = (method: string, path: string, body?: object, user = "admin@example.com"): Promise<Response> =>
    fetch(home + path, {
      method,
      headers: { ...json, authorization: `Basic ${btoa(`${user}:the password of them`)}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const made = await ask("POST", "/notes", { body: "a" });
  assert.equal(made.status, 201);
  await ask("PATCH", "/notes/1", { body: "b" });
  assert.equal((await ask("PATCH", "/notes/1", { body: 7 })).status, 400);

  const lines = (await (await ask("GET", "/audit?resource=notes&sort=id")).json()) as Record<string, unknown>[];

  assert.deepEqual(
    lines.map(({ did, record, user_id: user, scheme }) => ({ did, record, user, scheme })),
    [
      { did: "create", record: 1, user: 1, scheme: "basic" },
      { did: "update", record: 1, user: 1, scheme: "basic" },
    ],
  );
  assert.equal(lines[0]!["request_id"], made.headers.get("x-request-id"));
  assert.equal((await ask("DELETE", "/audit/1")).status, 405);
});

test("tests every file of the folder `examples`", () => {
  const run = readFileSync(import.meta.filename, "utf8");

  assert.deepEqual(
    globSync("*.ts", { cwd: path.join(root, "examples") }).filter((file) => !run.includes(`run(t, "${file}"`)),
    [],
  );
});
