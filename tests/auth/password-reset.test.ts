import assert from "node:assert/strict";
import { test } from "node:test";
import { basic, startMailFlows, type Headers, type MailFlows } from "../harness/mail-flows.ts";
import { email as ada, password } from "../harness/own-logins.ts";

const CONFIRM = "/api/password/reset/confirm/";
const chosen = "analytical-engine";

test("sets a new password with the link of a mail, and starts no login", async (t) => {
  const api = await startMailFlows(t);
  const mail = await api.reset(ada.toUpperCase());
  assert.deepEqual([mail.to, mail.template], [ada, "password_reset"]);
  assert.match(mail.values["link"]!, /^https:\/\/shop\.example\/reset\?token=/);

  const done = await api.post(CONFIRM, { token: mail.token, password: chosen });
  assert.deepEqual([done.status, done.text, done.headers.get("cache-control")], [204, "", "no-store"]);
  assert.equal(done.headers.get("set-cookie"), null);
  assert.equal((await api.get("/users/1", basic(ada, password))).status, 401);
  const account = await api.get("/users/1/account", basic(ada, chosen));
  assert.equal(account.json.email_verified_at, new Date(api.clock.now).toISOString());
  assert.equal((await api.post(CONFIRM, { token: mail.token, password: chosen })).json.code, "invalid_link");
});

test("sets a new password with the code of a mail", async (t) => {
  const api = await startMailFlows(t);
  const { code } = (await api.reset()).values;
  assert.equal((await api.post(CONFIRM, { email: ada, code, password: chosen })).status, 204);
  assert.equal((await api.get("/users/1", basic(ada, chosen))).status, 200);
});

test("gives the same answer for the addresses of known, unknown and deactivated users", async (t) => {
  const api = await startMailFlows(t);
  const ben = "ben@example.com";
  await api.post("/users", { name: "Ben", email: ben, password });
  const service = api.service.store;
  const { accountsCollection } = await import("../../src/door/auth.ts");
  await service.write({
    changes: [{ kind: "update", collection: accountsCollection, key: 2, values: { active: false } }],
  });

  const answers = [];
  for (const email of [ada, "nobody@example.com", ben]) {
    const { status, text, headers } = await api.post("/api/password/reset/", { email });
    answers.push([status, text, [...headers].filter(([name]) => !["date", "x-request-id"].includes(name))]);
  }
  assert.deepEqual(answers[1], answers[0]);
  assert.deepEqual(answers[2], answers[0]);
  assert.deepEqual(
    (await api.mail.deliver(api.clock.now)).map(({ to }) => to),
    [ada],
  );
  for (const email of ["nobody@example.com", ben])
    assert.equal((await api.post(CONFIRM, { email, code: "00000000", password: chosen })).json.code, "invalid_link");
});

/** Makes every kind of credential of ada. Returns their headers. */
async function logInEverywhere(api: MailFlows): Promise<Record<string, Headers>> {
  const session = await api.logIn();
  const pair = (await api.post("/api/token/", { username: ada, password })).json;
  const token = (await api.post("/users/1/token", undefined, session)).json.token;
  const key = (await api.post("/users/1/keys", { name: "build" }, session)).json;
  return {
    session,
    access: { authorization: `Bearer ${pair.access}` },
    refresh: { refresh: pair.refresh },
    token: { authorization: `Token ${token}` },
    key: { authorization: `Token ${key.key}` },
  };
}

test("ends every login, the API token and the keys at the first proof of the address, even if end_keys is false", async (t) => {
  for (const endKeys of [undefined, true, false]) {
    const api = await startMailFlows(t);
    const { refresh, ...logins } = await logInEverywhere(api);
    for (const [name, headers] of Object.entries(logins))
      assert.equal((await api.get("/users/1", headers)).status, 200, name);
    const { token } = await api.reset();
    const body = { token, password: chosen, ...(endKeys === undefined ? {} : { end_keys: endKeys }) };
    assert.equal((await api.post(CONFIRM, body)).status, 204);
    const keyStatus = endKeys === false ? 200 : 401;
    const expected: Record<string, number> = { session: 401, access: 401, token: keyStatus, key: keyStatus };
    // Ada has signed up by herself, so another person may have made her keys. The first proof ends them in any case.
    if (endKeys === false) expected["token"] = expected["key"] = 401;
    for (const [name, headers] of Object.entries(logins))
      assert.equal((await api.get("/users/1", headers)).status, expected[name], name);
    assert.equal((await api.post("/api/token/refresh/", refresh)).status, 401);
  }
});

test("keeps the API token and the keys if end_keys is false and the address was proved before", async (t) => {
  const api = await startMailFlows(t);
  await api.post(CONFIRM, { token: (await api.reset()).token, password });
  const { token, key, session } = await logInEverywhere(api);
  const again = await api.reset();
  assert.equal((await api.post(CONFIRM, { token: again.token, password: chosen, end_keys: false })).status, 204);
  assert.equal((await api.get("/users/1", token)).status, 200);
  assert.equal((await api.get("/users/1", key)).status, 200);
  assert.equal((await api.get("/users/1", session)).status, 401);
});

test("keeps the second factor of an account whose address was proved, and ends its waiting login", async (t) => {
  const api = await startMailFlows(t);
  await api.post(CONFIRM, { token: (await api.reset()).token, password });
  const totp = await api.addTOTP(1, await api.logIn());
  const waiting = (await api.post("/api/token/", { username: ada, password })).json.login;
  assert.equal((await api.post(CONFIRM, { token: (await api.reset()).token, password: chosen })).status, 204);

  const factor = waiting.factors[0].id;
  const late = await api.post("/api/login/", { pending: waiting.pending, factor, code: totp.code() });
  assert.equal(late.json.code, "login_expired");
  const first = await api.post("/api/token/", { username: ada, password: chosen });
  assert.equal(first.json.code, "factor_required");
});

test("refuses a weak password, counts no try for it, and keeps the code usable", async (t) => {
  const api = await startMailFlows(t);
  const { token, values } = await api.reset();
  const { code } = values;
  for (const weak of ["short", "password1", ada])
    for (const proof of [{ token }, { email: ada, code }, { email: ada, code }]) {
      const answer = await api.post(CONFIRM, { ...proof, password: weak });
      assert.deepEqual([answer.status, answer.json.code, answer.json.errors[0].pointer], [400, "invalid", "/password"]);
    }
  assert.equal((await api.post(CONFIRM, { email: ada, code, password: chosen })).status, 204);
});

test("names the missing members of a body", async (t) => {
  const api = await startMailFlows(t);
  const pointers = async (body: object) =>
    (await api.post(CONFIRM, body)).json.errors.map((each: { pointer: string }) => each.pointer);
  assert.deepEqual(await pointers({ password: chosen }), ["/token"]);
  assert.deepEqual(await pointers({ password: chosen, email: ada }), ["/code"]);
  assert.deepEqual(await pointers({ password: chosen, code: "12345678" }), ["/email"]);
  assert.deepEqual(await pointers({ token: "x" }), ["/password"]);
  assert.equal((await api.post("/api/password/reset/", {})).json.errors[0].pointer, "/email");
  assert.equal((await api.post("/api/password/reset/", { email: "no address" })).status, 400);
});

test("lets one of fifty requests use a link", async (t) => {
  const api = await startMailFlows(t);
  const { token } = await api.reset();
  const all = await Promise.all(
    Array.from({ length: 50 }, (_, each) => api.post(CONFIRM, { token, password: `${chosen}-${each}` })),
  );
  assert.equal(all.filter(({ status }) => status === 204).length, 1);
  assert.equal(all.filter(({ status }) => status === 400).length, 49);
});

test("ignores other credentials, and refuses requests of other sites and requests with an Idempotency-Key", async (t) => {
  const api = await startMailFlows(t);
  const bad = { authorization: "Basic bm9ib2R5Om5vcGU=", cookie: "session=none" };
  assert.equal((await api.post("/api/password/reset/", { email: ada }, bad)).status, 202);
  const other = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  assert.equal((await api.post("/api/password/reset/", { email: ada }, other)).json.code, "cross_site");
  const key = { "idempotency-key": "1234567890" };
  assert.equal((await api.post("/api/password/reset/", { email: ada }, key)).json.code, "malformed");
  assert.equal((await api.post(CONFIRM, { token: "x", password: chosen }, key)).json.code, "malformed");
});

test("answers a form of the service's own pages with a redirect, and refuses a form of another origin", async (t) => {
  const api = await startMailFlows(t);
  const form = (path: string, fields: Record<string, string>, headers: Headers = {}) =>
    api.service.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method: "POST",
        body: new URLSearchParams(fields),
        headers: { accept: "text/html", host: "127.0.0.1", origin: "http://127.0.0.1", ...headers },
      }),
      { peer: "127.0.0.1" },
    );
  const response = await form("/api/password/reset/", { email: ada, next: "/forgot?sent=1" });
  assert.equal(response.status, 303, await response.text());
  // The next page has the address, so that the user types it once.
  const next = `/forgot?${new URLSearchParams({ sent: "1", email: ada }).toString()}`;
  assert.deepEqual([response.status, response.headers.get("location")], [303, next]);
  const { token } = await api.sent();
  const evil = { origin: "https://evil.example" };
  assert.equal((await form(CONFIRM, { token: token!, password: chosen }, evil)).status, 403);
  const away = { token: token!, password: chosen, next: "https://evil.example/" };
  const referer = { referer: `http://127.0.0.1/reset?token=${token}` };
  const done = await form(CONFIRM, away, referer);
  assert.deepEqual([done.status, done.headers.get("location")], [303, "/"]);
});
