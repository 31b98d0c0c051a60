import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { factorsCollection } from "../../src/features/auth/gate/factors.ts";
import { warnOfOtherHosts } from "../../src/features/auth/passkeys/other-hosts.ts";
import { makeAuthenticator, type Authenticator, type Twist } from "../harness/authenticator.ts";
import { serve, type Answered, type API } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

// The user handles of passkeys, older stored passkeys, self attestation, and the reasons of refusals.

const origin = "https://example.com";
const settings = { LATCHKEY_PUBLIC_URL: origin };
const bearer = (access: string) => ({ authorization: `Bearer ${access}` });

interface Person {
  readonly id: number;
  readonly email: string;
  readonly password: string;
}

interface Options {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string; readonly name: string };
}

/** Starts a passkey of a user. Returns its options, and a function that confirms it. */
async function startPasskey(api: API, { id, email, password }: Person, headers?: Readonly<Record<string, string>>) {
  const login = headers ?? bearer((await api.post("/api/token/", { username: email, password })).json.access);
  const made = await api.post(`/users/${id}/factors`, { kind: "passkey" }, login);
  assert.equal(made.status, 201, made.text);
  const options: Options = made.json.options;
  const factor = Number(made.json.id);
  const confirm = (credential: unknown): Promise<Answered> =>
    api.post(`/users/${id}/factors/${factor}/confirm`, { credential }, login);
  return { options, factor, confirm };
}

async function addPasskey(api: API, person: Person, authenticator: Authenticator, twist: Twist = {}) {
  const { options, factor, confirm } = await startPasskey(api, person);
  const confirmed = await confirm(authenticator.register(options, twist));
  assert.equal(confirmed.status, 200, confirmed.text);
  return { options, factor, headers: bearer(confirmed.json.access) };
}

async function logIn(api: API, authenticator: Authenticator, twist?: Twist): Promise<Answered> {
  const { pending, ask } = (await api.post("/api/login/passkey/")).json;
  return api.post("/api/token/", { pending, credential: authenticator.assert(ask, twist) });
}

async function logInAsSecond(api: API, { email, password }: Person, authenticator: Authenticator, twist?: Twist) {
  const { pending, factors } = (await api.post("/api/token/", { username: email, password })).json.login;
  const credential = authenticator.assert(factors[0].ask, twist);
  return api.post("/api/login/", { pending, factor: factors[0].id, credential });
}

/** Changes the stored data of a passkey to what an older version has stored. */
async function makeOld({ service: { store } }: API, key: number, left: readonly string[]): Promise<void> {
  const { record } = (await store.find(factorsCollection, key))!;
  const data = Object.fromEntries(Object.entries(record["data"] as object).filter(([name]) => !left.includes(name)));
  const changes = [{ kind: "update", collection: factorsCollection, key, values: { data } } as const];
  assert.equal((await store.write({ changes })).kind, "written");
}

const oldHandle = (id: number): string => Buffer.from(`user:${id}`).toString("base64url");

// User handles

test("gives an account one user handle of 64 random octets, for all its passkeys", async (t) => {
  const api = await serve(t, { settings });
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  const first = await addPasskey(api, ann, makeAuthenticator(origin));
  const second = await startPasskey(api, ann, first.headers);
  const other = await startPasskey(api, bob);

  const handle = Buffer.from(first.options.user.id, "base64url");
  assert.equal(handle.length, 64);
  assert.equal(second.options.user.id, first.options.user.id);
  assert.notEqual(other.options.user.id, first.options.user.id);
});

test("gives an account the same user handle after its passkeys were deleted", async (t) => {
  const api = await serve(t, { settings });
  const ann = await api.user("Ann");
  const { options, factor, headers } = await addPasskey(api, ann, makeAuthenticator(origin));
  assert.equal((await api.delete(`/users/${ann.id}/factors/${factor}`, headers)).status, 204);

  assert.equal((await startPasskey(api, ann)).options.user.id, options.user.id);
});

test("gives an account one user handle for ten passkeys that are started at once", async (t) => {
  const api = await serve(t, { settings });
  const ann = await api.user("Ann");
  const headers = bearer((await api.post("/api/token/", { username: ann.email, password: ann.password })).json.access);

  const all = await Promise.all(Array.from({ length: 10 }, () => startPasskey(api, ann, headers)));

  assert.equal(new Set(all.map(({ options }) => options.user.id)).size, 1);
});

test("gives the users of two services at one host different user handles", async (t) => {
  const [one, other] = [await serve(t, { settings }), await serve(t, { settings })];
  const [first, second] = [
    await startPasskey(one, await one.user("Ann")),
    await startPasskey(other, await other.user("Ann")),
  ];

  assert.notEqual(first.options.user.id, second.options.user.id);
});

test("deletes the user handle with the account", async (t) => {
  const api = await serve(t, { settings });
  const ann = await api.user("Ann");
  const { options } = await startPasskey(api, ann);
  assert.equal((await api.delete(`/users/${ann.id}`, api.admin)).status, 204);
  api.clock.turn(1);
  const put = { name: "Ann", email: ann.email, password: ann.password };
  assert.equal((await api.put(`/users/${ann.id}`, put, api.admin)).status, 201);

  assert.notEqual((await startPasskey(api, ann)).options.user.id, options.user.id);
});

test("logs in with a passkey of an older version, alone and as a second factor", async (t) => {
  const api = await serve(t, { settings });
  const ann = await api.user("Ann");
  const authenticator = makeAuthenticator(origin);
  const { factor } = await addPasskey(api, ann, authenticator);
  await makeOld(api, factor, ["userHandle", "rpId", "backupEligible"]);
  const old = { userHandle: oldHandle(ann.id) };

  assert.equal((await logIn(api, authenticator, old)).status, 200);
  assert.equal((await logIn(api, authenticator, old)).status, 200);
  assert.equal((await logInAsSecond(api, ann, authenticator, old)).status, 200);
  assert.equal((await logInAsSecond(api, ann, authenticator, { userHandle: null })).status, 200);
  assert.equal((await logIn(api, authenticator, { userHandle: oldHandle(ann.id + 1) })).status, 401);
  assert.equal((await logIn(api, authenticator, { userHandle: null })).status, 401);
});

test("logs in with a new passkey that an older process has confirmed during an upgrade", async (t) => {
  const api = await serve(t, { settings });
  const ann = await api.user("Ann");
  const authenticator = makeAuthenticator(origin);
  const { factor } = await addPasskey(api, ann, authenticator);
  await makeOld(api, factor, ["userHandle", "rpId"]);

  assert.equal((await logIn(api, authenticator)).status, 200);
});

test("accepts the old handle for no passkey that has a handle of its own", async (t) => {
  const api = await serve(t, { settings });
  const ann = await api.user("Ann");
  const authenticator = makeAuthenticator(origin);
  await addPasskey(api, ann, authenticator);

  assert.equal((await logIn(api, authenticator, { userHandle: oldHandle(ann.id) })).status, 401);
});

// The host of stored passkeys

async function notices({ service: { store } }: API, rpId: string): Promise<readonly string[]> {
  const messages: string[] = [];
  await warnOfOtherHosts(store, rpId, (each) => void (each.kind === "notice" && messages.push(each.message)));
  return messages;
}

test("logs at the start that stored passkeys belong to another host", async (t) => {
  const api = await serve(t, { settings });
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  await startPasskey(api, bob);
  assert.deepEqual(await notices(api, "www.example.com"), []);
  const { factor } = await addPasskey(api, ann, makeAuthenticator(origin));

  assert.deepEqual(await notices(api, "example.com"), []);
  const [message = "", ...more] = await notices(api, "www.example.com");
  assert.match(message, /are bound to example\.com, and this service uses www\.example\.com/);
  assert.deepEqual(more, []);
  await makeOld(api, factor, ["rpId"]);
  assert.deepEqual(await notices(api, "www.example.com"), []);
});

test("logs stored passkeys of another host when a service starts", async (t) => {
  const shared = {
    LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
    LATCHKEY_SECRET: "a secret that both of the services know",
  };
  const before = await serve(t, { settings: { ...settings, ...shared } });
  await addPasskey(before, await before.user("Ann"), makeAuthenticator(origin));

  const after = await serve(t, { settings: { LATCHKEY_PUBLIC_URL: "https://www.example.com", ...shared } });

  const messages = after.observed.flatMap((each) => (each.kind === "notice" ? [each.message] : []));
  assert.match(messages.join("\n"), /Stored passkeys are bound to example\.com/);
});

test("stores the host of an older passkey at its next login", async (t) => {
  const api = await serve(t, { settings });
  const ann = await api.user("Ann");
  const authenticator = makeAuthenticator(origin);
  const { factor } = await addPasskey(api, ann, authenticator);
  await makeOld(api, factor, ["rpId"]);
  assert.equal((await logIn(api, authenticator)).status, 200);

  assert.equal((await notices(api, "other.example")).length, 1);
});

// Self attestation

for (const algorithm of ["ES256", "EdDSA", "RS256"] as const)
  test(`accepts a new passkey of ${algorithm} with a self attestation`, async (t) => {
    const api = await serve(t, { settings });
    const authenticator = makeAuthenticator(origin, algorithm);
    await addPasskey(api, await api.user("Ann"), authenticator, { self: {} });

    assert.equal((await logIn(api, authenticator)).status, 200);
  });

// Reasons

const foreign = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const refusals = (api: API) =>
  api.observed.flatMap((each) => (each.kind === "passkey_refused" ? [[each.reason, each.userId, each.factorId]] : []));

const refusedLogins: Readonly<Record<string, Twist>> = {
  type: { type: "webauthn.other" },
  challenge: { challenge: "AAAA" },
  origin: { origin: "https://evil.example" },
  cross_origin: { crossOrigin: true },
  rp_id: { rpId: "evil.example" },
  not_present: { flags: 0x04 },
  not_verified: { flags: 0x01 },
  backup_eligibility: { flags: 0x0d },
  signature: { signWith: foreign },
  user_handle: { userHandle: "AAAA" },
  malformed: { more: Buffer.from([0]) },
};

test("logs why a passkey was refused at a login, and does not show it to the caller", async (t) => {
  const api = await serve(t, { settings });
  const ann = await api.user("Ann");
  const authenticator = makeAuthenticator(origin);
  const { factor } = await addPasskey(api, ann, authenticator);
  const details = new Set<string>();

  for (const [reason, twist] of Object.entries(refusedLogins)) {
    api.clock.turn(61);
    api.observed.length = 0;
    const refused = await logIn(api, authenticator, twist);
    assert.deepEqual([refused.status, refused.json.code], [401, "invalid_credentials"], reason);
    assert.deepEqual(refusals(api), [[reason, ann.id, factor]]);
    details.add(refused.json.detail);
    if (reason === "not_verified") continue;
    api.clock.turn(61);
    api.observed.length = 0;
    assert.equal((await logInAsSecond(api, ann, authenticator, twist)).status, 401, reason);
    assert.deepEqual(refusals(api), [[reason, ann.id, factor]]);
  }
  api.clock.turn(61);
  api.observed.length = 0;
  assert.equal((await logIn(api, makeAuthenticator(origin))).status, 401);
  assert.equal((await logIn(api, authenticator, { userHandle: null })).status, 401);
  await api.patch(`/users/${ann.id}/account`, { active: false }, api.admin);
  assert.equal((await logIn(api, authenticator)).status, 401);
  assert.deepEqual(refusals(api), [
    ["unknown", null, null],
    ["user_handle", ann.id, factor],
    ["inactive", ann.id, factor],
  ]);
  assert.equal(details.size, 1);
});

const refusedPasskeys: Readonly<Record<string, Twist>> = {
  origin: { origin: "https://evil.example" },
  attestation: { self: { key: foreign } },
  key: { algorithm: -37 },
  malformed: { id: "AAAA" },
};

test("logs why a new passkey was refused", async (t) => {
  const api = await serve(t, { settings });
  const ann = await api.user("Ann");
  for (const [reason, twist] of Object.entries(refusedPasskeys)) {
    api.clock.turn(61);
    api.observed.length = 0;
    const { options, factor, confirm } = await startPasskey(api, ann);
    assert.equal((await confirm(makeAuthenticator(origin).register(options, twist))).status, 400, reason);
    assert.deepEqual(refusals(api), [[reason, ann.id, factor]]);
  }
});
