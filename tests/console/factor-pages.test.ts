import assert from "node:assert/strict";
import { test } from "node:test";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { addTOTP, readCookies, parseBase32 } from "../harness/factors.ts";
import { readQRCode } from "../harness/qr-code.ts";
import { adminPassword, serve, type API, type Answered } from "../harness/serve.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const page = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "sec-fetch-site": "same-origin" };

async function send(api: API, path: string, fields: Readonly<Record<string, string>>, cookie = {}): Promise<Answered> {
  const headers = { ...page, ...cookie, "content-type": "application/x-www-form-urlencoded" };
  return api.ask("POST", path, { body: new URLSearchParams(fields).toString(), headers });
}

/** Opens the page to which the answer of a form redirects. */
function follow(api: API, answer: Answered, cookie: Readonly<Record<string, string>>): Promise<Answered> {
  return api.get(answer.headers.get("location")!, { ...page, ...cookie });
}

/** Returns the key of a new app, which the page shows as text in groups of four characters and as a QR code. */
function shownKey(text: string): string {
  const [, shown] = /<code id="key">((?:<span class="group">[A-Z2-7]{4}<\/span>)+)</.exec(text)!;
  const key = shown!.replaceAll(/<[^>]*>/g, "");
  assert.equal(new URL(readQRCode(text)).searchParams.get("secret"), key);
  return key;
}

test("asks on a page for the code of an app, and then shows the requested page", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");

  const first = await send(api, "/api/session/", {
    username: ann.email,
    password: ann.password,
    next: "/orders?limit=2",
  });
  assert.equal(first.status, 303, first.text);
  assert.equal(first.headers.get("location"), "/login/factor?next=%2Forders%3Flimit%3D2");
  const cookie = readCookies(first);
  const asked = await follow(api, first, cookie);
  assert.match(asked.text, /Enter your code/);
  assert.doesNotMatch(asked.text, /Wrong code/);
  assert.match(asked.text, /name="next" value="\/orders\?limit=2"/);
  assert.match(asked.text, /href="\/login\/factor\?next=%2Forders%3Flimit%3D2&amp;way=recovery">Use a recovery code</);
  assert.doesNotMatch(asked.text, /<select/);

  const wrong = await send(api, "/api/login/", { factor: ann.factor, code: "000000", next: "/orders?limit=2" }, cookie);
  assert.equal(wrong.status, 303, wrong.text);
  const again = await follow(api, wrong, cookie);
  assert.match(again.text, /role="alert">Wrong code\./);
  assert.match(again.text, /name="next" value="\/orders\?limit=2"/);
  assert.match((await api.get("/api/login/", { ...page, ...cookie })).text, /Enter your code/);

  const done = await send(
    api,
    "/api/login/",
    { factor: ann.factor, code: ann.code(), next: "/orders?limit=2" },
    cookie,
  );
  assert.equal(done.status, 303, done.text);
  assert.equal(done.headers.get("location"), "/orders?limit=2");
  assert.equal((await api.get("/api/session/", readCookies(done))).json.level, 2);
});

test("asks an administrator on a page to add the required factor, and then shows the recovery codes", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_SECOND_FACTOR: "admins" } });

  const first = await send(api, "/api/session/", { username: "admin", password: adminPassword, next: "/orders" });
  const cookie = readCookies(first);
  assert.match((await follow(api, first, cookie)).text, /Set up two-step login/);
  const made = await send(api, "/api/login/factors/", { kind: "totp", next: "/orders" }, cookie);
  assert.equal(made.status, 201, made.text);
  const secret = shownKey(made.text);
  const [, factor] = /name="factor" value="(\d+)"/.exec(made.text)!;
  const code = computeCode(parseBase32(secret), computeStep(api.clock.now));
  const done = await send(api, "/api/login/", { factor: factor!, code, next: "/orders" }, cookie);
  assert.equal(done.status, 201, done.text);
  assert.match(done.text, /Your recovery codes/);
  assert.match(done.text, /href="\/orders"/);
  assert.equal((await api.get("/api/session/", readCookies(done))).json.level, 2);
});

test("puts only a `next` of the same site into the form for the code", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  for (const next of [
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "javascript:alert(1)",
    "/.//evil.example",
  ]) {
    const first = await send(api, "/api/session/", { username: ann.email, password: ann.password, next });
    const asked = await follow(api, first, readCookies(first));
    const [, shown] = /name="next" value="([^"]*)"/.exec(asked.text)!;
    assert.match(shown!, /^\/(?![/\\])/, next);
    assert.equal(new URL(shown!, "http://shop.example").host, "shop.example", next);
  }
});

test("redirects only the form of a browser to the page for the code, and shows it again after a reload and Back", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const login = { username: ann.email, password: ann.password };
  const form = { body: new URLSearchParams(login).toString() };
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const statuses = [
    await api.ask("POST", "/api/session/", { ...form, headers: { ...type, accept: "application/json" } }),
    await api.ask("POST", "/api/session/", { body: login, headers: page }),
    await api.ask("POST", "/api/token/", { ...form, headers: type }),
    await send(api, "/api/session/", login, { "sec-fetch-site": "cross-site" }),
  ].map(({ status }) => status);
  assert.deepEqual(statuses, [401, 401, 401, 403]);

  const first = await send(api, "/api/session/", login);
  const cookie = readCookies(first);
  for (let times = 0; times < 3; times++) assert.match((await follow(api, first, cookie)).text, /Enter your code/);
  for (let tries = 0; tries < 5; tries++)
    await send(api, "/api/login/", { factor: ann.factor, code: "000000", next: "/" }, cookie);
  assert.match((await follow(api, first, cookie)).text, /This login has expired/);
  assert.doesNotMatch((await api.get("/login/factor?wrong=%3Cb%3E", { ...page, ...cookie })).text, /<b>/);
});

test("shows the factors of an account on its page", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const account = await api.get(`/users/${ann.id}/account`, { ...page, ...ann.headers });
  assert.match(account.text, /<h2 id="two">Two-step login<\/h2>/);
  assert.match(account.text, /<bdi>Phone<\/bdi><\/b> <span class="tag good">on<\/span>/);
  assert.match(account.text, /<b>Recovery codes<\/b><br><span class="small dim">10 of 10 left/);
  assert.match(account.text, /<summary>Add another app<\/summary>/);
  // With two-step login, a confirmation replaces the current password.
  assert.doesNotMatch(account.text, /name="current_password"/);
});

test("adds an app on the account page without the script, also if the login is older than ten minutes", async (t) => {
  const api = await serve(t);
  const { id, email, password } = await api.user("Ann");
  const session = readCookies(await send(api, "/api/session/", { username: email, password }));
  api.clock.turn(601);
  const account = (await api.get(`/users/${id}/account`, { ...page, ...session })).text.replaceAll(/\s+/g, " ");
  const path = `/users/${id}/factors`;
  const [, form] = new RegExp(`(<form[^>]*method="post" action="${path}".*?</form>)`).exec(account)!;
  assert.match(form!, /name="current_password"/);
  assert.doesNotMatch(form!, /class="row" data-js hidden/);

  const old = await send(api, path, { label: "", current_password: "", kind: "totp" }, session);
  assert.equal(old.status, 400, old.text);
  const made = await send(api, path, { label: "Phone", current_password: password, kind: "totp" }, session);
  assert.equal(made.status, 201, made.text);
  const secret = shownKey(made.text);
  const [, action] = /method="post" action="([^"]*\/confirm)"/.exec(made.text)!;
  const wrong = await send(api, action!, { code: "000000" }, session);
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, new RegExp(`method="post" action="${action}"`));
  assert.match(wrong.text, /role="alert">Wrong code\./);
  for (const shown of [made.text, wrong.text]) {
    assert.match(shown, /name="code" autocomplete="one-time-code"[^>]* required/);
    assert.doesNotMatch(shown, /may be left out/);
  }
  const code = computeCode(parseBase32(secret), computeStep(api.clock.now));
  const done = await send(api, action!, { code }, session);
  assert.equal(done.status, 200, done.text);
  assert.match(done.text, /Your recovery codes/);
  assert.match(done.text, new RegExp(`href="/users/${id}/account"`));
  const cross = { ...readCookies(done), "sec-fetch-site": "cross-site" };
  assert.equal((await send(api, path, { kind: "totp" }, cross)).status, 403);
});

for (const [what, sign] of [
  ["Chinese", "书"],
  ["Arabic", "ش"],
  ["emoji", "😀"],
] as const)
  test(`shows a QR code that telephones can read, for a title and a name of many ${what} characters`, async (t) => {
    const long = sign.repeat(300);
    const api = await serve(t, { config: { api: { title: long, version: "1" } } });
    const username = [...long].slice(0, 150).join("");
    const name = [...long].slice(0, 200).join("");
    const ann = { name, email: "ann@example.com", username, password: "difference-engine" };
    const { id } = (await api.post("/users", ann, api.admin)).json;
    const session = readCookies(await send(api, "/api/session/", { username, password: ann.password }));

    const made = await send(
      api,
      `/users/${id}/factors`,
      { label: "Phone", current_password: ann.password, kind: "totp" },
      session,
    );

    assert.equal(made.status, 201, made.text);
    shownKey(made.text);
    const [, modules] = /<svg class="qr"[^>]*viewBox="0 0 (\d+) /.exec(made.text)!;
    assert.ok(Number(modules) <= 117 + 8, `${modules} modules`);
    const uri = new URL(readQRCode(made.text));
    const issuer = uri.searchParams.get("issuer")!;
    const [label, user] = decodeURIComponent(uri.pathname.slice(uri.pathname.lastIndexOf("/") + 1)).split(":");
    assert.equal(label, issuer);
    for (const [shown, whole] of [
      [issuer, long],
      [user!, username],
    ] as const) {
      assert.ok(shown.endsWith("…") && whole.startsWith(shown.slice(0, -1)) && shown.length > 10, shown);
      assert.equal(shown.slice(0, -1).replaceAll(sign, ""), "");
    }
  });

test("names an app without a name in words", async (t) => {
  const api = await serve(t);
  const cookie = readCookies(await api.post("/api/session/", { username: "admin", password: adminPassword }));
  const { json } = await api.post("/users/1/factors", { kind: "totp" }, cookie);
  const code = computeCode(parseBase32(json.secret), computeStep(api.clock.now));
  const confirmed = await api.post(`/users/1/factors/${json.id}/confirm`, { code }, cookie);

  const account = await api.get("/users/1/account", { ...page, ...readCookies(confirmed) });

  assert.match(account.text, /<b><bdi>Authenticator app<\/bdi><\/b> <span class="tag good">on<\/span>/);
});
