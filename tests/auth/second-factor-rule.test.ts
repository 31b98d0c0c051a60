import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { totp } from "../../src/door/auth.ts";
import { accounts, createService, rejected, Secret, sessionLogin, type Scheme } from "../../src/door/index.ts";
import { addTOTPTo, readCookies } from "../harness/factors.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";
import { emptyStore, sharedDatabase } from "../harness/test-store.ts";

const secret = new Secret("a secret of the service, long enough");
const silent: Scheme = {
  name: "badge",
  carriers: [{ in: "header", name: "X-Badge" }],
  authenticate: () => rejected("unknown"),
};

/** Starts a service with this rule and scheme. Returns the reason why it does not start, or null. */
async function start(t: TestContext, rule: "optional" | "admins" | "everyone", scheme: Scheme, hasFactors = true) {
  const people = accounts({ secondFactor: rule });
  const features = [people, sessionLogin(people), ...(hasFactors ? [totp(people)] : [])];
  const started = createService({ store: await emptyStore(), secret, features, schemes: [scheme], observe: null });
  return started.then(
    (service) => {
      t.after(() => service.close());
      return null;
    },
    (error: unknown) => (error as Error).message,
  );
}

test("stops the start if a rule asks for factors and a scheme does not declare what it proves", async (t) => {
  for (const rule of ["admins", "everyone"] as const) {
    const reason = await start(t, rule, silent);
    assert.match(
      reason!,
      new RegExp(
        `accounts: secondFactor is ${rule}, and the scheme badge does not declare what it proves; give it proves`,
      ),
    );
    assert.equal(await start(t, rule, { ...silent, proves: ["hwk"] }), null);
    assert.equal(await start(t, rule, { ...silent, proves: "each" }), null);
    assert.equal(await start(t, rule, { ...silent, proves: "program" }), null);
  }
  assert.equal(await start(t, "optional", silent), null);
});

test("stops the start of the ready-made service if a scheme of the config file does not declare what it proves", async (t) => {
  const config = { schemes: [silent] };
  await assert.rejects(
    serve(t, { settings: { LATCHKEY_SECOND_FACTOR: "admins" }, config }),
    /scheme badge does not declare/,
  );
  await serve(t, { config });
});

test("stops the start if a rule asks for factors and the service has no kind of factor", async (t) => {
  const scheme: Scheme = { ...silent, proves: ["hwk"] };
  assert.match(
    (await start(t, "admins", scheme, false))!,
    /no feature has a kind of second factor.*add totp\(people\)/,
  );
  assert.equal(await start(t, "optional", scheme, false), null);
});

/** Returns the credentials of a user: one of every kind of login, an API token and a key. */
async function logIn(api: API, username: string, password: string) {
  const login = { username, password };
  const cookie = readCookies(await api.post("/api/session/", login));
  const pair = (await api.post("/api/token/", login)).json;
  const { token } = (await api.post("/api-token-auth/", login)).json;
  const { id } = (await api.get("/api/session/", cookie)).json.user;
  const { key } = (await api.post(`/users/${id}/keys`, { name: "backup" }, cookie)).json;
  return { cookie, access: { authorization: `Bearer ${pair.access}` }, refresh: pair.refresh as string, token, key };
}

type Logins = Awaited<ReturnType<typeof logIn>>;

/** Returns which of these credentials work. */
async function working(api: API, { cookie, access, refresh, token, key }: Logins): Promise<readonly string[]> {
  const by = (name: string, headers: Readonly<Record<string, string>>) =>
    [name, () => api.get("/protected/", headers)] as const;
  const tries = [
    by("session", cookie),
    by("access", access),
    ["verify", () => api.post("/api/token/verify/", { token: access.authorization.slice(7) })] as const,
    ["refresh", () => api.post("/api/token/refresh/", { refresh })] as const,
    by("token", { authorization: `Token ${token}` }),
    by("key", { authorization: `Token ${key}` }),
  ];
  const works: string[] = [];
  for (const [name, ask] of tries) {
    const { status, json } = await ask();
    assert.ok(status === 200 || status === 401, `${name} ${status}`);
    if (status === 401) assert.ok(json.detail, name);
    if (status === 200) works.push(name);
  }
  return works;
}

test("ends the logins below the level of a new rule at the next start, and keeps tokens and keys of programs", async (t) => {
  const settings = {
    LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
    LATCHKEY_SECRET: "a secret that both of the services know",
  };
  const all = ["session", "access", "verify", "refresh", "token", "key"];
  const programs = ["token", "key"];
  const before = await serve(t, { settings });
  const { email, password } = await before.user("Ann");
  const admin = await logIn(before, "admin", adminPassword);
  const ann = await logIn(before, email, password);
  await before.service.close();

  const admins = await serve(t, { settings: { ...settings, LATCHKEY_SECOND_FACTOR: "admins" } });
  assert.deepEqual(await working(admins, admin), programs);
  assert.deepEqual(await working(admins, ann), all);
  assert.equal((await admins.get("/protected/", admins.admin)).json.code, "factor_required");
  await admins.service.close();

  const everyone = await serve(t, { settings: { ...settings, LATCHKEY_SECOND_FACTOR: "everyone" } });
  assert.deepEqual(await working(everyone, admin), programs);
  assert.deepEqual(await working(everyone, ann), programs);
});

test("refuses, after the next start, to confirm a login below the level of a new rule", async (t) => {
  const settings = {
    LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
    LATCHKEY_SECRET: "a secret that both of the services know",
  };
  const before = await serve(t, { settings });
  const { email: username, password } = await before.user("Ann");
  const session = readCookies(await before.post("/api/session/", { username, password }));
  const { access } = (await before.post("/api/token/", { username, password })).json;
  const bySession = await before.post("/api/login/confirm/", undefined, session);
  const byToken = await before.post("/api/login/confirm/", undefined, { authorization: `Bearer ${access}` });
  assert.deepEqual([bySession.status, byToken.status], [200, 200], bySession.text + byToken.text);
  await before.service.close();

  const after = await serve(t, { settings: { ...settings, LATCHKEY_SECOND_FACTOR: "everyone" } });
  for (const [pending, headers] of [
    [{}, readCookies(bySession)],
    [{ pending: byToken.json.pending }, {}],
  ] as const) {
    const refused = await after.post("/api/login/", { ...pending, factor: "password", password }, headers);
    // The start ended the login together with its confirmation.
    assert.deepEqual([refused.status, refused.json.code], [401, "login_expired"], refused.text);
    assert.doesNotMatch(refused.headers.getSetCookie().join(), /session=[^;]/);
  }
});

for (const uses of [false, true])
  test(`keeps the logins below the level of a rule ended after the rule is taken away${uses ? ", also a login that began beside the rule" : ""}`, async (t) => {
    const settings = {
      LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
      LATCHKEY_SECRET: "a secret that both of the services know",
    };
    const rule = { ...settings, LATCHKEY_SECOND_FACTOR: "everyone" };
    const before = await serve(t, { settings });
    const { email, password } = await before.user("Ann");
    const early = await logIn(before, email, password);
    if (!uses) await before.service.close();

    const ruled = await serve(t, { settings: rule });
    const ann = uses ? await logIn(before, email, password) : early;
    // A process without the rule began this login. The first refusal ends it for good.
    if (uses) assert.equal((await ruled.get("/protected/", ann.cookie)).status, 401);
    if (uses) await before.service.close();
    await ruled.service.close();

    const after = await serve(t, { settings });
    assert.deepEqual(await working(after, early), ["token", "key"]);
    assert.deepEqual(await working(after, ann), ["token", "key"]);
    const again = await logIn(after, email, password);
    await after.service.close();

    await (await serve(t, { settings: rule })).service.close();
    assert.deepEqual(await working(await serve(t, { settings }), again), ["token", "key"]);
  });

test("ends the logins of a user who becomes an administrator under a rule for administrators", async (t) => {
  const settings = {
    LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
    LATCHKEY_SECRET: "a secret that both of the services know",
  };
  const before = await serve(t, { settings });
  const { id, email, password } = await before.user("Ann");
  const admin = await addTOTPTo(before, { id: 1, email: "admin", password: adminPassword });
  const ruled = await serve(t, { settings: { ...settings, LATCHKEY_SECOND_FACTOR: "admins" } });
  ruled.clock.now = before.clock.now;
  const ann = await logIn(ruled, email, password);

  const promoted = await ruled.patch(`/users/${id}/account`, { role: "admin" }, admin.headers);
  assert.equal(promoted.status, 200, promoted.text);
  await before.service.close();
  await ruled.service.close();

  assert.deepEqual(await working(await serve(t, { settings }), ann), ["token", "key"]);
});

for (const path of ["refresh", "verify"] as const)
  for (const rule of ["everyone", "admins"] as const)
    test(`ends a token family for good when ${path} refuses it under a rule for ${rule}`, async (t) => {
      const settings = {
        LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
        LATCHKEY_SECRET: "a secret that both of the services know",
      };
      const before = await serve(t, { settings });
      const ruled = await serve(t, { settings: { ...settings, LATCHKEY_SECOND_FACTOR: rule } });
      const { id, email: username, password } = await before.user("Ann");
      if (rule === "admins") {
        // The process without the rule makes Ann an administrator and ends none of her logins.
        const promoted = await before.patch(`/users/${id}/account`, { role: "admin" }, await freshAdmin(before));
        assert.equal(promoted.status, 200, promoted.text);
      }
      const { refresh } = (await before.post("/api/token/", { username, password })).json;
      const other = (await before.post("/api/token/", { username, password })).json;
      const ask = (api: API, token: string) =>
        api.post(`/api/token/${path}/`, path === "verify" ? { token } : { refresh: token });
      assert.equal((await ask(ruled, refresh)).status, 401);
      await ruled.service.close();
      await before.service.close();

      const after = await serve(t, { settings });
      assert.equal((await after.post("/api/token/verify/", { token: refresh })).status, 401);
      assert.equal((await after.post("/api/token/refresh/", { refresh })).status, 401);
      // The rule never refused this family.
      assert.equal((await after.post("/api/token/refresh/", { refresh: other.refresh })).status, 200);
    });

async function freshAdmin(api: API): Promise<Readonly<Record<string, string>>> {
  return readCookies(await api.post("/api/session/", { username: "admin", password: adminPassword }));
}
