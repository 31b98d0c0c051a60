import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import { sessionsCollection } from "../../src/door/auth.ts";
import { basicLogin, tokenLogin } from "../../src/door/index.ts";
import type { Store } from "../../src/door/stores.ts";
import { identitiesCollection } from "../../src/features/auth/openid/identities.ts";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { parseBase32 } from "../harness/factors.ts";
import { email, password, type Answered } from "../harness/own-logins.ts";
import { setsSession, startWorld, type Browser, type World, type WorldOptions } from "../harness/provider-logins.ts";
import { basicHeader } from "../harness/serve.ts";
import { emptyStore } from "../harness/test-store.ts";

// Nightly on PostgreSQL: each proof depends on the answer of the provider.

// What a login at a provider proves, for how long, and to whom a started link belongs.

const follow = (browser: Browser, { pathname, search }: URL): Promise<Answered> => browser.get(pathname + search);

/** Makes the issuer report a login that many seconds ago. Null: it reports none. */
function loggedInBefore(world: World, seconds: number | null): void {
  world.issuer.twist = {
    claims({ auth_time: _time, ...claims }) {
      return seconds === null ? claims : { ...claims, auth_time: Math.floor(world.own.clock.now / 1000) - seconds };
    },
  };
}

async function logInAda(world: World): Promise<Browser> {
  const ada = world.browser();
  assert.equal((await ada.ask("POST", "/api/session/", { username: email, password })).status, 201);
  return ada;
}

/** Starts a link of a browser. Returns the address of the callback. */
async function startLink(world: World, browser: Browser, headers?: Readonly<Record<string, string>>): Promise<URL> {
  const made = await browser.ask("POST", "/users/1/identities", { provider: "company" }, headers);
  assert.equal(made.status, 200, made.text);
  const started = await browser.get(made.json.start);
  assert.equal(started.status, 303, started.text);
  return world.issuer.authorize(started.headers.get("location")!);
}

async function linkAda(world: World): Promise<Browser> {
  const ada = await logInAda(world);
  assert.equal((await follow(ada, await startLink(world, ada))).status, 303);
  return ada;
}

// auth_time

for (const [title, seconds, isFresh] of [
  ["now", 0, true],
  ["nine minutes ago", 540, true],
  ["eleven minutes ago", 660, false],
  ["30 days ago", 30 * 86_400, false],
  ["in milliseconds instead of seconds", -1_770_000_000_000, false],
  ["never", null, false],
] as const)
  test(`takes the time of the login from the provider: ${title}`, async (t) => {
    const world = await startWorld(t, { provider: { level: 2 } });
    loggedInBefore(world, seconds);
    const bea = world.browser();
    assert.equal((await bea.logIn()).status, 303);
    const { user, auth_time: authTime, level } = (await bea.get("/api/session/")).json;

    const key = await bea.ask("POST", `/users/${user.id}/keys`, { name: "report" });

    assert.equal(level, 2);
    assert.equal(key.status === 201, isFresh, key.text);
    const isKnown = isFresh || (seconds !== null && seconds > 0 && seconds < 1e9);
    assert.equal(authTime, isKnown ? new Date(world.own.clock.now - seconds * 1000).toISOString() : null);
  });

test("keeps a login valid whose time at the provider has a fraction of a second", async (t) => {
  const world = await startWorld(t);
  loggedInBefore(world, 10.0004);
  const bea = world.browser();
  await bea.logIn();

  assert.equal((await bea.get("/api/session/")).status, 200);
});

// Confirmations

async function startConfirmation(browser: Browser, query = "?confirm=true&next=/notes"): Promise<Answered> {
  const { status, json } = await browser.ask("POST", "/api/login/confirm/");
  assert.equal(status, 200);
  const start = "/api/login/company/start?confirm=true";
  assert.deepEqual(json.factors, [{ id: "provider-company", kind: "provider", label: "Company", start }]);
  return browser.get(`/api/login/company/start${query}`);
}

test("confirms the login of a browser at the provider, which is asked for a login of the last ten minutes", async (t) => {
  const world = await startWorld(t);
  const bea = world.browser();
  await bea.logIn();
  const { user } = (await bea.get("/api/session/")).json;
  world.own.clock.now += 3_600_000;
  const before = bea.cookies.get("session");
  assert.equal((await bea.ask("POST", `/users/${user.id}/keys`, { name: "report" })).status, 401);

  const started = await startConfirmation(bea);
  const confirmed = await follow(bea, await world.issuer.authorize(started.headers.get("location")!));

  assert.equal(new URL(started.headers.get("location")!).searchParams.get("max_age"), "600");
  assert.deepEqual([confirmed.status, confirmed.headers.get("location")], [303, "/notes"]);
  assert.notEqual(bea.cookies.get("session"), before);
  assert.equal(bea.cookies.has("login"), false);
  assert.deepEqual((await bea.get("/api/session/")).json.amr, ["fed"]);
  assert.equal((await bea.ask("POST", `/users/${user.id}/keys`, { name: "report" })).status, 201);
});

test("asks the provider for no maximum age at a login and at a link", async (t) => {
  const world = await startWorld(t);
  const started = await world.browser().get("/api/login/company/start");

  assert.equal(new URL(started.headers.get("location")!).searchParams.has("max_age"), false);
});

for (const { title, before, after } of [
  { title: "without a time", before: () => undefined, after: (world: World) => loggedInBefore(world, null) },
  { title: "of ten minutes ago", before: () => undefined, after: (world: World) => loggedInBefore(world, 600) },
  {
    title: "of another identity",
    before: () => undefined,
    after(world: World) {
      world.issuer.user = { sub: "eve", email: "eve@company.example", email_verified: true };
    },
  },
  {
    title: "of an identity of another account",
    async before(world: World) {
      world.issuer.user = { sub: "eve", email: "eve@company.example", email_verified: true };
      assert.equal((await world.browser().logIn()).status, 303);
    },
    after: () => undefined,
  },
  {
    title: "after the login has ended",
    before: (_: World, bea: Browser) => bea.ask("DELETE", "/api/session/"),
    after: () => undefined,
  },
  {
    title: "after another user has logged in",
    before: (_: World, bea: Browser) => bea.ask("POST", "/api/session/", { username: email, password }),
    after: () => undefined,
  },
])
  test(`confirms nothing by an answer ${title}`, async (t) => {
    const world = await startWorld(t);
    const bea = world.browser();
    await bea.logIn();
    world.own.clock.now += 3_600_000;
    const started = await startConfirmation(bea);
    const callback = new URL(started.headers.get("location")!);
    await before(world, bea);
    const cookie = bea.cookies.get("session");
    after(world);

    const refused = await follow(bea, await world.issuer.authorize(callback.href));

    assert.equal(refused.status, 401, refused.text);
    assert.equal(setsSession(refused), false);
    assert.equal(bea.cookies.get("session"), cookie);
  });

test("takes the time 0 of a login at the provider for no time", async (t) => {
  const world = await startWorld(t);
  const bea = world.browser();
  await bea.logIn();
  const started = await startConfirmation(bea);
  world.issuer.twist = { claims: (claims) => ({ ...claims, auth_time: 0 }) };

  const refused = await follow(bea, await world.issuer.authorize(started.headers.get("location")!));

  assert.equal(refused.status, 401, refused.text);
  assert.equal(world.reasons().at(-1), "the ID token has no auth_time, so the login confirms nothing");
});

test("confirms nothing in a browser that is logged in as another user, although the login to confirm lives", async (t) => {
  const world = await startWorld(t);
  const bea = world.browser();
  await bea.logIn();
  world.own.clock.now += 3_600_000;
  const started = await startConfirmation(bea);
  const ada = await logInAda(world);
  bea.cookies.set("session", ada.cookies.get("session")!);

  const refused = await follow(bea, await world.issuer.authorize(started.headers.get("location")!));

  assert.deepEqual([refused.status, refused.json.code], [401, "login_failed"], refused.text);
  assert.equal(world.reasons().at(-1), "another user is logged in");
  assert.equal(bea.cookies.get("session"), ada.cookies.get("session"));
});

test("confirms only if a confirmation waits in the same browser", async (t) => {
  const world = await startWorld(t);
  const bea = world.browser();
  await bea.logIn();
  const none = await bea.get("/api/login/company/start?confirm=true");
  const unclear = await bea.get("/api/login/company/start?confirm=yes");

  assert.deepEqual([none.status, none.json.code], [401, "login_expired"]);
  assert.deepEqual([unclear.status, unclear.json.errors[0].pointer], [400, "?confirm"]);
});

for (const { title, body, expected } of [
  { title: "no provider to a login that no cookie holds", body: {}, expected: [409, "no_proof", undefined] },
  {
    title: "a provider to a token pair in cookies",
    body: { cookie: true },
    expected: [200, undefined, "provider-company"],
  },
])
  test(`offers ${title}`, async (t) => {
    const world = await startWorld(t, { more: (people) => [tokenLogin(people)] });
    await linkAda(world);
    const app = world.browser();
    const { access } = (await app.ask("POST", "/api/token/", { username: email, password, ...body })).json;
    const values = { password_hash: null };
    await world.store.write({ changes: [{ kind: "update", collection: accountsCollection, key: 1, values }] });
    const headers = access === undefined ? {} : { authorization: `Bearer ${access}` };

    const { status, json, text } = await app.ask("POST", "/api/login/confirm/", undefined, headers);

    assert.deepEqual([status, json.code, json.factors?.[0].id], expected, text);
    if (status !== 200) return;
    assert.equal((await app.get(json.factors[0].start)).status, 303);
  });

test("confirms nothing for a login that waits for its first proof of a factor", async (t) => {
  const world = await startWorld(t, { accounts: { secondFactor: "everyone" } });
  const bea = world.browser();
  assert.equal((await bea.logIn()).json.code, "factor_required");
  assert.ok(bea.cookies.has("login"));

  const refused = await bea.get("/api/login/company/start?confirm=true");

  assert.deepEqual([refused.status, refused.json.code], [401, "login_expired"], refused.text);
});

// Links

for (const { title, change } of [
  {
    title: "the user has logged out",
    change: (_: World, ada: Browser) => ada.ask("DELETE", "/api/session/"),
  },
  {
    title: "the user has logged out by the form of a page",
    change: (_: World, ada: Browser) => ada.ask("POST", "/api/session/end/", {}),
  },
  {
    title: "the user has logged out and in again",
    async change(_: World, ada: Browser) {
      await ada.ask("DELETE", "/api/session/");
      await ada.ask("POST", "/api/session/", { username: email, password });
    },
  },
  {
    title: "another user has logged in",
    async change(_: World, ada: Browser) {
      await ada.ask("POST", "/users", { name: "Bob", email: "bob@example.com", password });
      await ada.ask("POST", "/api/session/", { username: "bob@example.com", password });
    },
  },
  {
    title: "the session was ended elsewhere",
    async change(world: World) {
      const other = await logInAda(world);
      const sessions: readonly { readonly id: string; readonly current: boolean }[] = (
        await other.get("/users/1/sessions")
      ).json;
      for (const { id } of sessions.filter(({ current }) => !current))
        await other.ask("DELETE", `/users/1/sessions/${id}`);
    },
  },
  {
    title: "the user has deleted every other login",
    change: async (world: World) => (await logInAda(world)).ask("DELETE", "/users/1/sessions?except=current"),
  },
  {
    title: "the login that started the link has ended every other one",
    change: (_: World, ada: Browser) => ada.ask("DELETE", "/users/1/sessions?except=current"),
  },
] as const)
  test(`links no identity after ${title}`, async (t) => {
    const world = await startWorld(t, { provider: { create: false } });
    const ada = await logInAda(world);
    const callback = await startLink(world, ada);
    await change(world, ada);

    const refused = await follow(ada, callback);

    assert.deepEqual([refused.status, refused.json.code], [401, "login_failed"], refused.text);
    assert.deepEqual((await (await logInAda(world)).get("/users/1/identities")).json, []);
  });

test("links no identity for a browser that is logged in as another user, although the login that started the link lives", async (t) => {
  const world = await startWorld(t, { provider: { create: false } });
  const ada = await logInAda(world);
  const callback = await startLink(world, ada);
  const bob = world.browser();
  await bob.ask("POST", "/users", { name: "Bob", email: "bob@example.com", password });
  await bob.ask("POST", "/api/session/", { username: "bob@example.com", password });
  ada.cookies.set("session", bob.cookies.get("session")!);

  const refused = await follow(ada, callback);

  assert.deepEqual([refused.status, refused.json.code], [401, "login_failed"], refused.text);
  assert.equal(world.reasons().at(-1), "another user is logged in now");
});

test("links an identity that Basic started only with Basic", async (t) => {
  const world = await startWorld(t, { provider: { create: false }, more: (people) => [basicLogin(people)] });
  const browser = world.browser();
  const basic = basicHeader(email, password);
  const [one, other] = [await startLink(world, browser, basic), await startLink(world, browser, basic)];

  const refused = await follow(browser, one);
  assert.deepEqual([refused.status, refused.json.code], [401, "login_failed"], refused.text);
  assert.equal(world.reasons().at(-1), "the login that started the link has ended");
  const linked = await browser.get(other.pathname + other.search, basic);
  assert.equal(linked.status, 303, linked.text);
});

test("links no identity for a request with credentials of two users", async (t) => {
  const world = await startWorld(t, { provider: { create: false }, more: (people) => [basicLogin(people)] });
  const ada = await logInAda(world);
  const callback = await startLink(world, ada);
  await world.own.ask("POST", "/users", { name: "Bob", email: "bob@example.com", password });

  const refused = await ada.get(callback.pathname + callback.search, basicHeader("bob@example.com", password));

  assert.deepEqual([refused.status, refused.json.code], [401, "login_failed"], refused.text);
  assert.equal(world.reasons().at(-1), "another user is logged in now");
});

/** A client with tokens: it starts a link with its access token, and a browser without a session completes it. */
async function linkByTokens(t: TestContext, options: WorldOptions = {}) {
  const world = await startWorld(t, {
    provider: { create: false },
    more: (people) => [tokenLogin(people)],
    ...options,
  });
  const browser = world.browser();
  const pair = (await world.own.ask("POST", "/api/token/", { username: email, password })).json;
  const callback = await startLink(world, browser, { authorization: `Bearer ${pair.access}` });
  return { world, browser, pair, callback };
}

test("links an identity for a client with tokens while its token family lives", async (t) => {
  const { browser, callback } = await linkByTokens(t);

  assert.equal((await follow(browser, callback)).status, 303);
});

test("links no identity after the token family that started the link has ended", async (t) => {
  const { world, browser, pair, callback } = await linkByTokens(t);
  const ended = await world.own.ask("DELETE", "/api/token/", { refresh: pair.refresh });
  assert.ok(ended.status < 300, ended.text);
  world.own.clock.now += 590_000;

  const refused = await follow(browser, callback);

  assert.deepEqual([refused.status, refused.json.code], [401, "login_failed"], refused.text);
});

test("links no identity in a login by recovery code, or by a factor that such a login added less than a day ago", async (t) => {
  const world = await startWorld(t, { provider: { create: false, level: 2 } });
  const addTOTP = async (browser: Browser) => {
    const made = (await browser.ask("POST", "/users/1/factors", { kind: "totp" })).json;
    const secret = parseBase32(made.secret);
    const code = () => computeCode(secret, computeStep(world.own.clock.now));
    const confirmed = await browser.ask("POST", `/users/1/factors/${made.id}/confirm`, { code: code() });
    assert.equal(confirmed.status, 200, confirmed.text);
    world.own.clock.now += 30_000;
    return { factor: made.id as string, code, recoveryCodes: confirmed.json.recovery_codes as readonly string[] };
  };
  const logIn = async (factor: string, code: string) => {
    const browser = world.browser();
    await browser.ask("POST", "/api/session/", { username: email, password });
    assert.equal((await browser.ask("POST", "/api/login/", { factor, code })).status, 201);
    return browser;
  };
  const link = (browser: Browser) => browser.ask("POST", "/users/1/identities", { provider: "company" });
  const own = await addTOTP(await logInAda(world));
  const recovered = await logIn("recovery", own.recoveryCodes[0]!);
  const added = await addTOTP(recovered);

  for (const browser of [recovered, await logIn(added.factor, added.code())]) {
    const refused = await link(browser);
    assert.deepEqual([refused.status, refused.json.code], [401, "confirmation_required"], refused.text);
  }
  assert.equal((await link(await logIn(own.factor, own.code()))).status, 200);
  world.own.clock.now += 86_400_000;
  assert.equal((await link(await logIn(added.factor, added.code()))).status, 200);
});

for (const { title, values } of [
  { title: "is deactivated", values: { active: false } },
  { title: "ends its logins", values: { generation: 1 } },
])
  test(`links no identity to an account that ${title} while the provider's answer is checked`, async (t) => {
    const inner = await emptyStore();
    let isArmed = true;
    const store: Store = {
      ...inner,
      async write(transaction) {
        const links = transaction.changes.some(({ collection }) => collection === identitiesCollection);
        if (links && isArmed)
          await inner.write({ changes: [{ kind: "update", collection: accountsCollection, key: 1, values }] });
        if (links) isArmed = false;
        return inner.write(transaction);
      },
    };
    const world = await startWorld(t, { provider: { create: false }, service: { store } });
    const ada = await logInAda(world);

    const refused = await follow(ada, await startLink(world, ada));

    assert.deepEqual([refused.status, refused.json.code, isArmed], [401, "login_failed", false], refused.text);
    assert.equal(world.reasons().at(-1), "the account has changed since");
    assert.equal(await inner.count(identitiesCollection, null), 0);
  });

// Unlinking

test("ends the logins of an unlinked identity, and keeps those of another identity of the account", async (t) => {
  const world = await startWorld(t, { provider: { create: false } });
  const ada = await linkAda(world);
  const first = world.issuer.user;
  world.issuer.user = { sub: "ada-again", email: "again@company.example", email_verified: true };
  assert.equal((await follow(ada, await startLink(world, ada))).status, 303);
  const second = world.browser();
  await second.logIn();
  world.issuer.user = first;
  const thief = world.browser();
  await thief.logIn();
  const identities: readonly { readonly id: string; readonly subject: string }[] = (
    await ada.get("/users/1/identities")
  ).json;
  const { id } = identities.find(({ subject }) => subject === first.sub)!;

  const unlinked = await ada.ask("DELETE", `/users/1/identities/${id}`);

  assert.equal(unlinked.status, 204, unlinked.text);
  const statuses = await Promise.all([thief, second, ada].map((each) => each.get("/api/session/")));
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [401, 200, 200],
  );
});

test("ends the logins by a provider of an earlier version, whose proofs name no identity, when an identity is unlinked", async (t) => {
  const world = await startWorld(t, { provider: { create: false } });
  const ada = await linkAda(world);
  const thief = world.browser();
  await thief.logIn();
  const where = { column: "user_id", operator: "eq", value: 1 } as const;
  const values = { proofs: [["fed", world.own.clock.now]] };
  await world.store.write({ changes: [{ kind: "updateAll", collection: sessionsCollection, where, values }] });
  assert.equal((await thief.get("/api/session/")).status, 200);
  const [identity] = (await ada.get("/users/1/identities")).json;

  const again = await logInAda(world);
  assert.equal((await again.ask("DELETE", `/users/1/identities/${identity.id}`)).status, 204);

  assert.deepEqual([(await thief.get("/api/session/")).status, (await again.get("/api/session/")).status], [401, 200]);
});

test("keeps the sessions of an earlier version, which stored no proofs, as logins by password when an identity is unlinked", async (t) => {
  const world = await startWorld(t, { provider: { create: false } });
  const [older, other] = [await linkAda(world), await logInAda(world)];
  const where = { column: "user_id", operator: "eq", value: 1 } as const;
  const values = { proofs: null };
  await world.store.write({ changes: [{ kind: "updateAll", collection: sessionsCollection, where, values }] });
  const ada = await logInAda(world);
  const [identity] = (await ada.get("/users/1/identities")).json;

  assert.equal((await ada.ask("DELETE", `/users/1/identities/${identity.id}`)).status, 204);

  for (const each of [older, other, ada]) assert.equal((await each.get("/api/session/")).status, 200);
});

test("ends a session whose proofs cannot be read when an identity is unlinked", async (t) => {
  const world = await startWorld(t, { provider: { create: false } });
  await linkAda(world);
  const where = { column: "user_id", operator: "eq", value: 1 } as const;
  const values = { proofs: [["sms", 1]] };
  await world.store.write({ changes: [{ kind: "updateAll", collection: sessionsCollection, where, values }] });
  const ada = await logInAda(world);
  const [identity] = (await ada.get("/users/1/identities")).json;

  const unlinked = await ada.ask("DELETE", `/users/1/identities/${identity.id}`);

  assert.equal(unlinked.status, 204, unlinked.text);
  assert.equal(await world.store.count(sessionsCollection, null), 1);
});

// Limits

test("revives no login of an older generation when an identity is unlinked", async (t) => {
  const world = await startWorld(t, { provider: { create: false } });
  const older = await linkAda(world);
  const where = { column: "user_id", operator: "eq", value: 1 } as const;
  const values = { generation: 0 };
  await world.store.write({ changes: [{ kind: "updateAll", collection: sessionsCollection, where, values }] });
  assert.equal((await older.get("/api/session/")).status, 401);
  const ada = await logInAda(world);
  const [identity] = (await ada.get("/users/1/identities")).json;

  assert.equal((await ada.ask("DELETE", `/users/1/identities/${identity.id}`)).status, 204);

  assert.deepEqual([(await older.get("/api/session/")).status, (await ada.get("/api/session/")).status], [401, 200]);
});

test("refuses the callbacks of an address after ten failed ones in a minute, without a request to the provider", async (t) => {
  const world = await startWorld(t);
  world.issuer.twist = { claims: (original) => ({ ...original, nonce: "guess" }) };
  for (let at = 0; at < 10; at++) assert.equal((await world.browser().logIn()).json.code, "login_failed");
  world.issuer.twist = {};
  const requests = () => world.issuer.requests.filter((each) => each === "/token").length;
  const before = requests();

  const refused = await world.browser().logIn();
  assert.deepEqual([refused.status, refused.json.code], [429, "too_many_attempts"], refused.text);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  assert.equal(requests(), before);
  world.own.clock.now += 60_000;
  assert.equal((await world.browser().logIn()).status, 303);
});

test("counts callbacks without a flow and identities without an account as failures", async (t) => {
  const world = await startWorld(t, { provider: { create: false } });
  for (let at = 0; at < 5; at++) {
    assert.equal((await world.browser().get("/api/login/company/callback?code=junk&state=junk")).status, 401);
    assert.equal((await world.browser().logIn()).status, 403);
  }

  assert.equal((await world.browser().logIn()).status, 429);
});

test("sends at most ten requests to the provider for 40 wrong callbacks at the same time", async (t) => {
  const world = await startWorld(t);
  const callbacks = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const browser = world.browser();
      const callback = await browser.start();
      callback.searchParams.set("code", "junk");
      return { browser, callback };
    }),
  );

  const answers = await Promise.all(callbacks.map(({ browser, callback }) => follow(browser, callback)));

  assert.equal(answers.filter(({ status }) => status === 401).length, 10);
  assert.equal(answers.filter(({ status }) => status === 429).length, 30);
  assert.equal(world.issuer.requests.filter((each) => each === "/token").length, 10);
});

test("counts no right callback as a failure", async (t) => {
  const world = await startWorld(t);
  await linkAda(world);
  for (let at = 0; at < 12; at++) assert.equal((await world.browser().logIn()).status, 303);
});
