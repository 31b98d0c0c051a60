import assert from "node:assert/strict";
import { test } from "node:test";
import { accountNotices, identityProviders } from "../../src/door/auth.ts";
import { accounts, createService, Secret, sessionLogin } from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { makeIdentities } from "../../src/features/auth/openid/identities.ts";
import { accountsCollection } from "../../src/features/auth/records/accounts.ts";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { parseBase32 } from "../harness/factors.ts";
import { email, password } from "../harness/own-logins.ts";
import { declare, origin, setsSession, startWorld, type Browser, type World } from "../harness/provider-logins.ts";
import { testMail } from "../harness/test-mail.ts";
import { emptyStore } from "../harness/test-store.ts";

async function requestUser(browser: Browser): Promise<{ readonly id: number; readonly email: string }> {
  return (await browser.get("/api/session/")).json.user;
}

/** Logs ada in with her password and links her identity. */
async function linkAda(world: World): Promise<Browser> {
  const ada = world.browser();
  await ada.ask("POST", "/api/session/", { username: email, password });
  const begun = await ada.ask("POST", "/users/1/identities", { provider: "company" });
  assert.equal(begun.status, 200, begun.text);
  const started = await ada.get(begun.json.start);
  const { pathname, search } = await world.issuer.authorize(started.headers.get("location")!);
  const linked = await ada.get(pathname + search);
  assert.equal(linked.status, 303, linked.text);
  assert.equal(linked.headers.get("location"), "/users/1/account");
  return ada;
}

test("logs a new user in by an identity with a verified address", async (t) => {
  const { own, browser } = await startWorld(t);
  const ada = browser();

  const listed = await ada.get("/api/login/providers/");
  const started = await ada.get("/api/login/company/start?next=/notes?limit=2");
  assert.deepEqual(listed.json, [{ id: "company", title: "Company", start: "/api/login/company/start" }]);
  assert.equal(started.status, 303, started.text);
  const query = new URL(started.headers.get("location")!).searchParams;
  assert.equal(query.get("redirect_uri"), `${origin}/api/login/company/callback`);
  assert.equal(query.get("code_challenge_method"), "S256");
  assert.equal(query.get("response_type"), "code");
  assert.equal(query.get("scope"), "openid email profile");
  const [cookie = ""] = started.headers.getSetCookie();
  assert.match(cookie, /^oidc=[\w.~-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);

  const done = await ada.logIn("?next=/notes%3Flimit=2");
  assert.equal(done.status, 303, done.text);
  assert.equal(done.headers.get("location"), "/notes?limit=2");
  assert.match(done.headers.get("cache-control") ?? "", /no-store/);
  const session = (await ada.get("/api/session/")).json;
  assert.equal(session.username, "ada@company.example");
  assert.deepEqual([session.amr, session.level], [["fed"], 1]);
  assert.equal(session.user.name, "Ada");
  assert.equal(own.clock.now, Date.parse(session.auth_time));
});

test("finds the user again by issuer and sub, not by the address", async (t) => {
  const { issuer, browser } = await startWorld(t);
  const first = browser();
  await first.logIn();
  const { id } = await requestUser(first);

  issuer.user = { sub: issuer.user.sub, email: "other@company.example", email_verified: false };
  const second = browser();
  await second.logIn();

  assert.deepEqual(await requestUser(second), await requestUser(first));
  assert.equal((await requestUser(second)).id, id);
});

test("creates one user for 20 concurrent first logins of one identity", async (t) => {
  const { browser } = await startWorld(t);
  const all = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const each = browser();
      const answer = await each.logIn();
      return { status: answer.status, id: (await requestUser(each)).id };
    }),
  );

  assert.deepEqual(new Set(all.map(({ status }) => status)), new Set([303]));
  assert.equal(new Set(all.map(({ id }) => id)).size, 1);
});

test("reads the address from the userinfo endpoint if the ID token has none", async (t) => {
  const world = await startWorld(t);
  world.issuer.user = { sub: "bea" };
  world.issuer.twist = { userinfo: { sub: "bea", email: "bea@company.example", email_verified: true, name: "Bea" } };
  const bea = world.browser();

  assert.equal((await bea.logIn()).status, 303);
  assert.equal((await requestUser(bea)).email, "bea@company.example");
});

test("creates users of unverified addresses only if the provider is trusted", async (t) => {
  const world = await startWorld(t, { provider: { trustEmail: true } });
  world.issuer.user = { sub: "bea", email: "bea@company.example" };
  const bea = world.browser();

  assert.equal((await bea.logIn()).status, 303);
  const { name, email: address } = (await bea.get("/api/session/")).json.user;
  assert.deepEqual([name, address], ["bea@company.example", "bea@company.example"]);
});

test("gives a login level 2 if the declaration says that the provider always checks a second factor", async (t) => {
  const world = await startWorld(t, { provider: { level: 2 } });
  const ada = world.browser();
  await ada.logIn();

  assert.equal((await ada.get("/api/session/")).json.level, 2);
});

test("gives a login level 2 only with a declared value of acr, and requests the declared values from the provider", async (t) => {
  const world = await startWorld(t, { provider: { level: { acr: ["mfa", "phr"] } } });
  const ada = world.browser();
  const started = await ada.get("/api/login/company/start");
  assert.equal(new URL(started.headers.get("location")!).searchParams.get("acr_values"), "mfa phr");

  for (const [acr, level] of [
    ["mfa", 2],
    ["pwd", 1],
    [undefined, 1],
  ] as const) {
    world.issuer.twist = { claims: (claims) => ({ ...claims, ...(acr === undefined ? {} : { acr }) }) };
    await ada.logIn();
    assert.equal((await ada.get("/api/session/")).json.level, level, String(acr));
  }
});

test("asks for the second factor of an account if the provider has not checked one", async (t) => {
  const world = await startWorld(t);
  const ada = await linkAda(world);
  const made = (await ada.ask("POST", "/users/1/factors", { kind: "totp", label: "Phone" })).json;
  const code = (): string => computeCode(parseBase32(made.secret), computeStep(world.own.clock.now));
  const confirmed = await ada.ask("POST", `/users/1/factors/${made.id}/confirm`, { code: code() });
  assert.equal(confirmed.status, 200, confirmed.text);
  world.own.clock.now += 30_000;

  const other = world.browser();
  const waiting = await other.logIn();
  assert.equal(waiting.status, 401, waiting.text);
  assert.equal(waiting.json.code, "factor_required");
  assert.equal(setsSession(waiting), false);
  assert.equal(waiting.json.login.pending, undefined);
  const done = await other.ask("POST", "/api/login/", { factor: made.id, code: code() });

  assert.equal(done.status, 201, done.text);
  assert.deepEqual((await other.get("/api/session/")).json.amr, ["fed", "otp"]);
});

test("asks for no second factor if the provider has checked one", async (t) => {
  const world = await startWorld(t, { provider: { level: 2 }, accounts: { secondFactor: "everyone" } });

  const done = await world.browser().logIn();

  assert.equal(done.status, 303, done.text);
  assert.equal(setsSession(done), true);
});

test("links an identity to the account of the caller, and unlinks it", async (t) => {
  const world = await startWorld(t, { provider: { create: false } });
  assert.equal((await world.browser().logIn()).status, 403);
  const ada = await linkAda(world);
  const [linked] = (await ada.get("/users/1/identities")).json;
  const { created_at: _, ...shown } = linked;
  const { issuer } = world.issuer;
  const subject = "ada-at-the-issuer";
  assert.deepEqual(shown, { id: linked.id, provider: "company", title: "Company", issuer, subject });

  const other = world.browser();
  assert.equal((await other.logIn()).status, 303);
  assert.equal((await requestUser(other)).id, 1);
  await linkAda(world);
  assert.equal((await ada.get("/users/1/identities")).json.length, 1);

  assert.equal((await ada.ask("DELETE", `/users/1/identities/${linked.id}`)).status, 204);
  assert.deepEqual((await ada.get("/users/1/identities")).json, []);
  assert.equal((await ada.ask("DELETE", `/users/1/identities/${linked.id}`)).status, 404);
  assert.equal((await world.browser().logIn()).status, 403);
});

test("sends users one notice about a linked and one about an unlinked identity, and none about the identity of a new user", async (t) => {
  const mail = testMail();
  const world = await startWorld(t, { more: (people) => [mail.feature, accountNotices(people, mail.feature)] });
  const { issuer, own } = world;
  issuer.user = { sub: "bea", email: "bea@company.example", email_verified: true };
  assert.equal((await world.browser().logIn()).status, 303);
  assert.equal(await mail.queued(), 0);

  // Ada has proved her address, so she gets notices.
  const proved = { email_verified_at: "2026-03-01T12:00:00.000Z" };
  const ada = { column: "username", operator: "eq", value: email } as const;
  await world.store.write({
    changes: [{ kind: "updateAll", collection: accountsCollection, where: ada, values: proved }],
  });
  issuer.user = { sub: "ada-at-the-issuer", email: "other@company.example", email_verified: true };
  await linkAda(world);
  const [notice, ...more] = await mail.deliver(own.clock.now);
  assert.deepEqual(more, []);
  const { to, template, values } = notice!;
  assert.deepEqual(
    { to, template, values },
    { to: email, template: "identity_linked", values: { at: "2026-03-01 12:00 UTC" } },
  );
  const browser = await linkAda(world);
  assert.equal(await mail.queued(), 0);

  const [linked] = (await browser.get("/users/1/identities")).json;
  assert.equal((await browser.ask("DELETE", `/users/1/identities/${linked.id}`)).status, 204);
  const unlinked = await mail.deliver(own.clock.now);
  assert.deepEqual(
    unlinked.map((each) => [each.to, each.template]),
    [[email, "identity_unlinked"]],
  );
});

test("ends the logins by a provider when the identity is unlinked, and keeps the caller's login", async (t) => {
  const world = await startWorld(t, { provider: { create: false } });
  const ada = await linkAda(world);
  const byProvider = world.browser();
  assert.equal((await byProvider.logIn()).status, 303);
  const byPassword = world.browser();
  await byPassword.ask("POST", "/api/session/", { username: email, password });
  const [linked] = (await ada.get("/users/1/identities")).json;

  assert.equal((await ada.ask("DELETE", `/users/1/identities/${linked.id}`)).status, 204);

  assert.equal((await byProvider.get("/api/session/")).status, 401);
  for (const browser of [byPassword, ada]) assert.equal((await browser.get("/api/session/")).status, 200);
});

test("refuses to link an identity that another account has", async (t) => {
  const world = await startWorld(t);
  await world.browser().logIn();
  const ada = world.browser();
  await ada.ask("POST", "/api/session/", { username: email, password });
  const begun = await ada.ask("POST", "/users/1/identities", { provider: "company", next: "/notes" });
  const started = await ada.get(begun.json.start);
  const { pathname, search } = await world.issuer.authorize(started.headers.get("location")!);
  const refused = await ada.get(pathname + search);

  assert.deepEqual([refused.status, refused.json.code], [409, "conflict"]);
  assert.deepEqual((await ada.get("/users/1/identities")).json, []);
});

test("limits the lifetime of keys that are made through a login at a provider", async (t) => {
  const world = await startWorld(t, { accounts: { outsideCredentialsSeconds: 3600 } });
  const bea = world.browser();
  await bea.logIn();
  const { id } = await requestUser(bea);

  const key = await bea.ask("POST", `/users/${id}/keys`, { name: "report" });

  assert.equal(key.status, 201, key.text);
  assert.equal(Date.parse(key.json.expires_at), world.own.clock.now + 3_600_000);
});

test("refuses to unlink an identity that is the last way to log in", async (t) => {
  const world = await startWorld(t);
  const bea = world.browser();
  await bea.logIn();
  const { id } = await requestUser(bea);
  const [identity] = (await bea.get(`/users/${id}/identities`)).json;

  const refused = await bea.ask("DELETE", `/users/${id}/identities/${identity.id}`);
  assert.deepEqual([refused.status, refused.json.code], [409, "last_login"]);
  assert.equal((await world.browser().logIn()).status, 303);
});

test("keeps one of the last two ways to log in if both are removed at once", async (t) => {
  const world = await startWorld(t);
  const bea = world.browser();
  await bea.logIn();
  const { id } = await requestUser(bea);
  const { issuer } = world.issuer;
  const identities = makeIdentities(world.store);
  for (let round = 0; round < 5; round++) {
    const identified = { issuer, subject: `another identity ${round}` };
    await world.store.write({ changes: identities.linkMore(identified, id, world.own.clock.now) });
    const both: readonly { readonly id: string }[] = (await bea.get(`/users/${id}/identities`)).json;
    assert.equal(both.length, 2);

    const removed = await Promise.all(both.map((each) => bea.ask("DELETE", `/users/${id}/identities/${each.id}`)));

    assert.deepEqual(
      removed.map(({ status }) => status).toSorted((one, other) => one - other),
      [204, 409],
    );
    assert.equal((await identities.list(id)).length, 1);
  }
});

test("deletes an identity together with its account", async (t) => {
  const world = await startWorld(t);
  const bea = world.browser();
  await bea.logIn();
  const { id } = await requestUser(bea);
  assert.equal((await bea.ask("DELETE", `/users/${id}`)).status, 204);

  await bea.logIn();

  assert.notEqual((await requestUser(bea)).id, id);
});

test("deletes an identity that was linked before the first proof of the account's address", async (t) => {
  const world = await startWorld(t, { provider: { create: false } });
  const { people, store, own } = world;
  // Another person has signed up with ada's address, and has linked an identity.
  await linkAda(world);
  assert.equal((await world.browser().logIn()).status, 303);

  const account = (await people.accounts.find(1))!;
  assert.equal(
    (await store.write({ changes: await people.changing.proveAddress(account, own.clock.now) })).kind,
    "written",
  );

  assert.equal((await world.browser().logIn()).status, 403);
});

test("lets users link and see only their own identities", async (t) => {
  const world = await startWorld(t);
  await linkAda(world);
  const bea = world.browser();
  world.issuer.user = { sub: "bea", email: "bea@company.example", email_verified: true };
  await bea.logIn();

  assert.equal((await bea.get("/users/1/identities")).status, 403);
  assert.equal((await bea.ask("POST", "/users/1/identities", { provider: "company" })).status, 403);
  assert.equal((await bea.ask("DELETE", "/users/1/identities/1")).status, 403);
  assert.equal((await world.browser().get("/users/1/identities")).status, 401);
});

test("links only after a fresh login, and only at a known provider", async (t) => {
  const world = await startWorld(t);
  const ada = world.browser();
  await ada.ask("POST", "/api/session/", { username: email, password });
  const unknown = await ada.ask("POST", "/users/1/identities", { provider: "other" });
  world.own.clock.now += 601_000;
  const stale = await ada.ask("POST", "/users/1/identities", { provider: "company" });
  const proved = await ada.ask("POST", "/users/1/identities", { provider: "company", current_password: password });

  assert.deepEqual([unknown.status, unknown.json.errors[0].pointer], [400, "/provider"]);
  assert.deepEqual([stale.status, stale.json.errors[0].pointer], [400, "/current_password"]);
  assert.equal(proved.status, 200, proved.text);
});

test("unlinks only after a fresh login, and lets no key link or unlink", async (t) => {
  const world = await startWorld(t);
  const ada = await linkAda(world);
  const [{ id }] = (await ada.get("/users/1/identities")).json;
  const { key } = (await ada.ask("POST", "/users/1/keys", { name: "laptop" })).json;
  const byKey = { authorization: `Token ${key}` };
  const proof = { current_password: password };
  for (const refused of [
    await world.own.ask("POST", "/users/1/identities", { provider: "company", ...proof }, byKey),
    await world.own.ask("DELETE", `/users/1/identities/${id}`, proof, byKey),
  ])
    assert.deepEqual([refused.status, refused.json.code], [403, "permission_denied"]);
  world.own.clock.now += 601_000;

  const stale = await ada.ask("DELETE", `/users/1/identities/${id}`);
  assert.deepEqual([stale.status, stale.json.errors[0].pointer], [400, "/current_password"]);
  assert.equal((await ada.get("/users/1/identities")).json.length, 1);
  const proved = await ada.ask("DELETE", `/users/1/identities/${id}`, { current_password: password });
  assert.equal(proved.status, 204, proved.text);
});

test("accepts only paths of the service as the next page", async (t) => {
  const { browser } = await startWorld(t);
  const ada = browser();

  for (const next of [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "notes",
    "",
    `/${"a".repeat(1024)}`,
  ]) {
    const refused = await ada.get(`/api/login/company/start?next=${encodeURIComponent(next)}`);
    assert.deepEqual([refused.status, refused.json.errors?.[0].pointer], [400, "?next"], next);
  }
  assert.equal((await ada.get("/api/login/company/start?next=/a&next=/b")).status, 400);
  assert.equal((await ada.get("/api/login/company/start?to=/a")).status, 400);
  assert.equal((await ada.get("/api/login/other/start")).status, 404);
});

test("keeps the started logins of several tabs in one cookie, and drops the oldest if the cookie becomes too long", async (t) => {
  const { browser } = await startWorld(t);
  const ada = browser();
  const callbacks: URL[] = [];
  for (let tab = 0; tab < 6; tab++) callbacks.push(await ada.start(`?next=/${"a".repeat(300)}${tab}`));
  assert.ok(ada.cookies.get("oidc")!.length < 4000);

  const statuses: number[] = [];
  for (const { pathname, search } of callbacks) statuses.push((await ada.get(pathname + search)).status);

  assert.deepEqual(statuses, [401, 303, 303, 303, 303, 303]);
  assert.equal(ada.cookies.has("oidc"), false);
});

test("sets the cookie of a started login with the prefix `__Host-` and `Secure` if the connection has TLS", async (t) => {
  const { own } = await startWorld(t);
  const headers = { "x-forwarded-proto": "https" };
  const request = new Request("http://127.0.0.1/api/login/company/start", { headers });
  const started = await own.service.fetch(request, { peer: "10.0.0.1" });

  assert.match(started.headers.get("set-cookie") ?? "", /^__Host-oidc=.*; Secure; SameSite=Lax$/);
});

test("refuses to start a login from another host without TLS", async (t) => {
  const { own } = await startWorld(t);
  const request = new Request("http://192.0.2.1/api/login/company/start");
  const refused = await own.service.fetch(request, { peer: "192.0.2.7" });

  assert.equal(refused.status, 403);
});

test("answers 503 if the provider's metadata is invalid, and fetches the metadata again after 30 seconds", async (t) => {
  const world = await startWorld(t);
  const bad = { authorization_endpoint: "http://evil.example/authorize" };
  world.issuer.twist = { metadata: bad };
  const ada = world.browser();

  const down = await ada.get("/api/login/company/start");
  assert.deepEqual([down.status, down.json.code, down.headers.get("retry-after")], [503, "unavailable", "30"]);
  world.issuer.twist = {};
  assert.equal((await ada.get("/api/login/company/start")).status, 503);
  assert.equal((await ada.ask("POST", "/api/session/", { username: email, password })).status, 201);
  world.own.clock.now += 30_000;
  assert.equal((await ada.get("/api/login/company/start")).status, 303);
});

test("fetches the provider's metadata once an hour, and uses the metadata for a day while the provider is down", async (t) => {
  const world = await startWorld(t);
  const ada = world.browser();
  const times = () => world.issuer.requests.filter((each) => each.startsWith("/.well-known/")).length;
  assert.equal(times(), 0);
  for (let at = 0; at < 3; at++) await ada.start();
  assert.equal(times(), 1);
  world.own.clock.now += 3_600_000;
  await ada.start();
  assert.equal(times(), 2);

  await world.issuer.stop();
  world.own.clock.now += 3_600_000;
  assert.equal((await ada.get("/api/login/company/start")).status, 303);
  world.own.clock.now += 24 * 3_600_000;
  assert.equal((await ada.get("/api/login/company/start")).status, 503);
});

test("refuses to start with wrong providers, and names every mistake", async () => {
  const people = accounts();
  const sessions = sessionLogin(people);
  const good = declare("https://login.example");
  const start = async (providers: readonly unknown[], ownOrigins: readonly string[] = [origin]): Promise<unknown> => {
    const options = { sessions, providers: providers as readonly (typeof good)[] };
    try {
      const features = [people, sessions, identityProviders(people, options)];
      const service = await createService({
        store: await emptyStore(),
        secret: new Secret("x".repeat(32)),
        features,
        ownOrigins,
      });
      await service.close();
      return null;
    } catch (error) {
      assert.ok(error instanceof DeclarationError, String(error));
      return error.message;
    }
  };

  assert.equal(await start([good]), null);
  for (const id of ["factors", "code", "passkey", "providers", "confirm", "Company", "", 1])
    assert.match(String(await start([{ ...good, id }])), /providers\[0\]\.id/, String(id));
  for (const issuer of [
    "http://login.example",
    "login.example",
    "https://a:b@login.example",
    "https://login.example?a=1",
    1,
  ])
    assert.match(String(await start([{ ...good, issuer }])), /providers\[0\]\.issuer/, String(issuer));
  assert.match(String(await start([{ ...good, clientSecret: "text" }])), /clientSecret/);
  assert.match(String(await start([{ ...good, scopes: ["email profile"] }])), /scopes/);
  assert.match(String(await start([{ ...good, level: 3 }])), /level/);
  assert.match(String(await start([{ ...good, secret: "?" }])), /secret/);
  assert.match(String(await start([good, { ...good, id: "other" }])), /providers\[1\]\.issuer/);
  assert.match(String(await start([good, good])), /providers\[1\]\.id/);
  assert.match(String(await start([])), /at least one/);
  assert.match(String(await start([good], [])), /ownOrigins/);
});
