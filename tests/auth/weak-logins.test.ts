import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { sessionsCollection } from "../../src/door/auth.ts";
import { addTOTPTo, readCookies, startLogin } from "../harness/factors.ts";
import { outsideLogins } from "../harness/outside-logins.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

// A rule for second factors ends the logins below its level, and no other ones.

const bearer = (access: string) => ({ authorization: `Bearer ${access}` });
const works = async (api: API, headers: Readonly<Record<string, string>>) =>
  (await api.get("/protected/", headers)).status === 200;

/**
 * Returns a function that starts services on one database. Their badges check the person, so a badge alone proves level
 * 2.
 */
async function shared(t: TestContext) {
  const settings = {
    LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
    LATCHKEY_SECRET: "a secret that both of the services know",
  };
  const config = { features: outsideLogins({ checksPerson: true }).features };
  return (rule: "optional" | "admins" | "everyone") =>
    serve(t, { settings: { ...settings, LATCHKEY_SECOND_FACTOR: rule }, config });
}

async function logInByBadge(api: API, email: string, kind: "session" | "tokens") {
  const answer = await api.post(`/badge/${kind}`, undefined, { "x-badge-login": email });
  assert.equal(answer.status, kind === "session" ? 201 : 200, answer.text);
  return { cookie: readCookies(answer), refresh: answer.json.refresh as string };
}

test("keeps the sessions of level 2 of a user without a factor when a rule starts", async (t) => {
  const start = await shared(t);
  const before = await start("optional");
  const { email, password } = await before.user("Ann");
  const byPassword = readCookies(await before.post("/api/session/", { username: email, password }));
  const byBadge = (await logInByBadge(before, email, "session")).cookie;
  assert.deepEqual([await works(before, byPassword), await works(before, byBadge)], [true, true]);
  await before.service.close();

  const ruled = await start("everyone");

  assert.deepEqual([await works(ruled, byPassword), await works(ruled, byBadge)], [false, true]);
});

test("ends the sessions of an earlier version, which stored no proofs, as logins by password when a rule starts", async (t) => {
  const start = await shared(t);
  const before = await start("optional");
  const { id, email: username, password } = await before.user("Ann");
  const session = readCookies(await before.post("/api/session/", { username, password }));
  const where = { column: "user_id", operator: "eq", value: id } as const;
  const values = { proofs: null };
  await before.service.store.write({
    changes: [{ kind: "updateAll", collection: sessionsCollection, where, values }],
  });
  assert.equal(await works(before, session), true);

  const ruled = await start("everyone");

  assert.equal(await works(ruled, session), false);
  assert.equal(await ruled.service.store.count(sessionsCollection, null), 0);
});

test("ends no login of level 2 that began under the rule when the service starts again", async (t) => {
  const start = await shared(t);
  const before = await start("optional");
  const { email, password } = await before.user("Ann");
  assert.equal((await before.post("/api/token/", { username: email, password })).status, 200);
  await before.service.close();
  const ruled = await start("everyone");
  const { refresh } = await logInByBadge(ruled, email, "tokens");
  await ruled.service.close();

  const again = await start("everyone");

  assert.equal((await again.post("/api/token/refresh/", { refresh })).status, 200);
});

/** Starts a service without the rule and one with a rule for administrators, whose administrator (1) has a factor. */
async function startBoth(t: TestContext) {
  const start = await shared(t);
  const before = await start("optional");
  const ann = await before.user("Ann");
  const admin = await addTOTPTo(before, { id: 1, email: "admin", password: adminPassword });
  const ruled = await start("admins");
  return { before, ruled, ann, admin };
}

test("keeps the logins of a user with a second factor who becomes an administrator under a rule for administrators", async (t) => {
  const { before, ruled, ann: plain, admin } = await startBoth(t);
  const ann = await addTOTPTo(before, plain);
  ruled.clock.now = before.clock.now;
  const { pending } = (await startLogin(ruled, ann)).json.login;
  const { refresh } = (await ruled.post("/api/login/", { pending, factor: ann.factor, code: ann.code() })).json;

  const promoted = await ruled.patch(`/users/${ann.id}/account`, { role: "admin" }, admin.headers);

  assert.equal(promoted.status, 200, promoted.text);
  assert.equal((await ruled.post("/api/token/refresh/", { refresh })).status, 200);
});

test("keeps the logins of a user without a factor who is an administrator no longer under a rule for administrators", async (t) => {
  const { before, ruled, ann, admin } = await startBoth(t);
  ruled.clock.now = before.clock.now;
  const change = (role: string) => ruled.patch(`/users/${ann.id}/account`, { role }, admin.headers);
  assert.equal((await change("admin")).status, 200);
  const { refresh } = await logInByBadge(ruled, ann.email, "tokens");

  assert.equal((await change("user")).status, 200);

  assert.equal((await ruled.post("/api/token/refresh/", { refresh })).status, 200);
});

test("confirms no login with proofs below the level of a rule, if a process without the rule began the login", async (t) => {
  const start = await shared(t);
  const [before, ruled] = [await start("optional"), await start("everyone")];
  const { email: username, password } = await before.user("Ann");
  const session = readCookies(await before.post("/api/session/", { username, password }));
  const { access } = (await before.post("/api/token/", { username, password })).json;
  for (const headers of [session, bearer(access)]) {
    const started = await before.post("/api/login/confirm/", undefined, headers);
    const { pending } = started.json;
    const body = { ...(pending === undefined ? {} : { pending }), factor: "password", password };

    const refused = await ruled.post("/api/login/", body, pending === undefined ? readCookies(started) : {});

    assert.deepEqual([refused.status, refused.json.code], [401, "factor_required"], refused.text);
    assert.doesNotMatch(refused.headers.getSetCookie().join(), /session=[^;]/);
    assert.ok(refused.headers.has("www-authenticate"));
  }
});
