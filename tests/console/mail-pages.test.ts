import assert from "node:assert/strict";
import { test } from "node:test";
import {
  browser,
  password,
  startMailedPages as start,
  type MailedPages as Started,
  type Page,
} from "../harness/mailed-pages.ts";
import { basicHeader, serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const ben = { name: "Ben", email: "ben@example.com" };

async function makeUser({ json }: Started, { name, email }: typeof ben): Promise<void> {
  assert.equal((await json("POST", "/users", { name, email, password })).status, 201);
}

const readCookie = ({ headers }: Page) => ({ cookie: headers.getSetCookie()[0]!.split(";")[0]! });

async function logIn(api: Started, username: string, loginPassword = password): Promise<{ readonly cookie: string }> {
  const done = await api.submit(await api.get("/login"), { username, password: loginPassword });
  assert.equal(done.status, 303, done.text);
  return readCookie(done);
}

/** Follows a redirect to the login page, and returns the note below its title. Returns null if there is none. */
async function readNote(api: Started, { status, text, headers }: Page): Promise<string | null> {
  assert.equal(status, 303, text);
  const address = headers.get("location")!;
  assert.match(address, /^\/login(?:\?|$)/);
  const page = await api.get(address);
  assert.equal(page.status, 200, page.text);
  assert.match(page.text, /<input type="hidden" name="next" value="\/">/);
  return findNote(page);
}

function findNote({ text }: Page): string | null {
  return (
    /<h1 tabindex="-1">Log in<\/h1> <\/div> <div class="note good" role="status"><p>([^<]*)<\/p>/.exec(text)?.[1] ??
    null
  );
}

test("shows a note for a known `done` on the login page, and no text of the query", async (t) => {
  const api = await start(t);
  assert.equal(findNote(await api.get("/login?done=password")), "Your password is changed. Log in.");
  for (const query of [
    "",
    "?done=",
    "?done=hacked",
    "?done=constructor",
    "?done=__proto__",
    "?done=hacked&done=password",
  ]) {
    const page = await api.get(`/login${query}`);
    assert.deepEqual([page.status, findNote(page)], [200, null], query);
    assert.doesNotMatch(page.text.slice(page.text.indexOf("<main")), /hacked|constructor|__proto__/);
  }
});

test("signs a newcomer up by the link of a mail, which only the button on the page uses up", async (t) => {
  const api = await start(t, { LATCHKEY_REGISTRATION: "verified" });
  assert.match((await api.get("/login")).text, /<a href="\/signup">Sign up<\/a>/);
  const wrong = await api.submit(await api.get("/signup"), { name: "", email: "no mailbox" });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /value="no mailbox"[^>]*aria-invalid="true"/);

  const sent = await api.submit(wrong, ben);
  assert.deepEqual([sent.status, sent.headers.get("location")], [303, "/verify?email=ben%40example.com"]);
  const mailbox = await api.get("/verify?email=ben%40example.com");
  assert.match(mailbox.text, /Look into your mailbox.*We sent a mail to <b><bdi>ben@example\.com<\/bdi><\/b>/);
  assert.match(mailbox.text, /<input type="hidden" name="email" value="ben@example\.com" \/>.*name="code"/);
  const { link } = await api.mailed();
  assert.match(link, /^\/verify\?token=/);
  let page = await api.get(link);
  for (let times = 0; times < 3; times++) page = await api.get(link);
  assert.deepEqual([page.status, page.headers.get("cache-control")], [200, "no-store"]);
  assert.equal(page.headers.getSetCookie().length, 0);
  // The token is in the form and in no shown text.
  assert.doesNotMatch(page.text.replaceAll(/ (?:value|href)="[^"]*"/g, ""), new RegExp(link.split("=")[1]!));

  const weak = await api.submit(page, { password: "short" });
  assert.equal(weak.status, 400);
  assert.match(weak.text, /id="verify-password"[^>]*aria-invalid="true"/);
  assert.doesNotMatch(weak.text, /value="short"/);
  const done = await api.submit(weak, { password });
  assert.equal(await readNote(api, done), "Your address is confirmed. Log in.");
  await logIn(api, ben.email);
  const again = await api.submit(page, { password });
  assert.equal(again.status, 400);
  assert.match(again.text, /<h1 tabindex="-1">This link no longer works<\/h1>/);
});

test("shows the reason if a sign-up cannot be confirmed and its form has no field for it", async (t) => {
  const api = await start(t, { LATCHKEY_REGISTRATION: "verified" });
  await api.submit(await api.get("/signup"), ben);
  const { link } = await api.mailed();
  await makeUser(api, ben);
  const taken = await api.submit(await api.get(link), { password });
  assert.equal(taken.status, 409, taken.text);
  assert.match(taken.text, /role="alert"[^>]*><p>An account with this address exists now\./);
});

test("confirms an invitation by its code", async (t) => {
  const api = await start(t);
  assert.equal((await api.json("POST", "/users", { ...ben, invite: true })).status, 201);
  const { code } = await api.mailed();
  const asked = await api.submit(await api.get("/verify"), { email: ben.email, code });
  assert.equal(asked.status, 400);
  assert.match(asked.text, /Choose a password for <b><bdi>ben@example\.com<\/bdi><\/b>/);
  assert.doesNotMatch(asked.text, /role="alert"|aria-invalid/);
  const done = await api.submit(asked, { password });
  assert.equal(await readNote(api, done), "Your address is confirmed. Log in.");
  await logIn(api, ben.email);
});

test("resets a forgotten password by a link, refuses a wrong code, and answers alike for unknown addresses", async (t) => {
  const api = await start(t);
  await makeUser(api, ben);
  assert.match((await api.get("/login")).text, /<a href="\/forgot">Forgot your password\?<\/a>/);
  assert.equal((await api.submit(await api.get("/forgot"), { email: "no mailbox" })).status, 400);
  for (const email of ["nobody@example.com", ben.email]) {
    const sent = await api.submit(await api.get("/forgot"), { email });
    const location = `/reset?${new URLSearchParams({ email }).toString()}`;
    assert.deepEqual([sent.status, sent.headers.get("location"), sent.text], [303, location, ""]);
  }
  const { link, code } = await api.mailed();
  const byCode = await api.submit(await api.get("/reset?email=ben%40example.com"), { code: "00000000" });
  assert.equal(byCode.status, 400);
  assert.match(byCode.text, /name="email" value="ben@example\.com"/);
  assert.match(byCode.text, /role="alert"[^>]*><p>This code is wrong, used or expired\./);
  assert.doesNotMatch(byCode.text, /type="password"/);
  // A right code is checked before the password is asked for, and is not used up.
  const asked = await api.submit(byCode, { code });
  assert.equal(asked.status, 400);
  assert.match(asked.text, /<h1 tabindex="-1">Choose a new password<\/h1>.*For <b><bdi>ben@example\.com/);
  assert.doesNotMatch(asked.text, /role="alert"|aria-invalid/);
  const weak = await api.submit(asked, { password: "short" });
  assert.equal(weak.status, 400);
  assert.match(weak.text, /id="reset-password"[^>]*aria-invalid="true"/);

  const done = await api.submit(await api.get(link), { password: "amber lantern 43" });
  assert.equal(await readNote(api, done), "Your password is changed. Log in.");
  await logIn(api, ben.email, "amber lantern 43");
  assert.match((await api.get(link)).text, /This link no longer works/);
});

test("carries the typed address from the form of a forgotten password to the new one, without JavaScript", async (t) => {
  const api = await start(t);
  await makeUser(api, ben);
  const sent = await api.submit(await api.get("/forgot"), { email: ben.email });
  const mailbox = await api.get(sent.headers.get("location")!);
  assert.match(mailbox.text, /Look into your mailbox.*We sent a mail to <b><bdi>ben@example\.com<\/bdi><\/b>/);
  const { code } = await api.mailed();

  const asked = await api.submit(mailbox, { code });
  const done = await api.submit(asked, { password: "amber lantern 44" });

  assert.equal(await readNote(api, done), "Your password is changed. Log in.");
  await logIn(api, ben.email, "amber lantern 44");
});

test("keeps the keys of a user who wants that, when the password is reset", async (t) => {
  const api = await start(t);
  await makeUser(api, ben);
  const headers = { ...basicHeader(ben.email, password), accept: "application/json" };
  const key = await api.json("POST", "/users/2/token", {}, headers);
  assert.equal(key.status, 201, key.text);
  await api.submit(await api.get("/forgot"), { email: ben.email });
  const page = await api.get((await api.mailed()).link);

  const done = await api.submit(page, { password: "amber lantern 45", end_keys: "false" });

  assert.equal(done.status, 303, done.text);
  const authorization = `Token ${JSON.parse(key.text).token}`;
  assert.equal((await api.get("/users/2", { authorization, accept: "application/json" })).status, 200);
});

test("logs in by the code of a mail and not by opening its link, and then refuses the link as used", async (t) => {
  const api = await start(t, { LATCHKEY_LOGIN_CODES: "on" });
  await makeUser(api, ben);
  assert.match(
    (await api.get("/login?next=/orders")).text,
    /href="\/login\?code=1&amp;next=%2Forders">Get a code by mail</,
  );
  const response = await api.submit(await api.get("/login?code=1&next=/orders"), { email: ben.email });
  const mailbox = "/login?code=1&next=%2Forders&email=ben%40example.com";
  assert.deepEqual([response.status, response.headers.get("location")], [303, mailbox]);
  const { link, code } = await api.mailed();
  assert.equal((await api.get(link)).headers.getSetCookie().length, 0);
  const wrong = await api.submit(await api.get(mailbox), { code: "00000000" });
  assert.equal(wrong.status, 401);
  assert.match(wrong.text, /This link or code is wrong, used or expired\./);
  const done = await api.submit(wrong, { code });
  assert.deepEqual([done.status, done.headers.get("location")], [303, "/orders"], done.text);
  const used = await api.get(link);
  assert.match(used.text, /This link no longer works/);
  assert.doesNotMatch(used.text, /method="post" action="\/api\/session\/" aria-label="Log in by mail"/);
});

test("names the masked address of a link to log in, which no other link can change", async (t) => {
  const api = await start(t, { LATCHKEY_LOGIN_CODES: "on" });
  await makeUser(api, ben);
  await api.submit(await api.get("/login?code=1"), { email: ben.email });
  const { link } = await api.mailed();
  const page = await api.get(link);
  assert.match(page.text, /Press the button to log in as b•••@example\.com\./);
  assert.doesNotMatch(page.text, /ben@example\.com/);
  const answer = await api.json("GET", link.replace("/login", "/api/login/code/"), undefined);
  assert.deepEqual([answer.status, answer.text], [200, '{"email":"b•••@example.com"}']);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  for (const wrong of [
    "?token=",
    `${link.slice(6, -1)}`,
    `?token=${"x".repeat(65)}`,
    "",
    `${link.slice(6)}&${link.slice(7)}`,
  ]) {
    const refused = await api.json("GET", `/api/login/code/${wrong}`, undefined);
    assert.deepEqual([refused.status, JSON.parse(refused.text).code], [400, "invalid_link"], wrong);
  }
  assert.equal((await api.submit(page, {})).status, 303);
});

test("asks a user who is logged in before a link logs in to another account", async (t) => {
  const api = await start(t, { LATCHKEY_LOGIN_CODES: "on" });
  await makeUser(api, ben);
  await makeUser(api, { name: "Eve", email: "eve@evil.example" });
  const session = await logIn(api, ben.email);
  await api.submit(await api.get("/login?code=1"), { email: "eve@evil.example" });
  const { link } = await api.mailed();
  const page = await api.get(link, session);
  const main = page.text.slice(page.text.indexOf("<main"));
  assert.match(main, /You are logged in as ben@example\.com\. This link is for the account of e•••@evil\.example\./);
  assert.match(main, /Log in as e•••@evil\.example instead/);
  assert.match(main, /Stay logged in as ben@example\.com/);
  assert.equal((await api.get("/api/session/", { ...session, accept: "application/json" })).status, 200);
});

test("changes the address of a user who confirms it while logged in", async (t) => {
  const api = await start(t);
  await makeUser(api, ben);
  const session = await logIn(api, ben.email);
  const account = await api.get("/users/2/account", session);
  assert.doesNotMatch(account.text, /id="profile-email"/);
  const wrong = await api.submit(account, { email: "new@example.com", current_password: "wrong" }, session);
  assert.equal(wrong.status, 400, wrong.text);
  assert.match(wrong.text, /value="new@example\.com"/);
  assert.match(wrong.text, /id="email-current_password"[^>]*aria-invalid="true"/);
  const sent = await api.submit(wrong, { email: "new@example.com", current_password: password }, session);
  assert.deepEqual(
    [sent.status, sent.headers.get("location")],
    [303, "/verify?change=1&email=new%40example.com"],
    sent.text,
  );
  const mailbox = await api.get("/verify?change=1&email=new%40example.com", session);
  assert.match(mailbox.text, /name="email" value="new@example\.com" \/>.*name="code"/);
  const { link, to } = await api.mailed();
  assert.equal(to, "new@example.com");

  const unknown = await api.get(link);
  assert.match(unknown.text, /<h1 tabindex="-1">Log in to confirm the address<\/h1>/);
  assert.doesNotMatch(unknown.text, /type="password"|New password/);
  const login = /href="(\/login\?next=%2Fverify%3Fchange%3D1%26token%3D[\w-]+)">Log in<\/a>/.exec(unknown.text)![1]!;
  const loggedIn = await api.submit(await api.get(login), { username: ben.email, password });
  assert.deepEqual([loggedIn.status, loggedIn.headers.get("location")], [303, link]);
  const page = await api.get(link, session);
  assert.doesNotMatch(page.text, /type="password"/);
  assert.equal((await api.submit(page, {}, session)).status, 303);
  assert.match((await api.get("/users/2", session)).text, /new@example\.com/);
});

test("asks for the login first if the code of a changed address is entered without one", async (t) => {
  const api = await start(t);
  assert.match((await api.get("/verify?change=1")).text, /Log in to confirm the address/);
  assert.match((await api.get("/verify")).text, /name="code"/);
});

test("asks for a password on the page of a sign-up, also if another user is logged in", async (t) => {
  const api = await start(t, { LATCHKEY_REGISTRATION: "verified" });
  await makeUser(api, { name: "Ann", email: "ann@example.com" });
  const session = await logIn(api, "ann@example.com");
  await api.submit(await api.get("/signup"), ben);
  const { link } = await api.mailed();
  const page = await api.get(link, session);
  assert.match(page.text, /name="password"/);
  assert.equal((await api.submit(page, { password }, session)).status, 303);
  await logIn(api, ben.email);
});

test("asks for the login after the form of a link of an earlier version, whose address shows no purpose", async (t) => {
  const api = await start(t);
  await makeUser(api, ben);
  const session = await logIn(api, ben.email);
  const account = await api.get("/users/2/account", session);
  await api.submit(account, { email: "new@example.com", current_password: password }, session);
  const link = (await api.mailed()).link.replace("change=1&", "");
  const refused = await api.submit(await api.get(link), { password });
  assert.equal(refused.status, 401);
  assert.match(refused.text, /href="\/login\?next=%2Fverify%3Fchange%3D1%26token%3D/);
});

test("has no page for an endpoint that is not served", async (t) => {
  const api = await serve(t);
  for (const path of ["/forgot", "/reset", "/verify"]) assert.equal((await api.get(path, browser)).status, 404, path);
  const signup = await api.get("/signup", browser);
  assert.match(signup.text, /Sign-up is closed/);
});

test("redirects password managers to the account page of the caller", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const path = "/.well-known/change-password";
  const at = async (headers: Readonly<Record<string, string>>) => {
    const { status, headers: answered } = await api.get(path, headers);
    return [status, answered.get("location")];
  };
  assert.deepEqual(await at(ann.headers), [303, `/users/${ann.id}/account`]);
  assert.deepEqual(await at({ ...browser, ...ann.headers }), [303, `/users/${ann.id}/account`]);
  for (const headers of [browser, {}, { ...browser, cookie: "session=ended" }])
    assert.deepEqual(await at(headers), [303, "/login?next=%2F.well-known%2Fchange-password"]);

  const below = await serve(t, { settings: { LATCHKEY_BASE_PATH: "/api" } });
  for (const each of [path, `/api${path}`]) assert.equal((await below.get(each)).status, 404, each);
});
