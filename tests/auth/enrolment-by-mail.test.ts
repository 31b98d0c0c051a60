import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsCollection, type Account, type AccountsContract } from "../../src/door/auth.ts";
import type { Context } from "../../src/door/index.ts";
import type { Store } from "../../src/door/stores.ts";
import type { Purpose } from "../../src/features/auth/mailbox/contract.ts";
import { enrolmentStep } from "../../src/features/auth/mailbox/enrolment-step.ts";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { readCookies, parseBase32 } from "../harness/factors.ts";
import { basic, MINUTE_MS, startMailFlows, type Headers, type MailFlows } from "../harness/mail-flows.ts";
import { email as ada, password } from "../harness/own-logins.ts";
import { serve, withMail, type API } from "../harness/serve.ts";

const everyone = { secondFactor: "everyone" } as const;

async function addFactor(api: MailFlows | API, pending: object, headers?: Headers) {
  const made = await api.post("/api/login/factors/", { ...pending, kind: "totp" }, headers);
  assert.equal(made.status, 201, made.text);
  const code = computeCode(parseBase32(made.json.secret), computeStep(api.clock.now));
  return api.post("/api/login/", { ...pending, factor: made.json.id, code }, headers);
}

test("asks for a code by mail before a first factor, and then for the factor", async (t) => {
  const api = await startMailFlows(t, everyone);
  const first = await api.post("/api/token/", { username: ada, password });
  assert.deepEqual([first.status, first.json.code], [401, "factor_required"]);
  const { pending, needs, factors } = first.json.login;
  assert.deepEqual([needs, factors], ["enrolment", [{ id: "mail", kind: "mail" }]]);
  const early = await api.post("/api/login/factors/", { pending, kind: "totp" });
  assert.deepEqual([early.status, early.json.code], [401, "factor_required"]);
  assert.deepEqual(early.json.login.factors, factors);

  const mail = await api.sent();
  assert.deepEqual([mail.to, mail.template, Object.keys(mail.values)], [ada, "factor_code", ["code"]]);
  const wrong = await api.post("/api/login/", { pending, factor: "mail", code: "00000000" });
  assert.deepEqual([wrong.status, wrong.json.code], [401, "invalid_credentials"]);
  const proved = await api.post("/api/login/", { pending, factor: "mail", code: mail.values["code"] });
  assert.deepEqual([proved.status, proved.json.code], [401, "factor_required"]);
  assert.deepEqual([proved.json.login.needs, proved.json.login.factors], ["enrolment", []]);
  assert.notEqual((await api.people.accounts.find(1))!.emailVerifiedAt, null);

  const done = await addFactor(api, { pending: proved.json.login.pending });
  assert.equal(done.status, 200, done.text);
  assert.equal(done.json.recovery_codes.length, 10);
  const who = (await api.get("/api/session/", { authorization: `Bearer ${done.json.access}` })).json;
  assert.deepEqual([who.amr, who.level], [["pwd", "mail", "otp"], 2]);
});

test("asks for the code at a session login too, and identifies the waiting login by a cookie", async (t) => {
  const api = await startMailFlows(t, everyone);
  const first = await api.post("/api/session/", { username: ada, password });
  const cookie = readCookies(first);
  assert.equal("pending" in first.json.login, false);
  assert.deepEqual((await api.get("/api/login/", cookie)).json.factors, [{ id: "mail", kind: "mail" }]);
  const { code } = (await api.sent()).values;
  const proved = await api.post("/api/login/", { factor: "mail", code }, cookie);
  assert.deepEqual([proved.status, "pending" in proved.json.login], [401, false]);
  assert.deepEqual((await api.get("/api/login/", cookie)).json.factors, []);
  const done = await addFactor(api, {}, cookie);
  assert.equal(done.status, 201, done.text);
});

test("asks for no second code after a login by mail", async (t) => {
  const api = await startMailFlows(t, everyone);
  const first = await api.post("/api/token/", { token: (await api.loginCode()).token });
  assert.deepEqual([first.json.login.needs, first.json.login.factors], ["enrolment", []]);
  assert.equal((await addFactor(api, { pending: first.json.login.pending })).status, 200);
});

test("asks for no code by mail if the address is under .invalid, as the first administrator's address can be", async (t) => {
  const api = await startMailFlows(t, everyone);
  const email = "root@example.INVALID";
  assert.equal((await api.post("/users", { name: "Root", email, password })).status, 201);
  const first = await api.post("/api/token/", { username: email, password });
  assert.deepEqual([first.json.login.needs, first.json.login.factors], ["enrolment", []]);
  assert.equal(await api.mail.queued(), 0);
  const done = await addFactor(api, { pending: first.json.login.pending });
  assert.equal(done.status, 200, done.text);
});

test("ends the waiting login after five wrong codes, and then refuses the right code in another login too", async (t) => {
  const api = await startMailFlows(t, everyone);
  const { pending } = (await api.post("/api/token/", { username: ada, password })).json.login;
  const { code } = (await api.sent()).values;
  const wrong = code === "00000000" ? "00000001" : "00000000";
  for (let each = 0; each < 5; each++) await api.post("/api/login/", { pending, factor: "mail", code: wrong });
  const late = await api.post("/api/login/", { pending, factor: "mail", code });
  assert.equal(late.json.code, "login_expired");
  const other = (await api.post("/api/token/", { username: ada, password })).json.login.pending;
  const blocked = await api.post("/api/login/", { pending: other, factor: "mail", code });
  assert.equal(blocked.json.code, "invalid_credentials");
});

test("accepts the code of an earlier mail if a second login within a minute sends no mail", async (t) => {
  const api = await startMailFlows(t, everyone);
  await api.post("/api/token/", { username: ada, password });
  const { code } = (await api.sent()).values;
  const { pending } = (await api.post("/api/token/", { username: ada, password })).json.login;
  assert.deepEqual(await api.mail.deliver(api.clock.now), []);
  assert.equal((await api.post("/api/login/", { pending, factor: "mail", code })).json.code, "factor_required");
  const again = await api.post("/api/login/", { pending, factor: "mail", code });
  assert.deepEqual([again.status, again.json.errors[0].pointer], [400, "/factor"]);
});

test("accepts no code by mail for an account that has a factor", async (t) => {
  const api = await startMailFlows(t);
  await api.addTOTP(1, await api.logIn());
  api.clock.now += MINUTE_MS;
  const { pending, factors } = (await api.post("/api/token/", { username: ada, password })).json.login;
  assert.deepEqual(
    factors.map(({ kind }: { kind: string }) => kind),
    ["totp", "recovery"],
  );
  assert.equal(await api.mail.queued(), 0);
  assert.equal((await api.post("/api/login/", { pending, factor: "mail", code: "00000000" })).status, 400);
  assert.equal((await api.get("/users/1", basic(ada, password))).status, 401);
});

test("takes the code by mail for no other factor, and keeps it valid", async (t) => {
  const api = await startMailFlows(t, everyone);
  const { pending } = (await api.post("/api/token/", { username: ada, password })).json.login;
  const { code } = (await api.sent()).values;

  for (const factor of ["1", "recovery", "password", "Mail"]) {
    const refused = await api.post("/api/login/", { pending, factor, code, password });
    assert.deepEqual([refused.status, refused.json.code], [401, "factor_required"], factor);
    assert.deepEqual(refused.json.login.factors, [{ id: "mail", kind: "mail" }], factor);
  }

  const proved = await api.post("/api/login/", { pending, factor: "mail", code });
  assert.deepEqual(proved.json.login.factors, []);
});

test("takes no code of a mail that another account has asked for", async () => {
  const ann = { id: 1, emailVerifiedAt: null } as Account;
  const used = [{ kind: "delete", collection: accountsCollection, key: 9 }] as const;
  /** A step whose code belongs to the account with this id, although it was sent to the address that Ann has now. */
  const stepOf = (id: number) => {
    const purpose = { find: async () => ({ user: { id }, changes: used }) } as unknown as Purpose;
    return enrolmentStep({
      store: { find: async () => ({ record: { email: "ann@example.com" } }) } as unknown as Store,
      accounts: { users: { collection: accountsCollection } } as unknown as AccountsContract,
      purposes: { enrolment: purpose, confirmation: purpose },
    });
  };
  for (const purpose of ["enrolment", "confirmation"] as const) {
    const check = (id: number) => stepOf(id).check({ call: { now: 0 } } as Context, ann, "12345678", purpose);
    assert.equal(await check(2), null, purpose);
    assert.equal((await check(1))?.[0], used[0], purpose);
  }
});

/** Signs up with a code from the mailbox. Returns the id and the username. */
async function signUp(api: API, email = "ann@example.com") {
  assert.equal((await api.post("/users", { name: "Ann", email })).status, 202);
  const mail = (await api.mails()).find(({ to }) => to === email);
  const [code] = /^\d{8}$/m.exec(mail!.text)!;
  const made = await api.post("/api/email/confirm/", { email, code, password });
  assert.equal(made.status, 201, made.text);
  return { id: made.json.id as number, username: email };
}

const newcomers = { ...withMail, LATCHKEY_REGISTRATION: "verified", LATCHKEY_SECOND_FACTOR: "everyone" };

test("lets a newcomer who has just signed up by mail add a factor at once, without another mail", async (t) => {
  const api = await serve(t, { settings: newcomers });
  const { username } = await signUp(api);
  const { pending, needs, factors } = (await api.post("/api/token/", { username, password })).json.login;
  assert.deepEqual([needs, factors, await api.mails()], ["enrolment", [], []]);
  const done = await addFactor(api, { pending });
  assert.deepEqual([done.status, done.json.recovery_codes?.length], [200, 10], done.text);
  const who = (await api.get("/api/session/", { authorization: `Bearer ${done.json.access}` })).json;
  assert.deepEqual([who.amr, who.level], [["pwd", "otp"], 2]);
});

test("lets a newcomer in a browser add a factor after the ten minutes if the login began before", async (t) => {
  const api = await serve(t, { settings: newcomers });
  const { username } = await signUp(api);
  api.clock.turn(599);
  const cookie = readCookies(await api.post("/api/session/", { username, password }));
  api.clock.turn(120);
  assert.deepEqual((await api.get("/api/login/", cookie)).json.factors, []);
  assert.equal((await addFactor(api, {}, cookie)).status, 201);
});

test("asks a newcomer for a code again ten minutes after the sign-up, and if the address has changed since", async (t) => {
  const api = await serve(t, { settings: newcomers });
  const { username } = await signUp(api);
  const ask = async (name: string) => (await api.post("/api/token/", { username: name, password })).json.login.factors;
  api.clock.turn(-1);
  assert.deepEqual(await ask(username), [{ id: "mail", kind: "mail" }]);
  api.clock.turn(601);
  assert.deepEqual(await ask(username), [{ id: "mail", kind: "mail" }]);

  const ben = await signUp(api, "ben@example.com");
  assert.deepEqual(await ask(ben.username), []);
  const values = { email_verified_at: new Date(api.clock.now + 1000).toISOString() };
  const change = { kind: "update", collection: accountsCollection, key: ben.id, values } as const;
  await api.service.store.write({ changes: [change] });
  assert.deepEqual(await ask(ben.username), [{ id: "mail", kind: "mail" }]);
});
