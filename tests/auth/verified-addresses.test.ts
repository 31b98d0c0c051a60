import assert from "node:assert/strict";
import { test } from "node:test";
import { consolePages } from "../../src/door/features.ts";
import { addTOTP } from "../harness/factors.ts";
import { serve, withMail } from "../harness/serve.ts";
import { ada, as, password, root, startMailed, type Mailed } from "../harness/verified-emails.ts";

const confirm = "/api/email/confirm/";
const next = "ada@new.example";
const MINUTE_MS = 60_000;

async function requestMove(api: Mailed, address = next) {
  const body = { email: address, current_password: password };
  const reply = await api.post("/users/2/email", body, as(ada));
  assert.deepEqual([reply.status, reply.text, reply.headers.get("cache-control")], [202, "{}", "no-store"], reply.text);
  return api.onlyMail();
}

async function readEmail(api: Mailed, id: number): Promise<string> {
  return (await api.ask("GET", `/users/${id}`, undefined, root)).json.email;
}

test("changes an address when the new mailbox confirms it, and informs the old one", async (t) => {
  const api = await startMailed(t);
  const mail = await requestMove(api);
  assert.deepEqual([mail.to, mail.template], [next, "email_change"]);
  assert.equal(await readEmail(api, 2), ada);

  const changed = await api.post(confirm, { token: mail.token }, as(ada));
  assert.deepEqual([changed.status, changed.json], [200, { id: 2, name: "Ada", email: next }], changed.text);
  const notice = await api.onlyMail();
  assert.deepEqual([notice.to, notice.template, notice.values], [ada, "email_changed", { at: "2026-03-01 12:00 UTC" }]);
  assert.equal((await api.ask("GET", "/users/2", undefined, as(next))).status, 200, "the username follows");
});

test("requires a login of the user to confirm an address, and keeps the link usable after a request without a login", async (t) => {
  const api = await startMailed(t);
  const { token, values } = await requestMove(api);
  assert.equal((await api.post(confirm, { token })).status, 401);
  assert.equal((await api.post(confirm, { token }, as(ada, "wrong password"))).status, 401);
  assert.equal((await api.post(confirm, { token }, root)).status, 403);
  const withPassword = await api.post(confirm, { token, password }, as(ada));
  assert.equal(withPassword.json.errors[0].pointer, "/password");
  assert.equal((await api.post(confirm, { email: next, code: values["code"] }, as(ada))).status, 200);
  assert.equal((await api.post(confirm, { token }, as(next))).json.code, "invalid_link");
});

test("requires the current password to change your own address, and no password to change another user's as an administrator", async (t) => {
  const api = await startMailed(t);
  for (const [body, login, status, pointer] of [
    [{ email: next }, as(ada), 400, "/current_password"],
    [{ email: next, current_password: "wrong password" }, as(ada), 400, "/current_password"],
    [{ current_password: password }, as(ada), 400, "/email"],
    [{ email: next, current_password: password }, {}, 401, undefined],
    [{ email: "root@new.example" }, root, 202, undefined],
  ] as const) {
    const reply = await api.post("/users/2/email", body, login);
    assert.deepEqual([reply.status, reply.json.errors?.[0].pointer], [status, pointer], reply.text);
  }
  assert.equal((await api.post("/users/1/email", { email: next }, as(ada))).status, 403);
  assert.equal((await api.post("/users/99/email", { email: next }, root)).status, 404);
});

test("answers a request for a taken address like one for a free address, and informs the owner of the taken address", async (t) => {
  const api = await startMailed(t);
  const mail = await requestMove(api, "ROOT@example.com");
  assert.deepEqual([mail.to, mail.template, mail.values], ["root@example.com", "address_taken", {}]);
});

test("answers 409 if another user has taken the address in the meantime", async (t) => {
  const api = await startMailed(t);
  const { token } = await requestMove(api);
  assert.equal((await api.post("/users", { name: "N", email: next }, root)).status, 201);
  const reply = await api.post(confirm, { token }, as(ada));
  assert.deepEqual([reply.status, reply.json.errors[0].pointer], [409, "/email"], reply.text);
  assert.equal(await readEmail(api, 2), ada);
});

test("changes an address exactly once if fifty requests use a link at the same time", async (t) => {
  const api = await startMailed(t);
  const { token } = await requestMove(api);
  const replies = await Promise.all(Array.from({ length: 50 }, () => api.post(confirm, { token }, as(ada))));
  assert.equal(replies.filter(({ status }) => status === 200).length, 1);
  assert.equal((await api.sent()).length, 1);
  assert.equal(await readEmail(api, 2), next);
});

test("ends older links when the address or the password changes", async (t) => {
  const api = await startMailed(t);
  const older = await requestMove(api, "older@example.com");
  const { token } = await requestMove(api);
  assert.equal((await api.post(confirm, { token }, as(ada))).status, 200);
  await api.sent();
  assert.equal((await api.post(confirm, { token: older.token }, as(next))).json.code, "invalid_link");

  api.clock.now += MINUTE_MS;
  const body = { email: "third@example.com", current_password: password };
  assert.equal((await api.post("/users/2/email", body, as(next))).status, 202);
  const third = await api.onlyMail();
  const changed = { password: "another-engine", current_password: password };
  assert.equal((await api.ask("PATCH", "/users/2", changed, as(next))).status, 200);
  const refused = await api.post(confirm, { token: third.token }, as(next, "another-engine"));
  assert.equal(refused.json.code, "invalid_link");
});

test("refuses to change your own address by PATCH and PUT, except to the same one, and lets an administrator change it", async (t) => {
  const api = await startMailed(t);
  const patches: readonly (readonly [string, string, unknown, Readonly<Record<string, string>>])[] = [
    ["PATCH", "/users/2", { email: next, current_password: password }, as(ada)],
    ["PUT", "/users/2", { name: "Ada", email: next, current_password: password }, as(ada)],
    ["PATCH", "/users/1", { email: next, current_password: password }, root],
    [
      "PATCH",
      "/users/2",
      [{ op: "replace", path: "/email", value: next }],
      { ...as(ada), "content-type": "application/json-patch+json" },
    ],
  ];
  for (const [method, path, body, login] of patches) {
    const reply = await api.ask(method, path, body, login);
    const issue = reply.json.errors?.[0];
    assert.deepEqual([reply.status, issue?.pointer, issue?.code], [400, "/email", "read_only"], reply.text);
    assert.match(issue.detail, /POST \/users\/\d\/email/);
  }
  assert.equal((await api.ask("PATCH", "/users/2", { name: "A", email: ada }, as(ada))).status, 200);
  assert.equal((await api.ask("PUT", "/users/2", { name: "Ada", email: ada }, as(ada))).status, 200);
  assert.equal((await api.ask("PATCH", "/users/2", { email: next }, root)).status, 200);
  const notice = await api.onlyMail();
  assert.deepEqual([notice.to, notice.template], [ada, "email_changed"]);
});

test("takes an address that stays the same for no change: sends no notice, and keeps the links", async (t) => {
  const api = await startMailed(t);
  const { token } = await requestMove(api);
  const named = await api.ask("PATCH", "/users/2", { email: ada, username: "lovelace" }, root);
  assert.equal(named.status, 200, named.text);
  assert.deepEqual(await api.sent(), []);

  const moved = await api.post(confirm, { token }, as("lovelace"));

  assert.equal(moved.status, 200, moved.text);
  assert.deepEqual([(await api.onlyMail()).template, await readEmail(api, 2)], ["email_changed", next]);
});

test("invites a user, who sets the password", async (t) => {
  const api = await startMailed(t);
  const made = await api.post("/users", { name: "Ben", email: "ben@example.com", invite: true }, root);
  assert.deepEqual([made.status, made.json], [201, { id: 3, name: "Ben", email: "ben@example.com" }], made.text);
  const mail = await api.onlyMail();
  assert.deepEqual([mail.to, mail.template], ["ben@example.com", "invitation"]);

  assert.equal((await api.post(confirm, { token: mail.token })).json.errors[0].pointer, "/password");
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => api.post(confirm, { token: mail.token, password })),
  );
  assert.equal(replies.filter(({ status }) => status === 200).length, 1);
  assert.deepEqual(replies.find(({ status }) => status === 200)!.json, made.json);
  assert.equal((await api.ask("GET", "/users/3", undefined, as("ben@example.com"))).status, 200);
  assert.equal((await api.post(confirm, { token: mail.token, password: "another-one" })).json.code, "invalid_link");
});

test("sends another invitation until the user has a password", async (t) => {
  const api = await startMailed(t);
  assert.equal((await api.post("/users", { name: "Ben", email: "ben@example.com" }, root)).status, 201);
  const invited = await api.post("/users/3/invitation", undefined, root);
  assert.deepEqual([invited.status, invited.text], [202, "{}"], invited.text);
  const first = await api.onlyMail();
  api.clock.now += 6 * 24 * 60 * MINUTE_MS;
  assert.equal((await api.post("/users/3/invitation", undefined, root)).status, 202);
  const second = await api.onlyMail();
  assert.equal((await api.post(confirm, { token: first.token, password })).status, 200);
  assert.equal((await api.post(confirm, { token: second.token, password })).json.code, "invalid_link");
  assert.equal((await api.post("/users/3/invitation", undefined, root)).status, 409);
  assert.equal((await api.post("/users/2/invitation", undefined, as(ada))).status, 403);
  assert.equal((await api.post("/users/9/invitation", undefined, root)).status, 404);
});

test("refuses an invitation with a password, by an anonymous caller and for an existing user", async (t) => {
  const api = await startMailed(t, { registration: "open", invitations: true });
  const ben = { name: "Ben", email: "ben@example.com", invite: true };
  for (const [method, path, body, login, pointer] of [
    ["POST", "/users", { ...ben, password }, root, "/password"],
    ["POST", "/users", ben, {}, "/invite"],
    ["PATCH", "/users/2", { invite: true }, root, "/invite"],
  ] as const) {
    const reply = await api.ask(method, path, body, login);
    assert.deepEqual([reply.status, reply.json.errors?.[0].pointer], [400, pointer], reply.text);
  }
  const put = await api.ask("PUT", "/users/7", ben, root);
  assert.equal(put.status, 201, put.text);
  assert.equal((await api.onlyMail()).to, ben.email);
});

test("ends an invitation when an administrator changes the address", async (t) => {
  const api = await startMailed(t);
  await api.post("/users", { name: "Ben", email: "ben@example.com", invite: true }, root);
  const { token } = await api.onlyMail();
  assert.equal((await api.ask("PATCH", "/users/3", { email: "other@example.com" }, root)).status, 200);
  assert.equal((await api.post(confirm, { token, password })).json.code, "invalid_link");
});

test("ends the invitations of a deleted user, also for the next user with the same address", async (t) => {
  const api = await startMailed(t);
  const ben = { name: "Ben", email: "ben@example.com" };
  const made = await api.post("/users", { ...ben, invite: true }, root);
  assert.equal(made.status, 201, made.text);
  const first = await api.onlyMail();
  assert.equal((await api.ask("DELETE", "/users/3", undefined, root)).status, 204);
  assert.equal((await api.post("/users", ben, root)).status, 201);
  for (const proof of [{ token: first.token }, { email: ben.email, code: first.values["code"] }])
    assert.equal((await api.post(confirm, { ...proof, password })).json.code, "invalid_link");

  api.clock.now += MINUTE_MS;
  assert.equal(
    (await api.ask("PUT", "/users/9", { ...ben, email: "next@example.com", invite: true }, root)).status,
    201,
  );
  assert.equal((await api.ask("DELETE", "/users/9", undefined, root)).status, 204);
  assert.deepEqual(await api.sent(), []);
});

test("keeps a link valid while a mail scanner requests it, and starts no login for these requests", async (t) => {
  const pages = consolePages({ title: "Shop" });
  const api = await startMailed(t, undefined, [pages]);
  assert.equal((await api.post("/users", { name: "Eve", email: "eve@example.com" })).status, 202);
  const signUp = await api.onlyMail();
  assert.equal((await api.post("/users", { name: "Ben", email: "ben@example.com", invite: true }, root)).status, 201);
  const invitation = await api.onlyMail();
  const change = await requestMove(api);
  const html = { accept: "text/html,*/*;q=0.8" };

  for (const mail of [signUp, invitation, change]) {
    const { pathname, search } = new URL(mail.values["link"]!);
    for (let count = 0; count < 20; count++)
      for (const method of ["GET", "HEAD", "OPTIONS"])
        for (const path of [`${pathname}${search}`, `${confirm}${search}`]) {
          const reply = await api.ask(method, path, undefined, html);
          assert.equal(reply.headers.get("set-cookie"), null);
        }
    const page = await api.ask("GET", `${pathname}${search}`, undefined, html);
    assert.equal(page.status, 200);
    // The page of a changed address asks for the login first.
    assert.match(page.text, mail === change ? /Log in to confirm the address/ : /<form[^>]*method="post"/);
    assert.match(page.headers.get("cache-control")!, /no-store/);
  }

  // The button of the page sends a form.
  const form = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin", ...html };
  const click = async (token: string | null, more: string, headers = {}) =>
    (await api.post(confirm, `token=${token}${more}`, { ...form, ...headers })).status;
  assert.equal(await click(signUp.token, `&password=${password}`), 303);
  assert.equal(await click(invitation.token, `&password=${password}`), 303);
  assert.equal(await click(change.token, "", as(ada)), 303);
  assert.equal(await readEmail(api, 2), next);
});

test("refuses the form of another site", async (t) => {
  const api = await startMailed(t);
  const form = { "content-type": "application/x-www-form-urlencoded", origin: "https://evil.example" };
  for (const path of [confirm, "/users", "/users/2/email", "/users/2/invitation"]) {
    const reply = await api.post(path, "token=x", path.startsWith("/users/") ? { ...form, ...root } : form);
    assert.deepEqual([reply.status, reply.json.code], [403, "cross_site"], path);
  }
});

test("requires a login with the second factor, and no password, to change the address of an account with a factor", async (t) => {
  const api = await serve(t, { settings: withMail });
  const ben = await addTOTP(api, "Ben");
  assert.equal((await api.post(`/users/${ben.id}/email`, { email: next }, ben.headers)).status, 202);
  api.clock.turn(11 * 60);
  const late = await api.post(`/users/${ben.id}/email`, { email: next, current_password: ben.password }, ben.headers);
  assert.deepEqual([late.status, late.json.code], [401, "confirmation_required"], late.text);
});
