import assert from "node:assert/strict";
import { test } from "node:test";
import { readCookies } from "../harness/factors.ts";
import { basic, MINUTE_MS, startMailFlows } from "../harness/mail-flows.ts";
import { email as ada, password } from "../harness/own-logins.ts";

test("logs in with the code of a mail, and lists the mail as a proof of the session", async (t) => {
  const api = await startMailFlows(t);
  const mail = await api.loginCode();
  assert.deepEqual([mail.to, mail.template], [ada, "login_code"]);
  const done = await api.post("/api/session/", { email: ada, code: mail.values["code"] });
  assert.equal(done.status, 201, done.text);
  const who = (await api.get("/api/session/", readCookies(done))).json;
  assert.deepEqual([who.amr, who.level], [["mail"], 1]);
});

test("returns a token pair for the link of a mail, only once", async (t) => {
  const api = await startMailFlows(t);
  const { token, values } = await api.loginCode();
  const done = await api.post("/api/token/", { token });
  assert.equal(done.status, 200, done.text);
  assert.equal((await api.get("/users/1", { authorization: `Bearer ${done.json.access}` })).status, 200);
  for (const again of [{ token }, { email: ada, code: values["code"] }]) {
    const answer = await api.post("/api/token/", again);
    assert.deepEqual([answer.status, answer.json.code], [401, "invalid_credentials"]);
    assert.ok(answer.headers.get("www-authenticate"));
  }
});

test("answers a wrong code like a wrong password, for known and unknown addresses", async (t) => {
  const api = await startMailFlows(t);
  await api.loginCode();
  const wrong = [];
  for (const email of [ada, "nobody@example.com"]) {
    const { status, json } = await api.post("/api/session/", { email, code: "00000000" });
    wrong.push([status, json.code, json.detail]);
  }
  assert.deepEqual(wrong[0]!.slice(0, 2), [401, "invalid_credentials"]);
  assert.deepEqual(wrong[1], wrong[0]);
});

test("accepts no reset link for a login, and no login link for a reset", async (t) => {
  const api = await startMailFlows(t);
  const reset = await api.reset();
  const login = await api.loginCode();
  assert.equal((await api.post("/api/session/", { token: reset.token })).status, 401);
  const body = { token: login.token, password: "analytical-engine" };
  assert.equal((await api.post("/api/password/reset/confirm/", body)).json.code, "invalid_link");
});

test("lets one of fifty requests log in with the same link", async (t) => {
  const api = await startMailFlows(t);
  const { token } = await api.loginCode();
  const all = await Promise.all(Array.from({ length: 50 }, () => api.post("/api/session/", { token })));
  assert.equal(all.filter(({ status }) => status === 201).length, 1);
});

test("asks for the second factor after the mail, and lists both proofs", async (t) => {
  const api = await startMailFlows(t);
  await api.post("/api/session/", { token: (await api.loginCode()).token });
  await api.post("/api/password/reset/confirm/", { token: (await api.reset()).token, password });
  const totp = await api.addTOTP(1, await api.logIn());
  const first = await api.post("/api/token/", { token: (await api.loginCode()).token });
  assert.deepEqual([first.status, first.json.code, first.json.login.needs], [401, "factor_required", "factor"]);
  const { pending, factors } = first.json.login;
  const done = await api.post("/api/login/", { pending, factor: factors[0].id, code: totp.code() });
  assert.equal(done.status, 200, done.text);
  const who = (await api.get("/api/session/", { authorization: `Bearer ${done.json.access}` })).json;
  assert.deepEqual([who.amr, who.level], [["mail", "otp"], 2]);
});

test("does not log a deactivated account in", async (t) => {
  const api = await startMailFlows(t);
  const { token } = await api.loginCode();
  const { accountsCollection } = await import("../../src/door/auth.ts");
  const changes = [{ kind: "update", collection: accountsCollection, key: 1, values: { active: false } } as const];
  await api.service.store.write({ changes });
  assert.equal((await api.post("/api/session/", { token })).status, 401);
});

test("counts wrong links and codes as guesses of the caller's address", async (t) => {
  const api = await startMailFlows(t);
  const statuses = [];
  for (let each = 0; each < 11; each++) statuses.push((await api.post("/api/session/", { token: "no-token" })).status);
  assert.deepEqual(
    statuses.slice(0, 10),
    Array.from({ length: 10 }, () => 401),
  );
  assert.equal(statuses[10], 429);
  api.clock.now += MINUTE_MS;
  assert.equal((await api.post("/api/session/", { token: "no-token" })).status, 401);
});

test("starts no session for a GET of the link, and keeps the link valid", async (t) => {
  const api = await startMailFlows(t);
  const { token, values } = await api.loginCode();
  const { pathname, search } = new URL(values["link"]!);
  for (const method of ["GET", "HEAD"])
    for (let each = 0; each < 20; each++) {
      const answer = await api.ask(method, `${pathname}${search}`);
      assert.equal(answer.headers.get("set-cookie"), null);
    }
  assert.equal((await api.post("/api/session/", { token })).status, 201);
  assert.equal((await api.get("/users/1", basic(ada, password))).status, 401);
});

test("shows for whom a link is, and refuses every other parameter", async (t) => {
  const api = await startMailFlows(t);
  const { token } = await api.loginCode();
  const path = `/api/login/code/?token=${token}`;

  for (const [query, pointers] of [
    ["&next=/orders", ["?next"]],
    ["&Token=a&email=x", ["?Token", "?email"]],
  ] as const) {
    const refused = await api.get(`${path}${query}`);
    assert.deepEqual([refused.status, refused.json.code], [400, "invalid_query"], refused.text);
    const errors: readonly { readonly pointer: string; readonly code: string }[] = refused.json.errors;
    assert.deepEqual(
      errors.map(({ pointer, code }) => [pointer, code]),
      pointers.map((pointer) => [pointer, "unknown_parameter"]),
    );
    assert.doesNotMatch(refused.text, new RegExp(token!));
  }
  for (const wrong of ["/api/login/code/", `${path}&token=${token}`])
    assert.equal((await api.get(wrong)).json.code, "invalid_link", wrong);
  assert.deepEqual((await api.get(path)).json, { email: "a•••@example.com" });
});
