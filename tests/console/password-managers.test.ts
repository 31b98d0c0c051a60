import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import { serve, withMail, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: the promise is about the fields of forms.

const page = { accept: "text/html" };

const password = "difference-engine";
const form = {
  accept: "text/html",
  "content-type": "application/x-www-form-urlencoded",
  "sec-fetch-site": "same-origin",
};
const verified = { ...withMail, LATCHKEY_REGISTRATION: "verified" };

/** Delivers the queued mails, and returns the path of the link in the last one that has a link. */
async function readLink(api: API): Promise<string> {
  const links = (await api.mails()).flatMap(({ text }) => /^http:\/\/[^/]+(\/\S+)$/m.exec(text)?.[1] ?? []);
  return links.at(-1)!;
}

/**
 * Returns the field of the username in the only form with a password, or an empty text. The page must not be stored or
 * named to other sites.
 */
async function readUsernameField(api: API, link: string): Promise<string> {
  const { status, headers, text } = await api.get(link, page);
  assert.equal(status, 200, text);
  assert.deepEqual([headers.get("cache-control"), headers.get("referrer-policy")], ["no-store", "same-origin"]);
  const [only, ...others] = passwordForms(text);
  assert.equal(others.length, 0);
  const [field = "", ...more] = only!.match(/<input[^>]*autocomplete="username"[^>]*>/g) ?? [];
  assert.equal(more.length, 0, only!);
  return field;
}

/** Returns a page without the token of its address. */
async function readWithoutToken(api: API, link: string): Promise<string> {
  const token = link.slice(link.indexOf("=") + 1);
  return (await api.get(link, page)).text.replaceAll(token, "TOKEN");
}

/** Returns the forms of a page with a password. */
function passwordForms(text: string): readonly string[] {
  return [...text.matchAll(/<form[^]*?<\/form>/g)]
    .map(([form]) => form)
    .filter((form) => form.includes('type="password"'));
}

test("names the user in each form with a password on the account page, and does not send the name", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const ben = await api.user("Ben");

  const own = passwordForms((await api.get(`/users/${ann.id}/account`, { ...page, ...ann.headers })).text);
  const others = passwordForms((await api.get(`/users/${ben.id}/account`, { ...page, ...api.admin })).text);

  assert.ok(own.length >= 3, `${own.length}`);
  for (const form of own) {
    const [field] = /<input[^>]*autocomplete="username"[^>]*>/.exec(form) ?? [""];
    assert.match(field, new RegExp(`value="${ann.email}"`));
    if (!field.includes('name="username"')) assert.doesNotMatch(field, / name=/);
    assert.doesNotMatch(form, /name="name"[^>]*autocomplete="off"/);
  }
  for (const form of others) assert.doesNotMatch(form, /autocomplete="username" value="admin"/);
});

test("takes the e-mail address as the username where a newcomer chooses a password", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_REGISTRATION: "open" } });

  const [form] = passwordForms((await api.get("/signup", page)).text);

  assert.match(form!, /name="email"[^>]*autocomplete="username"/);
  assert.match(form!, /name="name"[^>]*autocomplete="name"/);
});

test("names the user on the page of a reset, without JavaScript, and uses no link up", async (t) => {
  const api = await serve(t, { settings: withMail });
  const named = { username: "ben", email: "ben@example.com" };
  await api.post("/users", { name: "Ben", ...named, password }, api.admin);
  await api.post("/api/password/reset/", { email: named.email });
  const link = await readLink(api);

  for (let times = 0; times < 40; times++)
    assert.equal(
      await readUsernameField(api, link),
      '<input type="text" autocomplete="username" value="ben" readonly hidden />',
    );
  const weak = await api.post("/api/password/reset/confirm/", `token=${link.split("=")[1]}&password=short`, form);
  assert.equal(weak.status, 400);
  assert.match(passwordForms(weak.text)[0]!, /autocomplete="username" value="ben"/);
  const sent = { token: link.split("=")[1], password: "amber lantern 43" };
  assert.equal((await api.post("/api/password/reset/confirm/", sent)).status, 204);
});

test("has the address as the username of a newcomer, who may choose another one", async (t) => {
  const api = await serve(t, { settings: verified });
  const long = `${"b".repeat(60)}@${"c".repeat(60)}.${"d".repeat(60)}.example`;
  for (const email of ["Ben@example.com", "o'neil+x@example.com", `"a:b"@example.com`, long]) {
    api.clock.turn(61);
    await api.post("/users", { name: "Ben", email });
    const link = await readLink(api);
    const field = await readUsernameField(api, link);
    assert.match(field, / name="username" /);
    assert.doesNotMatch(field, / required| readonly| hidden| autofocus/);
    const value = / value="([^"]*)"/.exec(field)![1]!.replaceAll("&quot;", '"').replaceAll("&#39;", "'");
    assert.equal(value, email);
    const sent = new URLSearchParams({ token: link.split("=")[1]!, username: value, password, next: "/" });
    const done = await api.post("/api/email/confirm/", sent.toString(), form);
    assert.equal(done.status, 303, done.text);
    assert.equal((await api.post("/api/session/", { username: email, password })).status, 201);
  }
});

test("takes the shown address of a newcomer also where users choose no username", async (t) => {
  const settings = {
    ...verified,
    LATCHKEY_SCHEMES: "basic,session,remote-user",
    LATCHKEY_TRUSTED_PROXIES: "192.0.2.1",
    LATCHKEY_REMOTE_USER_SECRET: "shared-with-the-proxy",
  };
  const api = await serve(t, { settings });
  await api.post("/users", { name: "Ben", email: "ben@example.com" });
  const token = (await readLink(api)).split("=")[1]!;

  const chosen = await api.post("/api/email/confirm/", { token, password, username: "ben" });
  assert.equal(chosen.status, 403);
  const shown = await api.post("/api/email/confirm/", { token, password, username: "ben@example.com" });
  assert.equal(shown.status, 201, shown.text);
});

test("names an invited user, who chooses no username", async (t) => {
  const api = await serve(t, { settings: withMail });
  const invited = { name: "Ben", username: "be<n", email: "ben@example.com", invite: true };
  assert.equal((await api.post("/users", invited, api.admin)).status, 201);
  const link = await readLink(api);

  const field = '<input type="text" autocomplete="username" value="be&lt;n" readonly hidden />';
  assert.equal(await readUsernameField(api, link), field);
  const [shown] = passwordForms((await api.get(link, page)).text);
  assert.doesNotMatch(shown!, / name="username"/);
  const done = await api.post("/api/email/confirm/", `token=${link.split("=")[1]}&password=${password}&next=/`, form);
  assert.equal(done.status, 303, done.text);
});

test("names no user of an invitation after a process of an earlier version has set the password", async (t) => {
  const api = await serve(t, { settings: withMail });
  const invited = await api.post("/users", { name: "Ben", email: "ben@example.com", invite: true }, api.admin);
  const link = await readLink(api);
  const values = { password_hash: "a hash" };
  const change = { kind: "update", collection: accountsCollection, key: invited.json.id, values } as const;
  assert.equal((await api.service.store.write({ changes: [change] })).kind, "written");

  const expected = await readWithoutToken(api, `/verify?token=${"y".repeat(65)}`);
  assert.equal(await readWithoutToken(api, link), expected);
});

test("shows the same page for each link that is wrong, used, expired or of another page", async (t) => {
  const api = await serve(t, { settings: { ...verified, LATCHKEY_LOGIN_CODES: "on" } });
  const ben = await api.user("Ben");
  const askFor = async (path: string, body: unknown, headers = {}) => {
    api.clock.turn(61);
    assert.equal((await api.post(path, body, headers)).status, path === "/users" && headers === api.admin ? 201 : 202);
    return (await readLink(api)).split("=").at(-1)!;
  };
  const confirm = (path: string, token: string) => api.post(path, { token, password: "amber lantern 43" });
  const reset = () => askFor("/api/password/reset/", { email: ben.email });
  const signUp = () => askFor("/users", { name: "Cleo", email: "cleo@example.com" });
  const invite = (email: string) => askFor("/users", { name: "Dan", email, invite: true }, api.admin);
  const change = () =>
    askFor(`/users/${ben.id}/email`, { email: "new@example.com", current_password: ben.password }, ben.headers);

  const wrong = ["x".repeat(65), "x".repeat(64), "x".repeat(66), "not-a-token"];
  const [login, changed] = [await askFor("/api/login/code/", { email: ben.email }), await change()];
  const [late, lateSignUp, lateInvited] = [await reset(), await signUp(), await invite("late@example.com")];
  api.clock.turn(8 * 24 * 3600);
  const [used, usedSignUp, usedInvited] = [await reset(), await signUp(), await invite("dan@example.com")];
  assert.equal((await confirm("/api/password/reset/confirm/", used)).status, 204);
  assert.equal((await confirm("/api/email/confirm/", usedSignUp)).status, 201);
  assert.equal((await confirm("/api/email/confirm/", usedInvited)).status, 200);
  const valid = { reset: await reset(), verify: await invite("eve@example.com") };

  const ended = [...wrong, login, changed, late, lateSignUp, lateInvited, used, usedSignUp, usedInvited];
  for (const [path, other] of [
    ["/reset", valid.verify],
    ["/verify", valid.reset],
  ] as const) {
    const expected = await readWithoutToken(api, `${path}?token=${"y".repeat(65)}`);
    assert.doesNotMatch(expected, /@example\.com/);
    for (const token of [...ended, other, `${other.slice(0, -1)}.`, other.slice(0, -1)])
      assert.equal(await readWithoutToken(api, `${path}?token=${token}`), expected, `${path} ${token}`);
  }
  for (const [name, token] of Object.entries(valid))
    assert.match(await readUsernameField(api, `/${name}?token=${token}`), / hidden/);
});
