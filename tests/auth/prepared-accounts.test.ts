import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import { factorsCollection } from "../../src/features/auth/gate/factors.ts";
import { admitted } from "../harness/admitted.ts";
import { readCookies } from "../harness/factors.ts";
import { basic, MINUTE_MS, startMailFlows, type Headers, type MailFlows } from "../harness/mail-flows.ts";
import { email as owner, password } from "../harness/own-logins.ts";

// An attacker signs up with the address of another person and adds ways to log in. Later, the owner of the mailbox
// proves the address.

const chosen = "password-of-the-owner";

/** The ways to log in that the attacker has added to the account. */
interface Attacker {
  readonly headers: Record<string, Headers>;
  refresh?: string;
  pending?: string;
  code?: () => string;
}

type Step = (api: MailFlows, attacker: Attacker) => Promise<void>;

const steps = {
  async session(api, { headers }) {
    headers["session"] = await api.logIn();
  },
  async tokens(api, attacker) {
    const pair = (await api.post("/api/token/", { username: owner, password })).json;
    attacker.headers["access"] = { authorization: `Bearer ${pair.access}` };
    attacker.refresh = pair.refresh;
  },
  async keys(api, { headers }) {
    const session = headers["session"] ?? (await api.logIn());
    const token = await api.post("/users/1/token", undefined, session);
    headers["API token"] = { authorization: `Token ${token.json.token}` };
    const key = await api.post("/users/1/keys", { name: "build" }, session);
    headers["key"] = { authorization: `Token ${key.json.key}` };
  },
  async factor(api, attacker) {
    const { headers, code } = await api.addTOTP(1, await api.logIn());
    attacker.headers["factor"] = headers;
    attacker.code = code;
  },
  async waiting(api, attacker) {
    const answer = await api.post("/api/token/", { username: owner, password });
    attacker.pending = answer.json.login?.pending;
  },
  async identity(api, { headers }) {
    const bound = { issuer: "https://idp.example", subject: "attacker" };
    await api.people.accounts.bindings.bind(1, bound, api.clock.now);
    headers["password"] = basic(owner, password);
  },
  async password(api) {
    const changed = { password: "another-engine", current_password: password };
    await api.ask("PATCH", "/users/1", changed, basic(owner, password));
    const back = { password, current_password: "another-engine" };
    await api.ask("PATCH", "/users/1", back, basic(owner, "another-engine"));
  },
  async reset(api) {
    await api.reset();
  },
  async loginCode(api) {
    await api.loginCode();
  },
} satisfies Record<string, Step>;

const orders: readonly (readonly (keyof typeof steps)[])[] = [
  ["session"],
  ["session", "tokens", "keys"],
  ["factor"],
  ["keys", "factor"],
  ["identity"],
  ["identity", "factor", "waiting"],
  ["reset", "session"],
  ["loginCode", "session", "keys", "factor"],
  ["password", "session", "identity"],
  ["factor", "reset"],
  ["reset", "factor", "waiting", "loginCode"],
  ["identity", "keys", "loginCode", "reset", "factor", "waiting"],
];

async function prepare(t: TestContext, order: readonly (keyof typeof steps)[]) {
  const api = await startMailFlows(t);
  const attacker: Attacker = { headers: { password: basic(owner, password) } };
  for (const step of order) await steps[step](api, attacker);
  return { api, attacker };
}

/** Tries every way that the attacker has added. Returns the names of those that still log in. */
async function findOpenWays(api: MailFlows, { headers, refresh, pending, code }: Attacker): Promise<readonly string[]> {
  const open: string[] = [];
  for (const [name, each] of Object.entries(headers))
    if ((await api.get("/users/1", each)).status === 200) open.push(name);
  const logins: Record<string, [string, object]> = {
    password: ["/api/session/", { username: owner, password }],
    refresh: ["/api/token/refresh/", { refresh: refresh ?? "none" }],
    pending: ["/api/login/", { pending: pending ?? "none", factor: "1", code: code?.() ?? "000000" }],
  };
  for (const [name, [path, body]] of Object.entries(logins))
    if ((await api.post(path, body)).status < 300) open.push(name);
  const bound = await api.people.accounts.bindings.resolve(
    { issuer: "https://idp.example", subject: "attacker", username: "nobody-of-this-name" },
    api.clock.now,
  );
  if (bound !== null) open.push("identity");
  if ((await api.people.accounts.find(1))!.factors !== 0) open.push("factors");
  // An active row of a passkey alone would log in.
  if ((await api.service.store.count(factorsCollection, null)) !== 0) open.push("rows of factors");
  return open;
}

for (const order of orders) {
  test(`ends every way to log in that an attacker prepared: ${order.join(", ")}`, async (t) => {
    const byReset = await prepare(t, order);
    const { token } = await byReset.api.reset();
    const body = { token, password: chosen, end_keys: false };
    const confirmed = await byReset.api.post("/api/password/reset/confirm/", body);
    assert.equal(confirmed.status, 204, confirmed.text);
    assert.deepEqual(await findOpenWays(byReset.api, byReset.attacker), []);
    assert.equal((await byReset.api.get("/users/1", basic(owner, chosen))).status, 200);

    const byMail = await prepare(t, order);
    const login = await byMail.api.post("/api/session/", { token: (await byMail.api.loginCode()).token });
    assert.equal(login.status, 201, login.text);
    assert.equal((await byMail.api.get("/users/1", readCookies(login))).status, 200);
    assert.deepEqual(await findOpenWays(byMail.api, byMail.attacker), []);
  });
}

test("keeps the password and the factor at the first proof of the address if an administrator made the account", async (t) => {
  const api = await startMailFlows(t);
  const changes = [{ kind: "update", collection: accountsCollection, key: 1, values: { role: "admin" } } as const];
  await api.service.store.write({ changes });
  const ben = { name: "Ben", email: "ben@example.com", password };
  assert.equal((await api.post("/users", ben, basic(owner, password))).status, 201);
  const { code } = await api.addTOTP(2, await api.logIn(ben.email));
  const first = await api.post("/api/token/", { token: (await api.loginCode(ben.email)).token });
  assert.equal(first.json.code, "factor_required");
  const { pending, factors } = first.json.login;
  assert.equal((await api.post("/api/login/", { pending, factor: factors[0].id, code: code() })).status, 200);
  const withPassword = await api.post("/api/token/", { username: ben.email, password });
  assert.equal(withPassword.json.code, "factor_required");
  assert.notEqual((await api.people.accounts.find(2))!.emailVerifiedAt, null);
});

test("counts the address of a user whom other code inserts as unproved, unless that code vouches for it", async (t) => {
  const api = await startMailFlows(t);
  const insert = async (name: string, more: { readonly emailOrigin?: "vouched" }) => {
    const user = {
      name,
      email: `${name}@example.com`,
      username: name,
      passwordHash: null,
      now: api.clock.now,
      ...more,
    };
    const changes = api.people.accounts.insertUser({ ...user, role: "user" });
    const outcome = await api.service.store.write({ changes });
    assert.ok(outcome.kind === "written");
    const account = await api.people.accounts.find(outcome.rows[0]!.record["id"] as number);
    return account!.emailOrigin;
  };
  assert.deepEqual([await insert("bob", {}), await insert("eve", { emailOrigin: "vouched" })], ["chosen", "vouched"]);
});

test("counts an address as unproved after its user changed it without a proof", async (t) => {
  const api = await startMailFlows(t);
  assert.equal((await api.post("/api/session/", { token: (await api.loginCode()).token })).status, 201);
  const body = { token: (await api.reset()).token, password };
  assert.equal((await api.post("/api/password/reset/confirm/", body)).status, 204);
  const victim = "victim@example.com";
  const moved = { email: victim, current_password: password };
  assert.equal((await api.ask("PATCH", "/users/1", moved, basic(owner, password))).status, 200);
  assert.equal((await api.get("/users/1/account", basic(victim, password))).json.email_verified_at, null);
  const session = await api.logIn(victim);
  api.clock.now += MINUTE_MS;
  assert.equal((await api.post("/api/session/", { token: (await api.loginCode(victim)).token })).status, 201);
  assert.equal((await api.get("/users/1", session)).status, 401);
  assert.equal((await api.get("/users/1", basic(victim, password))).status, 401);
});

test("makes no token and no key for a login that ended while the request was in progress", async (t) => {
  const api = await startMailFlows(t);
  const before = (await api.people.accounts.find(1))!;
  const body = { token: (await api.reset()).token, password: chosen };
  assert.equal((await api.post("/api/password/reset/confirm/", body)).status, 204);
  const { now } = api.clock;
  const isConflict = { code: "conflict" };
  await assert.rejects(api.tokens.issue(admitted(before, now), now), isConflict);
  const key = { name: "build", scopes: null, expiresAt: null } as const;
  await assert.rejects(api.keys.create(admitted(before, now), key, now), isConflict);

  const current = (await api.people.accounts.find(1))!;
  assert.equal((await api.tokens.issue(admitted(current, now), now)).created, true);
  await api.keys.create(admitted(current, now), key, now);
});
