import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { opaqueTokenPattern } from "../../src/door/auth.ts";
import { readLinks } from "../harness/own-service.ts";
import { serve, type API } from "../harness/serve.ts";
import { testsOnPostgres } from "../harness/test-store.ts";

const withKey = (key: string) => ({ authorization: `Token ${key}` });

type Headers = Readonly<Record<string, string>>;

async function makeKey(api: API, id: number, headers: Headers, options: object = {}) {
  const made = await api.post(`/users/${id}/keys`, { name: "laptop", ...options }, headers);
  assert.equal(made.status, 201, made.text);
  return made.json as { readonly id: string; readonly key: string };
}

/** Waits for pending background writes: SQLite finishes them before this empty write. */
async function settle(api: API): Promise<void> {
  await api.service.store.write({ changes: [] });
  await new Promise((resolve) => setImmediate(resolve));
}

test("shows a key once, in the form that scanners for leaked secrets detect, and accepts it", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const path = `/users/${ann.id}/keys`;

  const made = await api.post(path, { name: " laptop " }, ann.headers);

  const { key, ...listed } = made.json;
  assert.deepEqual([made.status, made.headers.get("cache-control")], [201, "no-store"]);
  assert.equal(made.headers.get("location"), `${path}/${listed.id}`);
  assert.match(key, opaqueTokenPattern);
  assert.deepEqual(listed, {
    id: key.slice(3, 17),
    name: "laptop",
    prefix: key.slice(0, 17),
    scopes: null,
    created_at: "2026-01-31T09:30:00.000Z",
    expires_at: null,
    last_used_at: null,
  });
  assert.deepEqual((await api.get(path, ann.headers)).json, [listed]);
  assert.deepEqual((await api.get(`${path}/${listed.id}`, ann.headers)).json, listed);
  assert.equal((await api.get("/protected/", withKey(key))).json.scheme, "token");
});

test("gives a user many keys in addition to the one API token, and revokes each key separately and immediately", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const [one, other] = [await makeKey(api, ann.id, ann.headers), await makeKey(api, ann.id, ann.headers)];
  const { token } = (await api.post(`/users/${ann.id}/token`, undefined, ann.headers)).json;

  assert.equal((await api.delete(`/users/${ann.id}/keys/${one.id}`, withKey(other.key))).status, 204);

  const answers = [one.key, other.key, token].map(async (each) => (await api.get("/protected/", withKey(each))).status);
  assert.deepEqual(await Promise.all(answers), [401, 200, 200]);
  for (const gone of [one.id, "nothing", "%00", "0".repeat(14)]) {
    assert.equal((await api.delete(`/users/${ann.id}/keys/${gone}`, ann.headers)).status, 404, gone);
    assert.equal((await api.get(`/users/${ann.id}/keys/${gone}`, ann.headers)).status, 404, gone);
  }
});

test("lets only the user and administrators access keys, and finds no key of another user at the caller's own path", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  const { id } = await makeKey(api, ann.id, ann.headers);

  for (const [method, target] of [
    ["GET", ""],
    ["POST", ""],
    ["GET", `/${id}`],
    ["DELETE", `/${id}`],
  ] as const) {
    assert.equal((await api.ask(method, `/users/${ann.id}/keys${target}`, { headers: bob.headers })).status, 403);
    assert.equal((await api.ask(method, `/users/${ann.id}/keys${target}`)).status, 401);
  }
  assert.equal((await api.delete(`/users/${bob.id}/keys/${id}`, bob.headers)).status, 404);
  assert.equal((await api.post("/users/999/keys", { name: "x" }, api.admin)).status, 404);
  await makeKey(api, ann.id, api.admin);
  assert.equal((await api.delete(`/users/${ann.id}/keys/${id}`, api.admin)).status, 204);
});

const wrong: { what: string; body: unknown; pointer: string }[] = [
  { what: "no name", body: {}, pointer: "/name" },
  { what: "an empty name", body: { name: " " }, pointer: "/name" },
  { what: "an unknown member", body: { name: "x", owner: 1 }, pointer: "/owner" },
  { what: "a scope that is a text", body: { name: "x", scopes: "read" }, pointer: "/scopes" },
  { what: "an empty list of scopes", body: { name: "x", scopes: [] }, pointer: "/scopes" },
  { what: "a scope that is mistyped", body: { name: "x", scopes: ["Read"] }, pointer: "/scopes" },
  { what: "a scope twice", body: { name: "x", scopes: ["read", "read"] }, pointer: "/scopes" },
  { what: "a scope that is a number", body: { name: "x", scopes: [1] }, pointer: "/scopes" },
  { what: "an expiry in the past", body: { name: "x", expires_at: "2026-01-31T09:30:00Z" }, pointer: "/expires_at" },
  { what: "an expiry that is not a time", body: { name: "x", expires_at: "tomorrow" }, pointer: "/expires_at" },
];

test("names the invalid field of a request for a key", async (t) => {
  const api = await serve(t);

  for (const { what, body, pointer } of wrong) {
    const reply = await api.post("/users/1/keys", body, api.admin);
    assert.deepEqual([reply.status, reply.json.errors?.[0]?.pointer], [400, pointer], what);
  }
  assert.equal((await api.post("/users/1/keys", "name=x", { ...api.admin, "content-type": "text/plain" })).status, 415);
});

test("accepts a key until its exact expiry", async (t) => {
  const api = await serve(t);
  const { key } = await makeKey(api, 1, api.admin, { expires_at: "2026-01-31T10:30:00+00:00" });
  const session = () => api.get("/api/session/", withKey(key));
  assert.equal((await session()).json.expires_at, "2026-01-31T10:30:00.000Z");

  api.clock.turn(3599);
  assert.equal((await session()).status, 200);
  api.clock.turn(1);

  assert.deepEqual([(await session()).status, (await session()).json.detail], [401, "The key has expired."]);
});

test("revokes keys at deactivation and deletion, but not at a password change, and does not restore them at a reactivation", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  const [anns, bobs] = [await makeKey(api, ann.id, ann.headers), await makeKey(api, bob.id, bob.headers)];
  const status = async ({ key }: { key: string }) => (await api.get("/protected/", withKey(key))).status;

  await api.patch(`/users/${ann.id}`, { password: "quite another one", current_password: ann.password }, ann.headers);
  assert.equal(await status(anns), 200);
  await api.patch(`/users/${ann.id}/account`, { active: false }, api.admin);
  assert.equal(await status(anns), 401);
  assert.equal((await api.post(`/users/${ann.id}/keys`, { name: "x" }, api.admin)).status, 409);
  await api.patch(`/users/${ann.id}/account`, { active: true }, api.admin);
  assert.equal(await status(anns), 401);

  await api.delete(`/users/${bob.id}`, api.admin);
  assert.equal(await status(bobs), 401);
});

test("writes the last use at most once a minute", async (t) => {
  const api = await serve(t);
  const { id, key } = await makeKey(api, 1, api.admin);
  const used = async () => (await api.get(`/users/1/keys/${id}`, api.admin)).json.last_used_at;

  for (const [seconds, expected] of [
    [0, "09:30:00"],
    [59, "09:30:00"],
    [1, "09:31:00"],
  ] as const) {
    api.clock.turn(seconds);
    await api.get("/protected/", withKey(key));
    await settle(api);
    // On PostgreSQL, the write of the last use may still run, so the test reads it again.
    while ((await used()) !== `2026-01-31T${expected}.000Z`) assert.ok(testsOnPostgres, expected);
  }
});

test("allows a key only the HTTP methods of its scopes", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const keys = { read: ["read"], write: ["write"], both: ["read", "write"], neither: ["notes:read"] };
  const answers: Record<string, number[]> = {};

  for (const [name, scopes] of Object.entries(keys)) {
    const headers = withKey((await makeKey(api, ann.id, ann.headers, { scopes })).key);
    const replies = [
      await api.get("/orders", headers),
      await api.ask("HEAD", "/protected/", { headers }),
      await api.post("/orders", {}, headers),
    ];
    answers[name] = replies.map(({ status }) => status);
  }

  assert.deepEqual(answers, {
    read: [200, 200, 403],
    write: [403, 403, 201],
    both: [200, 200, 201],
    neither: [403, 403, 403],
  });
});

test("refuses every change under /users by an administrator's key with scopes", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const { id } = await makeKey(api, ann.id, ann.headers);
  const limited = withKey((await makeKey(api, 1, api.admin, { scopes: ["read", "write"] })).key);
  const params: Readonly<Record<string, string>> = {
    "{id}": String(ann.id),
    "{key_id:text}": id,
    "{session_id:text}": "x",
    "{factor_id}": "1",
  };
  const paths = api.service.routes.filter((route) => route.path.startsWith("/users"));

  const answers: string[] = [];
  for (const route of paths) {
    const target = route.path.replaceAll(/\{[^}]*\}/g, (each) => params[each]!);
    for (const [method, endpoint] of route.methods) {
      if (method === "GET" || method === "QUERY" || endpoint.access === "open") continue;
      const { status } = await api.ask(method, target, { headers: limited, body: {} });
      answers.push(`${method} ${route.path} ${status}`);
    }
  }

  assert.ok(answers.length >= 10);
  assert.deepEqual(
    answers.filter((each) => !each.endsWith(" 403")),
    [],
  );
  assert.equal((await api.get(`/users/${ann.id}`, limited)).status, 200);
});

test("counts wrong keys as guesses, but not revoked keys", async (t) => {
  const api = await serve(t);
  const { id, key } = await makeKey(api, 1, api.admin);
  const other = await makeKey(api, 1, api.admin);
  await api.delete(`/users/1/keys/${id}`, api.admin);

  for (let times = 0; times < 12; times++) assert.equal((await api.get("/protected/", withKey(key))).status, 401);
  const { formatOpaqueToken, parseOpaqueToken } = await import("../../src/core/crypto/opaque-token.ts");
  const forged = formatOpaqueToken({ lookup: other.id, secret: parseOpaqueToken(key, "lk")!.secret }, "lk");
  const statuses: number[] = [];
  for (let times = 0; times < 11; times++) statuses.push((await api.get("/protected/", withKey(forged))).status);

  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 401), 429]);
  assert.equal((await api.get("/protected/", withKey(other.key))).status, 200);
});

test("allows a user at most a hundred keys", async (t) => {
  const api = await serve(t);
  await Promise.all(Array.from({ length: 99 }, () => makeKey(api, 1, api.admin)));

  const replies = await Promise.all([1, 2, 3].map(() => api.post("/users/1/keys", { name: "one more" }, api.admin)));

  assert.deepEqual(
    replies.map(({ status }) => status).toSorted((one, other) => one - other),
    [201, 409, 409],
  );
});

test("lists the keys of a user in pages, oldest first, forwards and backwards", async (t) => {
  const api = await serve(t);
  for (let at = 0; at < 5; at++) await makeKey(api, 1, api.admin);
  const all = (await api.get("/users/1/keys", api.admin)).json.map(({ id }: { id: string }) => id);

  const seen: string[] = [];
  let page = await api.get("/users/1/keys?limit=2", api.admin);
  for (;;) {
    seen.push(...page.json.map(({ id }: { id: string }) => id));
    const { next } = readLinks(page);
    if (next === undefined) break;
    page = await api.get(next, api.admin);
  }
  const before = await api.get(readLinks(page)["prev"]!, api.admin);

  assert.equal(all.length, 5);
  assert.deepEqual(seen, all);
  assert.deepEqual(
    before.json.map(({ id }: { id: string }) => id),
    all.slice(2, 4),
  );
  for (const query of ["?limit=0", "?limit=1001", "?cursor=x", "?sort=id"])
    assert.equal((await api.get(`/users/1/keys${query}`, api.admin)).status, 400, query);
});

test("lists keys as XML too, and keeps the key out of files, logs and observations", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-keys-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // On SQLite only, because the test reads the database files.
  const api = await serve(t, { settings: { LATCHKEY_DATABASE: `sqlite:${path.join(folder, "test.db")}` } });
  const { key } = await makeKey(api, 1, api.admin, { scopes: ["read", "notes:read"] });
  await api.get("/protected/", withKey(key));
  await api.get("/protected/", withKey(`${key.slice(0, -1)}!`));

  const reply = await api.get("/users/1/keys", { ...api.admin, accept: "application/xml" });

  assert.match(reply.text, /<keys><key><id>\w{14}<\/id><name>laptop<\/name>.*read.*notes:read/s);
  const visibleTexts = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), "latin1"));
  visibleTexts.push(JSON.stringify(api.observed), reply.text);
  for (const part of [key, key.slice(17), key.slice(17, 59), key.slice(38, 59)])
    assert.ok(!visibleTexts.some((text) => text.includes(part)));
});
