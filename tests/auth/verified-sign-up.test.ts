import assert from "node:assert/strict";
import { test } from "node:test";
import { consolePages, type RecordWrite } from "../../src/door/features.ts";
import { accounts, basicLogin, createService, defineFeature, text } from "../../src/door/index.ts";
import type { Store } from "../../src/door/stores.ts";
import { secret } from "../harness/own-logins.ts";
import { emptyStore } from "../harness/test-store.ts";
import { ada, as, password, root, startMailed, type Mailed } from "../harness/verified-emails.ts";

const confirm = "/api/email/confirm/";
const ben = { name: "Ben", email: "ben@example.com" };
const MINUTE_MS = 60_000;

async function signUp(api: Mailed, body: unknown = ben) {
  const reply = await api.post("/users", body);
  assert.deepEqual([reply.status, reply.text], [202, "{}"], reply.text);
  return api.onlyMail();
}

async function emails(api: Mailed): Promise<readonly string[]> {
  return (await api.ask("GET", "/users", undefined, root)).json.map(({ email }: { email: string }) => email);
}

test("creates the user of a sign-up when its address is confirmed, with a link and with a code", async (t) => {
  const api = await startMailed(t);
  const mail = await signUp(api);
  assert.deepEqual([mail.to, mail.template], [ben.email, "sign_up"]);
  assert.match(mail.values["link"]!, /^https:\/\/shop\.example\/verify\?token=/);
  assert.deepEqual(await emails(api), ["root@example.com", ada]);

  const created = await api.post(confirm, { token: mail.token, password });
  assert.deepEqual([created.status, created.headers.get("location")], [201, "/users/3"], created.text);
  assert.deepEqual(created.json, { id: 3, ...ben });
  assert.equal(created.headers.get("cache-control"), "no-store");
  assert.deepEqual((await api.ask("GET", "/users/3", undefined, as(ben.email))).json, { id: 3, ...ben });

  const eve = { name: "Eve", email: "eve@example.com" };
  const { values } = await signUp(api, eve);
  const byCode = await api.post(confirm, { email: "EVE@example.com", code: values["code"], password });
  assert.deepEqual([byCode.status, byCode.json], [201, { id: 4, ...eve }], byCode.text);
});

test("answers a sign-up with a known address in the same bytes as an unknown one, and sends a mail without a link", async (t) => {
  const api = await startMailed(t);
  const takenReply = await api.post("/users", { name: "Mallory", email: "ADA@example.com" });
  const [queued, mail] = [await api.mail.queued(), await api.onlyMail()];
  const unknown = await api.post("/users", ben);
  assert.equal(await api.mail.queued(), queued);
  const seen = ({ status, text, headers }: typeof takenReply) => [
    status,
    text,
    [...headers].filter(([name]) => name !== "x-request-id"),
  ];
  assert.deepEqual(seen(takenReply), seen(unknown));
  assert.deepEqual([mail.to, mail.template, mail.values], [ada, "account_exists", {}]);
});

test("lets no user take the address of another person as a username", async (t) => {
  const api = await startMailed(t);
  const rename = (username: string, caller = as(ada)) =>
    api.ask("PATCH", "/users/2", { username, ...(caller === root ? {} : { current_password: password }) }, caller);
  for (const username of ["root@example.com", ben.email, "BEN@example.com"]) {
    const refused = await rename(username);
    assert.deepEqual([refused.status, refused.json.errors?.[0].code], [400, "invalid"], `${username} ${refused.text}`);
    assert.equal(refused.json.errors[0].pointer, "/username");
  }
  assert.equal((await rename("ADA@example.com")).status, 200);
  const { token } = await signUp(api);
  assert.equal((await api.post(confirm, { token, password })).status, 201);
  assert.equal((await rename("ada@elsewhere.example", root)).status, 200);
});

test("refuses a sign-up with members that it must not contain", async (t) => {
  const fields = { phone: text({ optional: true }), team: text({ default: "none" }) };
  const api = await startMailed(t, { registration: "verified", fields, administered: ["team"] });
  const refusals: readonly (readonly [unknown, number, string | undefined])[] = [
    [{ ...ben, password }, 400, "/password"],
    [{ ...ben, email: "no address" }, 400, "/email"],
    [{ name: "Ben" }, 400, "/email"],
    [{ ...ben, role: "admin" }, 400, "/role"],
    [{ ...ben, invite: true }, 400, "/invite"],
    [{ ...ben, username: "root" }, 400, "/username"],
    [{ ...ben, username: ben.email }, 400, "/username"],
    [{ ...ben, username: ben.email, password }, 400, "/password"],
    [{ ...ben, team: "owners" }, 403, undefined],
    ["[]", 400, ""],
  ];
  for (const [body, status, pointer] of refusals) {
    const reply = await api.post("/users", body);
    assert.deepEqual([reply.status, reply.json.errors?.[0].pointer], [status, pointer], reply.text);
  }
  const repeated = await api.post("/users", ben, { "idempotency-key": "12345678" });
  assert.equal(repeated.status, 400, repeated.text);
  assert.equal((await api.post("/users", ben, as(ada))).status, 403);
  assert.deepEqual(await api.sent(), []);
});

test("refuses Idempotency-Key and answers with no-store at every endpoint for addresses", async (t) => {
  const api = await startMailed(t);
  const calls: readonly (readonly [string, unknown, Readonly<Record<string, string>>])[] = [
    ["/users", ben, {}],
    [confirm, { token: "x", password }, {}],
    ["/users/2/email", { email: ben.email, current_password: password }, as(ada)],
    ["/users/2/invitation", {}, root],
  ];
  for (const [path, body, login] of calls) {
    const repeated = await api.post(path, body, { ...login, "idempotency-key": "12345678" });
    assert.deepEqual([repeated.status, repeated.json.code], [400, "malformed"], `${path} ${repeated.text}`);
    const reply = await api.post(path, body, login);
    assert.equal(reply.headers.get("cache-control"), "no-store", path);
  }
});

test("gives the user the fields of the sign-up and the username of the confirmation", async (t) => {
  const fields = { phone: text({ optional: true }), team: text({ default: "none" }) };
  const api = await startMailed(t, { registration: "verified", fields, administered: ["team"] });
  const { token } = await signUp(api, { ...ben, phone: "123" });
  const created = await api.post(confirm, { token, password, username: "benny" });
  assert.deepEqual(created.json, { id: 3, ...ben, phone: "123", team: "none" });
  const account = await api.ask("GET", "/users/3/account", undefined, as("benny"));
  assert.deepEqual([account.json.username, account.json.role], ["benny", "user"], account.text);
});

test("creates exactly one user if fifty requests use a link at the same time", async (t) => {
  const api = await startMailed(t);
  const { token } = await signUp(api);
  const replies = await Promise.all(Array.from({ length: 50 }, () => api.post(confirm, { token, password })));
  const statuses = replies.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 201).length, 1);
  assert.deepEqual(
    replies.filter(({ status }) => status !== 201).map(({ json }) => json.code),
    Array.from({ length: 49 }, () => "invalid_link"),
  );
  assert.deepEqual(await emails(api), ["root@example.com", ada, ben.email]);
});

test("keeps a link usable after a password that is too weak or missing", async (t) => {
  const api = await startMailed(t);
  const { token, values } = await signUp(api);
  for (const weak of ["short", "password1", ben.email, undefined]) {
    const reply = await api.post(confirm, { token, password: weak });
    assert.deepEqual([reply.status, reply.json.errors[0].pointer], [400, "/password"], reply.text);
  }
  for (let round = 0; round < 6; round++) {
    const reply = await api.post(confirm, { email: ben.email, code: values["code"], password: "password1" });
    assert.equal(reply.json.errors[0].pointer, "/password");
  }
  assert.equal((await api.post(confirm, { token, password })).status, 201);
  assert.equal((await api.post(confirm, { token, password })).json.code, "invalid_link");
});

test("names the missing members of a confirmation", async (t) => {
  const api = await startMailed(t);
  const cases: readonly (readonly [unknown, string])[] = [
    [{}, "/token"],
    [{ email: ben.email }, "/code"],
    [{ code: "12345678" }, "/email"],
  ];
  for (const [body, pointer] of cases) {
    const reply = await api.post(confirm, body);
    assert.deepEqual([reply.status, reply.json.errors?.[0].pointer], [400, pointer], reply.text);
  }
  assert.equal((await api.post(confirm, { token: "wrong", password })).json.code, "invalid_link");
});

test("lets only a sign-up choose a username at a confirmation, and keeps the other links", async (t) => {
  const api = await startMailed(t, { registration: "verified", invitations: true });
  const change = { email: "new@example.com", current_password: password };
  assert.equal((await api.post("/users/2/email", change, as(ada))).status, 202);
  const changing = await api.onlyMail();
  assert.equal((await api.post("/users", { ...ben, invite: true }, root)).status, 201);
  const inviting = await api.onlyMail();

  for (const [proof, caller] of [
    [{ token: changing.token }, as(ada)],
    [{ token: inviting.token, password }, {}],
  ] as const) {
    const { status, json, text } = await api.post(confirm, { ...proof, username: "b" }, caller);
    assert.deepEqual([status, json.errors?.[0].pointer], [400, "/username"], text);
    const confirmed = await api.post(confirm, proof, caller);
    assert.equal(confirmed.status, 200, confirmed.text);
  }
});

test("names the conflict if another account has taken the address or the username in the meantime", async (t) => {
  const api = await startMailed(t);
  const first = await signUp(api);
  assert.equal((await api.post("/users", { ...ben, username: "bb" }, root)).status, 201);
  const taken = await api.post(confirm, { token: first.token, password });
  assert.deepEqual([taken.status, taken.json.code, taken.json.errors[0].pointer], [409, "taken", "/email"]);

  const eve = { name: "Eve", email: "eve@example.com" };
  const { token } = await signUp(api, eve);
  assert.equal(
    (await api.post("/users", { name: "E", email: "e@example.com", username: eve.email }, root)).status,
    201,
  );
  for (const choice of [{}, { username: "BB" }]) {
    const named = await api.post(confirm, { token, password, ...choice });
    assert.deepEqual([named.status, named.json.code, named.json.errors[0].pointer], [409, "taken", "/username"]);
  }
  assert.equal((await api.post(confirm, { token, password, username: "evie" })).status, 201);
  assert.equal((await api.ask("GET", "/users/5", undefined, as("evie"))).status, 200);
});

test("refuses a username that does not fit at a confirmation, and keeps the link", async (t) => {
  const api = await startMailed(t);
  const { token } = await signUp(api);
  for (const username of ["a:b", "x".repeat(151), "someone@else.example"]) {
    const refused = await api.post(confirm, { token, password, username });
    assert.deepEqual([refused.status, refused.json.errors?.[0].pointer], [400, "/username"], username);
  }
  assert.equal((await api.post(confirm, { token, password, username: "BEN@example.com" })).status, 201);
  const invited = await api.post("/users", { name: "Ian", email: "ian@example.com", invite: true }, root);
  assert.equal(invited.status, 201);
  const [mail] = (await api.sent()).filter(({ to }) => to === "ian@example.com");
  const chosen = await api.post(confirm, { token: mail!.token, password, username: "ian" });
  assert.deepEqual([chosen.status, chosen.json.errors?.[0].pointer], [400, "/username"], chosen.text);
});

test("counts taken names at a confirmation as probes, and computes no hash for them", async (t) => {
  const api = await startMailed(t);
  const { token } = await signUp(api);
  const statuses: number[] = [];
  for (let at = 0; at < 11; at++)
    statuses.push((await api.post(confirm, { token, password, username: "root" })).status);

  assert.ok(
    statuses.slice(0, 5).every((status) => status === 409),
    statuses.join(),
  );
  assert.equal(statuses.at(-1), 429);
  api.clock.now += MINUTE_MS + 1000;
  assert.equal((await api.post(confirm, { token, password, username: "benny" })).status, 201);
});

test("refuses a caller who has found too many taken names before it looks at the password of a confirmation", async (t) => {
  const api = await startMailed(t);
  const { token } = await signUp(api);
  let taken = 409;
  for (let at = 0; at < 20 && taken === 409; at++)
    taken = (await api.post(confirm, { token, password, username: "root" })).status;
  assert.equal(taken, 429);

  // A password that is the address is refused too, but later.
  const refused = await api.post(confirm, { token, password: ben.email });

  assert.deepEqual([refused.status, refused.json.code], [429, "too_many_attempts"], refused.text);
  api.clock.now += MINUTE_MS + 1000;
  assert.equal((await api.post(confirm, { token, password: ben.email })).json.errors?.[0].pointer, "/password");
});

test("answers like for any used link if the link was used while the taken names are looked up", async (t) => {
  const inner = await emptyStore();
  let use: (() => Promise<unknown>) | null = null;
  const store: Store = {
    ...inner,
    async findBy(...names) {
      const first = use;
      use = null;
      await first?.();
      return inner.findBy(...names);
    },
  };
  const api = await startMailed(t, undefined, [], store);
  const { token } = await signUp(api);
  const body = { token, password, username: "benny" };
  const statuses: number[] = [];
  use = async () => void statuses.push((await api.post(confirm, body)).status);

  const late = await api.post(confirm, body);

  assert.deepEqual(statuses, [201]);
  assert.deepEqual([late.status, late.json.code], [400, "invalid_link"], late.text);
});

test("names the custom field of users if another account has taken its value in the meantime", async (t) => {
  const fields = { badge: text({ unique: true, optional: true }), phone: text({ unique: true, optional: true }) };
  const api = await startMailed(t, { registration: "verified", fields });
  for (const field of Object.keys(fields)) {
    const { token } = await signUp(api, { ...ben, [field]: "123" });
    assert.equal(
      (await api.post("/users", { name: "E", email: `${field}@example.com`, [field]: "123" }, root)).status,
      201,
    );
    const taken = await api.post(confirm, { token, password });
    const pointers = taken.json.errors.map(({ pointer }: { pointer: string }) => pointer);
    assert.deepEqual([taken.status, taken.json.code, pointers], [409, "taken", [`/${field}`]], taken.text);
    api.clock.now += MINUTE_MS;
  }
});

test("ends the other links of a sign-up when one of them is used", async (t) => {
  const api = await startMailed(t);
  const first = await signUp(api);
  api.clock.now += MINUTE_MS;
  const second = await signUp(api);
  assert.equal((await api.post(confirm, { token: first.token, password })).status, 201);
  assert.equal((await api.post(confirm, { token: second.token, password })).json.code, "invalid_link");
});

test("ends the link of a sign-up after a day", async (t) => {
  const api = await startMailed(t);
  const { token } = await signUp(api);
  api.clock.now += 24 * 60 * MINUTE_MS;
  assert.equal((await api.post(confirm, { token, password })).json.code, "invalid_link");
});

test("limits the sign-ups of each client address separately", async (t) => {
  const api = await startMailed(t);
  const from = (address: string) => ({ "x-forwarded-for": address, "x-forwarded-proto": "https" });
  const statuses: number[] = [];
  for (let count = 0; count < 11; count++)
    statuses.push((await api.post("/users", { name: "N", email: `n${count}@example.com` }, from("9.9.9.9"))).status);
  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 202), 429]);
  assert.equal((await api.post("/users", ben, from("8.8.8.8"))).status, 202);
});

test("refuses a sign-up over cleartext and from another site", async (t) => {
  const api = await startMailed(t);
  const clear = await api.post("/users", ben, { "x-forwarded-for": "9.9.9.9" });
  assert.equal(clear.json.code, "insecure_transport");
  const foreign = await api.post("/users", ben, { origin: "https://evil.example", "sec-fetch-site": "cross-site" });
  assert.equal(foreign.json.code, "cross_site");
});

test("accepts the form of a page, and redirects to the next page", async (t) => {
  const api = await startMailed(t);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const sent = await api.post("/users", "name=Ben&email=ben%40example.com", {
    ...form,
    accept: "text/html,*/*;q=0.8",
  });
  assert.deepEqual([sent.status, sent.headers.get("location")], [303, "/verify?email=ben%40example.com"], sent.text);
  const { token } = await api.onlyMail();
  const body = `token=${token}&password=${password}&next=/login`;
  const confirmed = await api.post(confirm, body, { ...form, accept: "text/html" });
  assert.deepEqual([confirmed.status, confirmed.headers.get("location")], [303, "/login"], confirmed.text);
  assert.equal((await api.post("/users", "name=Ben", { ...form, ...root })).status, 415);
});

test("redirects to the verification page of a console that has another path", async (t) => {
  const pages = consolePages({ title: "Shop", pages: { verify: "/people/verify" } });
  const api = await startMailed(t, undefined, [pages]);
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "text/html" };
  const sent = await api.post("/users", "name=Ben&email=ben%40example.com", headers);
  assert.deepEqual(
    [sent.status, sent.headers.get("location")],
    [303, "/people/verify?email=ben%40example.com"],
    sent.text,
  );
  assert.match((await api.onlyMail()).values["link"]!, /^https:\/\/shop\.example\/people\/verify\?token=/);
});

test("writes the changes of other features together with the new user, and writes none when the mail is requested", async (t) => {
  const writes: string[] = [];
  const trail = defineFeature({
    name: "trail",
    setUp: () => ({
      offer: null,
      alongside({ kind, resource }: RecordWrite) {
        writes.push(`${kind} ${resource.name}`);
        return [];
      },
    }),
  });
  const api = await startMailed(t, undefined, [trail]);
  const { token } = await signUp(api);
  assert.deepEqual(writes, []);
  assert.equal((await api.post(confirm, { token, password })).status, 201);
  assert.deepEqual(writes, ["create user"]);
});

test("answers a sign-up in XML", async (t) => {
  const api = await startMailed(t);
  const xml = { "content-type": "application/xml", accept: "application/xml" };
  const sent = await api.post("/users", "<user><name>Ben</name><email>ben@example.com</email></user>", xml);
  assert.deepEqual([sent.status, sent.headers.get("content-type")], [202, "application/xml"], sent.text);
  assert.equal((await api.onlyMail()).to, ben.email);
});

test("confirms a sign-up in spite of a wrong credential", async (t) => {
  const api = await startMailed(t);
  const { token } = await signUp(api);
  assert.equal((await api.post(confirm, { token, password }, as(ada, "wrong"))).status, 201);
});

test("gives an attacker who signs up with another person's address no way into that person's later account", async (t) => {
  const api = await startMailed(t);
  // An attacker signs up with the victim's address and cannot read the mail.
  const attack = await signUp(api, { ...ben, name: "Mallory" });
  for (const guess of ["00000000", "12345678"])
    assert.equal((await api.post(confirm, { email: ben.email, code: guess, password: "attacker-knows" })).status, 400);
  assert.equal((await api.ask("GET", "/users", undefined, as("mallory", "attacker-knows"))).status, 401);
  // The owner signs up later, with a password that only the owner knows.
  api.clock.now += MINUTE_MS;
  const own = await signUp(api);
  assert.equal((await api.post(confirm, { token: own.token, password })).status, 201);
  assert.equal((await api.ask("GET", "/users/3", undefined, as("mallory", password))).status, 401);
  assert.equal((await api.post(confirm, { token: attack.token, password: "attacker-knows" })).status, 400);
  assert.equal((await api.ask("GET", "/users/3", undefined, as(ben.email))).json.name, "Ben");
});

test("refuses to start if an option requires mail and no feature sends mail", async () => {
  const people = accounts({ registration: "verified", invitations: true });
  const store = await emptyStore();
  await assert.rejects(
    createService({ store, secret, features: [people, basicLogin(people)], observe: null }),
    /registration is verified, which needs mail[^]*invitations is true, which needs mail/,
  );
  await store.close();
});
