import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import {
  accountsCollection,
  apiTokensCollection,
  namedKeysCollection,
  sessionsCollection,
} from "../../src/door/auth.ts";
import type { Collection } from "../../src/door/stores.ts";
import { factorsCollection } from "../../src/features/auth/gate/factors.ts";
import { addTOTPTo, readCookies } from "../harness/factors.ts";
import { outsideLogins } from "../harness/outside-logins.ts";
import { basicHeader, serve, type Answered, type API, type AskOptions } from "../harness/serve.ts";

// Tries every way to log in without a second factor. The service must refuse each of them if the account needs a second
// factor.

const iss = "https://login.example/";
const aud = "https://api.example";
const customToken = "a-token-of-32-characters-or-more";
const email = "ann@example.com";
const password = "password of Ann";

type Headers = Readonly<Record<string, string>>;

/** A service with a user whose account is in one of the `states`. */
interface World {
  readonly api: API;
  readonly id: number;
  /** Logins from before the account needed a factor. */
  readonly earlier: Readonly<Record<"session" | "access", Headers>> & { readonly refresh: string };
  /** Request headers with a credential of the user that has only one proof. */
  readonly callers: Readonly<Record<string, Headers>>;
}

const states = ["no factor", "a factor", "a role that requires a factor"] as const;
type State = (typeof states)[number];

/** Starts an issuer of access tokens on loopback. Returns the address of its keys and a way to make a token. */
async function startIssuer(t: TestContext) {
  const key = generateKeyPairSync("ed25519");
  const jwk = { ...key.publicKey.export({ format: "jwk" }), kid: "1", alg: "EdDSA", use: "sig" };
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys: [jwk] }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    jwksURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    token(now: number): string {
      const iat = Math.floor(now / 1000);
      // `acr` and `amr` claim a second factor. They do not count, because the issuer's declaration below does not allow
      // them.
      const claims = {
        iss,
        aud,
        iat,
        exp: iat + 86_400,
        auth_time: iat,
        sub: email,
        name: email,
        acr: "2",
        amr: ["pwd", "otp"],
      };
      const text = `${encode({ alg: "EdDSA", typ: "at+jwt", kid: "1" })}.${encode(claims)}`;
      return `${text}.${sign(null, Buffer.from(text), key.privateKey).toString("base64url")}`;
    },
  };
}

/** Starts the service with every scheme and the logins of a third party, and makes a user in this state. */
async function makeWorld(t: TestContext, state: State): Promise<World> {
  const issuer = await startIssuer(t);
  const outside = outsideLogins();
  const api = await serve(t, {
    settings: {
      LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user,custom-header",
      LATCHKEY_TRUSTED_PROXIES: "127.0.0.1",
      LATCHKEY_CUSTOM_TOKEN: customToken,
      LATCHKEY_CUSTOM_TOKEN_USERNAME: "admin",
      ...(state === "a role that requires a factor" ? { LATCHKEY_SECOND_FACTOR: "admins" } : {}),
    },
    config: {
      issuers: [{ issuer: iss, audience: aud, jwksURL: issuer.jwksURL, algorithms: ["EdDSA"], usernameClaim: "name" }],
      features: outside.features,
    },
  });
  const { id } = (await api.post("/users", { name: "Ann", email, password }, { "x-custom-token": customToken })).json;
  const pair = (await api.post("/api/token/", { username: email, password })).json;
  const session = readCookies(await api.post("/api/session/", { username: email, password }));
  if (state === "a factor") await addTOTPTo(api, { id, email, password });
  if (state === "a role that requires a factor") await promote(api, id);
  for (const issuerName of ["", iss])
    await outside.people().accounts.bindings.bind(id, { issuer: issuerName, subject: email }, api.clock.now);
  return {
    api,
    id,
    earlier: { session, access: { authorization: `Bearer ${pair.access}` }, refresh: pair.refresh },
    callers: {
      password: basicHeader(email, password),
      proxy: { "x-remote-user": email },
      issuer: { authorization: `Bearer ${issuer.token(api.clock.now)}` },
      badge: { "x-badge": email },
      robot: { "x-robot": email },
    },
  };
}

/** Makes the user an administrator by a write to the store. The command and the API have the same result. */
async function promote(api: API, id: number): Promise<void> {
  const where = { column: "id", operator: "eq", value: id } as const;
  const change = { kind: "updateAll", collection: accountsCollection, where, values: { role: "admin" } } as const;
  assert.equal((await api.service.store.write({ changes: [change] })).kind, "written");
}

type Way = readonly [name: string, method: string, path: string, options: AskOptions];

/** Returns the requests that start a login, and requests with a login from before the account needed a factor. */
function collectLogins({ earlier }: World): readonly Way[] {
  const byPassword = { username: email, password };
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const formBody = new URLSearchParams(byPassword).toString();
  return [
    ["earlier session", "GET", "/protected/", { headers: earlier.session }],
    ["earlier access token", "GET", "/protected/", { headers: earlier.access }],
    ["earlier refresh token", "POST", "/api/token/refresh/", { body: { refresh: earlier.refresh } }],
    ["session", "POST", "/api/session/", { body: byPassword }],
    ["session by a form", "POST", "/api/session/", { headers: form, body: formBody }],
    [
      "session by XML",
      "POST",
      "/api/session/",
      {
        headers: { "content-type": "application/xml" },
        body: `<credentials><username>${email}</username><password>${password}</password></credentials>`,
      },
    ],
    ["token pair", "POST", "/api/token/", { body: byPassword }],
    ["token pair by a form", "POST", "/api/token/", { headers: form, body: formBody }],
    ["token pair as cookies", "POST", "/api/token/", { body: { ...byPassword, cookie: true } }],
    ["API token", "POST", "/api-token-auth/", { body: byPassword }],
    ["API token by a form", "POST", "/api-token-auth/", { headers: form, body: formBody }],
    ["session by badge", "POST", "/badge/session", { headers: { "x-badge-login": email } }],
    ["token pair by badge", "POST", "/badge/tokens", { headers: { "x-badge-login": email } }],
  ];
}

/** Returns the calls that make or change a credential, with and without the password, for a caller with one proof. */
function collectChanges({ id }: World, headers: Headers): readonly Way[] {
  const proof = { current_password: password };
  return [
    ["API token", "POST", `/users/${id}/token`, { headers }],
    ["API token, with the password", "POST", `/users/${id}/token`, { headers, body: proof }],
    ["key", "POST", `/users/${id}/keys`, { headers, body: { name: "one" } }],
    ["key, with the password", "POST", `/users/${id}/keys`, { headers, body: { name: "two", ...proof } }],
    ["e-mail", "PATCH", `/users/${id}`, { headers, body: { email: "other@example.com", ...proof } }],
    ["username", "PATCH", `/users/${id}/account`, { headers, body: { username: "other", ...proof } }],
    ["factor", "POST", `/users/${id}/factors`, { headers, body: { kind: "totp" } }],
    ["factor, with the password", "POST", `/users/${id}/factors`, { headers, body: { kind: "totp", ...proof } }],
    ["deletion of a factor", "DELETE", `/users/${id}/factors/1`, { headers }],
    ["recovery codes", "POST", `/users/${id}/factors/recovery`, { headers, body: proof }],
    ["password", "PATCH", `/users/${id}`, { headers, body: { password: "another good one", ...proof } }],
  ];
}

async function ask({ api }: World, [, method, path, options]: Way): Promise<Answered> {
  // Moves the clock, so that no limit of logins is reached.
  api.clock.turn(7);
  return api.ask(method, path, options);
}

/** Returns the rows that a login or a change of a credential would write. */
async function written({ api, id }: World): Promise<unknown> {
  const { store } = api.service;
  const where = { column: "user_id", operator: "eq", value: id } as const;
  const collections: readonly Collection[] = [
    sessionsCollection,
    apiTokensCollection,
    namedKeysCollection,
    factorsCollection,
  ];
  const rows = [];
  for (const collection of collections)
    rows.push(...(await store.list({ collection, where, sort: [], limit: 100 })).map(({ record }) => record));
  // A refused request still updates `last_seen_at`, so the comparison ignores this column.
  const shown = rows.map((record) => ({ ...record, last_seen_at: null }));
  return [(await store.find(accountsCollection, id))!.record, ...shown];
}

for (const state of states.slice(1))
  test(`refuses every login with one proof for an account with ${state}`, async (t) => {
    const world = await makeWorld(t, state);
    const before = await written(world);

    const logins = collectLogins(world);
    const refuse = async (way: (typeof logins)[number], code?: string): Promise<void> => {
      const answer = await ask(world, way);
      assert.equal(answer.status, 401, `${way[0]}: ${answer.text}`);
      assert.ok(answer.json.detail, way[0]);
      assert.doesNotMatch(answer.headers.getSetCookie().join(), /session=[^;]|token=[^;]/, way[0]);
      if (code !== undefined) assert.equal(answer.json.code, code, way[0]);
      await refusesPending(world, answer);
    };
    const isEarlier = ([name]: (typeof logins)[number]): boolean => name.startsWith("earlier");
    for (const way of logins.filter((each) => !isEarlier(each))) await refuse(way, "factor_required");
    assert.deepEqual(await written(world), before);

    // A login that started before a rule required a factor ends for good when the rule refuses it.
    for (const way of logins.filter(isEarlier)) await refuse(way);
    if (!state.includes("role")) assert.deepEqual(await written(world), before);
  });

/** Checks that no scheme accepts the `pending` value of a waiting login as a credential. */
async function refusesPending(world: World, { json, headers }: Answered): Promise<void> {
  const cookie = headers
    .getSetCookie()[0]
    ?.split(";")[0]
    ?.replace(/^login=/, "");
  const pending: string | undefined = json.login?.pending ?? cookie;
  if (pending === undefined) return;
  for (const credential of [
    { cookie: `session=${pending}` },
    { cookie: `access_token=${pending}` },
    { authorization: `Bearer ${pending}` },
    { authorization: `Token ${pending}` },
    { "x-custom-token": pending },
  ])
    assert.equal((await world.api.get("/protected/", credential)).status, 401, JSON.stringify(credential));
  world.api.clock.turn(61);
}

for (const state of states.slice(1))
  test(`refuses every credential with one proof for an account with ${state}, and lets programs only read`, async (t) => {
    const world = await makeWorld(t, state);
    const before = await written(world);

    for (const [caller, headers] of Object.entries(world.callers)) {
      const read = await ask(world, ["read", "GET", "/protected/", { headers }]);
      assert.equal(read.status, caller === "robot" ? 200 : 401, caller);
      if (caller !== "robot") assert.equal(read.json.code, "factor_required", caller);
      for (const way of collectChanges(world, headers)) {
        const answer = await ask(world, way);
        const said = `${caller}, ${way[0]}: ${answer.text}`;
        assert.ok([401, 403, 404, 409].includes(answer.status), said);
        if (caller !== "robot") assert.deepEqual([answer.status, answer.json.code], [401, "factor_required"], said);
      }
    }
    assert.deepEqual(await written(world), before);
  });

test("accepts every way to log in for an account that needs no factor", async (t) => {
  for (const caller of ["password", "proxy", "issuer", "badge"]) {
    const world = await makeWorld(t, "no factor");
    for (const way of collectLogins(world)) assert.ok((await ask(world, way)).status < 300, way[0]);
    const headers = world.callers[caller]!;
    const read = await ask(world, ["read", "GET", "/protected/", { headers }]);
    assert.equal(read.status, 200, caller);
    const statuses = [];
    for (const way of collectChanges(world, headers)) statuses.push((await ask(world, way)).status);
    // 403 for the username: the proxy and the issuer name users, so only administrators choose usernames.
    // 409 for the API token: a login by the proxy or the issuer gets no token that never expires.
    // 409 for the recovery codes: the user has no factor at that time.
    const [made, ...others] = statuses.slice(1);
    assert.equal(made, caller === "proxy" || caller === "issuer" ? 409 : 200, caller);
    assert.deepEqual(others, [201, 201, 200, 403, 201, 201, 204, 409, 200], caller);
  }
});

test("refuses to log an inactive account in, even if the login of a third party does not check the account", async (t) => {
  const api = await serve(t, { config: { features: outsideLogins().features } });
  const ann = await api.user("Ann");
  const headers = { "x-badge-login": ann.email };
  assert.equal((await api.post("/badge/tokens", undefined, headers)).status, 200);
  assert.equal((await api.patch(`/users/${ann.id}/account`, { active: false }, api.admin)).status, 200);

  for (const path of ["/badge/session", "/badge/tokens"]) {
    const refused = await api.post(path, undefined, headers);
    assert.deepEqual([refused.status, refused.json.code], [401, "invalid_credentials"], refused.text);
    assert.deepEqual(refused.headers.getSetCookie(), []);
  }
});
