import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { makeAuthenticator, type Authenticator, type Twist } from "../harness/authenticator.ts";
import { readCookies } from "../harness/factors.ts";
import { serve, type API } from "../harness/serve.ts";

const origin = "https://app.example.com";
const settings = { LATCHKEY_PUBLIC_URL: "https://example.com", LATCHKEY_ALLOWED_ORIGINS: origin };
const bearer = (access: string) => ({ authorization: `Bearer ${access}` });

interface Owner {
  readonly id: number;
  readonly email: string;
  readonly password: string;
  readonly factor: string;
  readonly authenticator: Authenticator;
  readonly headers: Readonly<Record<string, string>>;
}

/** Creates a user with a passkey. */
async function addPasskey(api: API, name: string, algorithm?: "ES256" | "EdDSA" | "RS256"): Promise<Owner> {
  const { id, email, password } = await api.user(name);
  const login = (await api.post("/api/token/", { username: email, password })).json;
  const made = await api.post(`/users/${id}/factors`, { kind: "passkey", label: "Laptop" }, bearer(login.access));
  assert.equal(made.status, 201, made.text);
  const authenticator = makeAuthenticator(origin, algorithm);
  const credential = authenticator.register(made.json.options);
  const path = `/users/${id}/factors/${made.json.id}/confirm`;
  const confirmed = await api.post(path, { credential }, bearer(login.access));
  assert.equal(confirmed.status, 200, confirmed.text);
  return { id, email, password, factor: made.json.id, authenticator, headers: bearer(confirmed.json.access) };
}

/** Logs in with a passkey alone. */
async function logIn(api: API, { authenticator }: Owner, twist?: Twist, path = "/api/token/") {
  const { pending, ask } = (await api.post("/api/login/passkey/")).json;
  return api.post(path, { pending, credential: authenticator.assert(ask, twist) });
}

for (const algorithm of ["ES256", "EdDSA", "RS256"] as const)
  test(`logs in with only a passkey of ${algorithm}, at level 2`, async (t) => {
    const api = await serve(t, { settings });
    const ann = await addPasskey(api, "Ann", algorithm);

    const pair = await logIn(api, ann);
    const session = await logIn(api, ann, {}, "/api/session/");

    assert.equal(pair.status, 200, pair.text);
    assert.equal(session.status, 201, session.text);
    for (const headers of [bearer(pair.json.access), readCookies(session)]) {
      const { amr, level, user } = (await api.get("/api/session/", headers)).json;
      assert.deepEqual([amr, level, user.id], [["hwk"], 2, ann.id]);
    }
  });

test("accepts a passkey as the second factor after a password", async (t) => {
  const api = await serve(t, { settings });
  const ann = await addPasskey(api, "Ann");
  const first = await api.post("/api/token/", { username: ann.email, password: ann.password });
  const { pending, factors } = first.json.login;
  assert.deepEqual([factors[0].id, factors[0].kind], [ann.factor, "passkey"]);
  assert.equal(factors[0].ask.allowCredentials.length, 1);

  const lacking = await api.post("/api/login/", { pending, factor: ann.factor, code: "000000" });
  const { pointer, code } = lacking.json.errors[0];
  assert.deepEqual([lacking.status, pointer, code], [400, "/credential", "required"]);

  // Without user verification, the passkey proves only possession, which is enough for a second factor.
  const credential = ann.authenticator.assert(factors[0].ask, { flags: 0x01 });
  const done = await api.post("/api/login/", { pending, factor: ann.factor, credential });

  assert.equal(done.status, 200, done.text);
  assert.deepEqual((await api.get("/api/session/", bearer(done.json.access))).json.amr, ["pwd", "hwk"]);
});

test("confirms a login with a passkey", async (t) => {
  const api = await serve(t, { settings });
  const ann = await addPasskey(api, "Ann");
  api.clock.turn(200);
  const pair = (await logIn(api, ann)).json;
  api.clock.turn(299);
  const started = (await api.post("/api/login/confirm/", undefined, bearer(pair.access))).json;

  const credential = ann.authenticator.assert(started.factors[0].ask);
  const done = await api.post("/api/login/", { pending: started.pending, factor: ann.factor, credential });

  assert.equal(done.status, 200, done.text);
  assert.deepEqual(Object.keys(done.json), ["access", "token_type", "expires_in"]);
  const { auth_time } = (await api.get("/api/session/", bearer(done.json.access))).json;
  assert.equal(Date.parse(auth_time), api.clock.now);
});

const foreign = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

/** Responses of an attacker, or of a browser on another site. */
const hostile: Readonly<Record<string, Twist>> = {
  "another origin": { origin: "https://evil.example" },
  "an origin with the same ending": { origin: "https://notexample.com" },
  "the origin over cleartext": { origin: "http://app.example.com" },
  "another port": { origin: "https://app.example.com:8443" },
  "an origin of the top-level domain": { origin: "https://com" },
  "no origin": { origin: "" },
  "another RP id": { rpId: "evil.example" },
  "an RP id of a subdomain": { rpId: "app.example.com" },
  "another challenge": { challenge: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" },
  "no challenge": { challenge: "" },
  "the type of the other ceremony": { type: "webauthn.other" },
  "an empty type": { type: "" },
  "a frame of another site": { crossOrigin: true },
  "a top page of another site": { topOrigin: "https://evil.example" },
  "no user present": { flags: 0x44 },
  "no flags": { flags: 0 },
  "a backup flag of a key that cannot have a backup": { flags: 0x55 },
  "bytes behind the data": { more: Buffer.from([0]) },
  "extensions that are not a map": { flags: 0xc5, more: Buffer.from([0x01]) },
};

/** Hostile responses to a login request. */
const hostileAssertions: Readonly<Record<string, Twist>> = {
  ...hostile,
  "another key": { signWith: foreign },
  "another user's handle": { userHandle: Buffer.from("user:1").toString("base64url") },
  "an invalid user handle": { userHandle: "AAAA" },
  "an unknown credential": { id: "AAAA" },
  "an empty credential id": { id: "" },
  "an attested key": { flags: 0x45 },
  "no user verification": { flags: 0x01 },
  "no handle": { userHandle: null },
};

/** Hostile responses to a request to create a passkey. */
const hostileRegistrations: Readonly<Record<string, Twist>> = {
  ...hostile,
  "another format": { fmt: "packed" },
  "a statement with the format none": { attStmt: new Map([["sig", Buffer.from([1])]]) },
  "an algorithm that was not asked for": { algorithm: -37 },
  "the algorithm of another kind of key": { algorithm: -8 },
  "an id that is not the key's": { id: "AAAA" },
  "no attested key": { flags: 0x05 },
};

test("refuses every hostile response to a login", async (t) => {
  const api = await serve(t, { settings });
  const ann = await addPasskey(api, "Ann");

  for (const [name, twist] of Object.entries(hostileAssertions)) {
    api.clock.turn(61);
    const answer = await logIn(api, ann, twist);
    assert.deepEqual([answer.status, answer.json.code], [401, "invalid_credentials"], name);
  }
  assert.equal((await logIn(api, ann)).status, 200);
});

test("refuses every hostile response for a new passkey", async (t) => {
  const api = await serve(t, { settings });
  const { id, email, password } = await api.user("Ann");

  for (const [name, twist] of Object.entries(hostileRegistrations)) {
    api.clock.turn(3601);
    const { access } = (await api.post("/api/token/", { username: email, password })).json;
    const made = (await api.post(`/users/${id}/factors`, { kind: "passkey" }, bearer(access))).json;
    const credential = makeAuthenticator(origin).register(made.options, twist);
    const path = `/users/${id}/factors/${made.id}/confirm`;
    const answer = await api.post(path, { credential }, bearer(access));
    assert.deepEqual([answer.status, answer.json.errors?.[0].pointer], [400, "/credential"], name);
    assert.equal((await api.delete(`/users/${id}/factors/${made.id}`, bearer(access))).status, 204);
  }
  assert.deepEqual((await api.get(`/users/${id}/factors`, api.admin)).json, []);
});

test("refuses input that is not a response, and never answers 500", async (t) => {
  const api = await serve(t, { settings });
  const ann = await addPasskey(api, "Ann");
  const shapes: readonly unknown[] = [
    {},
    [],
    "text",
    1,
    { id: 1 },
    { id: "AAAA", type: "public-key" },
    { id: "AAAA", type: "public-key", response: [] },
    { id: "AAAA", type: "public-key", response: { clientDataJSON: "!", authenticatorData: "", signature: "" } },
    { id: "x".repeat(2000), type: "public-key", response: {} },
  ];

  for (const credential of shapes) {
    api.clock.turn(61);
    const { pending } = (await api.post("/api/login/passkey/")).json;
    const answer = await api.post("/api/token/", { pending, credential });
    assert.deepEqual([answer.status, answer.json.code], [401, "invalid_credentials"], JSON.stringify(credential));
  }
  const { ask } = (await api.post("/api/login/passkey/")).json;
  for (const pending of ["a", "a.b.c", "a.9999999999999.c", "x".repeat(200)]) {
    const answer = await api.post("/api/token/", { pending, credential: ann.authenticator.assert(ask) });
    assert.deepEqual([answer.status, answer.json.code], [401, "login_expired"], pending);
  }
});

test("accepts a challenge once, for five minutes, and only for its own login", async (t) => {
  const api = await serve(t, { settings });
  const ann = await addPasskey(api, "Ann");
  const { pending, ask } = (await api.post("/api/login/passkey/")).json;
  const credential = ann.authenticator.assert(ask);

  const answers = await Promise.all([1, 2, 3].map(() => api.post("/api/token/", { pending, credential })));
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 401, 401],
  );

  const late = (await api.post("/api/login/passkey/")).json;
  const other = (await api.post("/api/login/passkey/")).json;
  const answered = ann.authenticator.assert(late.ask);
  assert.equal((await api.post("/api/token/", { pending: other.pending, credential: answered })).status, 401);
  api.clock.turn(300);
  assert.equal((await api.post("/api/token/", { pending: late.pending, credential: answered })).status, 401);
});

test("refuses and logs a signature counter that decreases", async (t) => {
  const api = await serve(t, { settings });
  const ann = await addPasskey(api, "Ann");
  assert.equal((await logIn(api, ann, { counter: 10 })).status, 200);

  assert.equal((await logIn(api, ann, { counter: 10 })).status, 401);
  assert.equal((await logIn(api, ann, { counter: 9 })).status, 401);

  const seen = api.observed.filter(({ kind }) => kind === "passkey_counter_went_back");
  assert.deepEqual(seen.length, 2);
  assert.equal((await logIn(api, ann, { counter: 11 })).status, 200);
});

test("refuses a login with a passkey of another user, with any user handle", async (t) => {
  const api = await serve(t, { settings });
  const [ann, bob] = [await addPasskey(api, "Ann"), await addPasskey(api, "Bob")];
  const handle = Buffer.from(`user:${bob.id}`).toString("base64url");

  assert.equal((await logIn(api, ann, { userHandle: handle })).status, 401);
  const { pending } = (await api.post("/api/token/", { username: bob.email, password: bob.password })).json.login;
  const { ask } = (await api.post("/api/login/passkey/")).json;
  const answer = await api.post("/api/login/", {
    pending,
    factor: bob.factor,
    credential: ann.authenticator.assert(ask),
  });
  assert.equal(answer.status, 401);
});

test("does not reveal that a passkey belongs to another user", async (t) => {
  const api = await serve(t, { settings });
  const ann = await addPasskey(api, "Ann");
  const { id, email: username, password } = await api.user("Bob");
  const { access } = (await api.post("/api/token/", { username, password })).json;
  const made = (await api.post(`/users/${id}/factors`, { kind: "passkey" }, bearer(access))).json;

  const credential = ann.authenticator.register(made.options);
  const taken = await api.post(`/users/${id}/factors/${made.id}/confirm`, { credential }, bearer(access));

  const [issue] = taken.json.errors;
  assert.deepEqual([taken.status, issue.pointer, issue.code], [400, "/credential", "invalid"], taken.text);
});

test("refuses to delete the only passkey of a user without a password", async (t) => {
  const api = await serve(t, { settings });
  const ann = await addPasskey(api, "Ann");
  const accounts = await import("../../src/features/auth/records/accounts.ts");
  const where = { column: "id", operator: "eq", value: ann.id } as const;
  const values = { password_hash: null };
  await api.service.store.write({
    changes: [{ kind: "updateAll", collection: accounts.accountsCollection, where, values }],
  });

  const refused = await api.delete(`/users/${ann.id}/factors/${ann.factor}`, ann.headers);

  assert.deepEqual([refused.status, refused.json.code], [409, "last_login"]);
});
