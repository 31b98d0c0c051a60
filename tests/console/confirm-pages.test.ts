import assert from "node:assert/strict";
import { test } from "node:test";
import { confirmed, defineResource, enumeration, mount, text } from "../../src/door/index.ts";
import { array } from "../../src/door/resources.ts";
import { addTOTP, readCookies } from "../harness/factors.ts";
import { adminPassword, serve, type API, type Answered } from "../harness/serve.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const page = {
  host: "127.0.0.1:8000",
  accept: "text/html,application/xhtml+xml,*/*;q=0.8",
  "sec-fetch-site": "same-origin",
};

/** Returns a page in one line, without the line breaks of its source. */
function joinLines({ text }: Answered): string {
  return text.replaceAll(/\s+/g, " ");
}

async function send(api: API, path: string, fields: Readonly<Record<string, string>>, cookie = {}): Promise<Answered> {
  const headers = { ...page, ...cookie, "content-type": "application/x-www-form-urlencoded" };
  return api.ask("POST", path, { body: new URLSearchParams(fields).toString(), headers });
}

/** Returns the hidden fields of a page. */
function readHiddenFields({ text }: Answered): Readonly<Record<string, string>> {
  const found = [...text.matchAll(/<input type="hidden" name="([^"]*)"(?: data-type="json")? value="([^"]*)"/g)];
  const plain = (value: string): string =>
    value.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  return Object.fromEntries(found.map(([, name = "", value = ""]) => [name, plain(value)]));
}

test("carries the typed values of a refused form through the confirmation, without passwords and without the script", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const path = `/users/${ann.id}`;
  api.clock.turn(601);
  const etag = (await api.get(path, ann.headers)).headers.get("etag")!;
  const body = { name: 'Ann "<b>', password: "amber lantern 43", current_password: ann.password };
  const headers = { ...page, ...ann.headers, "if-match": etag, referer: `http://127.0.0.1:8000${path}/account` };

  const refused = await api.patch(path, body, headers);
  assert.equal(refused.status, 401, refused.text);
  assert.match(refused.text, /Confirm that it is you/);
  assert.doesNotMatch(refused.text, /amber lantern|password of Ann/);
  const first = readHiddenFields(refused);
  assert.equal(first["next"], `${path}/account`);

  const response = await send(api, "/api/login/confirm/", first, ann.headers);
  assert.equal(response.status, 200, response.text);
  assert.match(response.text, /name="code"/);
  const cookie = { cookie: `${readCookies(response)["cookie"]}; ${ann.headers["cookie"]}` };
  const second = readHiddenFields(response);
  assert.deepEqual([second["again"], second["next"]], [first["again"], first["next"]]);

  const wrong = await send(api, "/api/login/", { ...second, factor: ann.factor, code: "000000" }, cookie);
  assert.equal(wrong.status, 401);
  assert.match(wrong.text, /Confirm that it is you/);
  assert.equal(readHiddenFields(wrong)["again"], first["again"]);

  const done = await send(api, "/api/login/", { ...second, factor: ann.factor, code: ann.code() }, cookie);
  assert.equal(done.status, 201, done.text);
  assert.match(joinLines(done), new RegExp(`data-method="PATCH" data-path="${path}" data-match="[^"]+"`));
  assert.deepEqual(readHiddenFields(done), { name: 'Ann "<b>' });
  const again = await api.patch(path, { name: 'Ann "<b>' }, { ...page, ...readCookies(done), "if-match": etag });
  assert.equal(again.status, 200, again.text);
});

test("returns to the page that required a confirmation, after the right password", async (t) => {
  const secrets = mount(defineResource({ name: "secret", fields: { title: text() } }), {
    permission: confirmed({ within: 60 }),
  });
  const api = await serve(t, { config: { mounts: [secrets] } });
  const session = readCookies(await send(api, "/api/session/", { username: "admin", password: adminPassword }));
  api.clock.turn(61);

  const refused = await api.get("/secrets?limit=2", { ...page, ...session });
  assert.equal(refused.status, 401);
  const fields = readHiddenFields(refused);
  assert.deepEqual(fields, { next: "/secrets?limit=2" });
  const response = await send(api, "/api/login/confirm/", fields, session);
  assert.match(response.text, /type="password"/);
  const cookie = { cookie: `${readCookies(response)["cookie"]}; ${session["cookie"]}` };
  const wrong = await send(api, "/api/login/", { ...readHiddenFields(response), password: "wrong" }, cookie);
  assert.match(wrong.text, /Wrong password\./);
  const done = await send(api, "/api/login/", { ...readHiddenFields(wrong), password: adminPassword }, cookie);
  assert.deepEqual([done.status, done.headers.get("location")], [303, "/secrets?limit=2"], done.text);
  assert.equal((await api.get("/secrets?limit=2", { ...page, ...readCookies(done) })).status, 200);
});

test("carries a form without the script through the confirmation, with its method, state and checkboxes", async (t) => {
  const fields = {
    title: text(),
    days: array(enumeration(["mon", "wed", "sun"]), { optional: true }),
    secret: text({ optional: true, writeOnly: true }),
  };
  const plans = mount(defineResource({ name: "plan", fields }), { permission: confirmed({ within: 60 }) });
  const api = await serve(t, { config: { mounts: [plans] } });
  let session = readCookies(await send(api, "/api/session/", { username: "admin", password: adminPassword }));
  const through = async (path: string, sent: string): Promise<Answered> => {
    api.clock.turn(61);
    const headers = { ...page, ...session, "content-type": "application/x-www-form-urlencoded" };
    const refused = await api.ask("POST", path, { body: sent, headers });
    assert.equal(refused.status, 401, refused.text);
    const asked = await send(api, "/api/login/confirm/", readHiddenFields(refused), session);
    const cookie = { cookie: `${readCookies(asked)["cookie"]}; ${session["cookie"]}` };
    const done = await send(api, "/api/login/", { ...readHiddenFields(asked), password: adminPassword }, cookie);
    assert.equal(done.status, 201, done.text);
    session = { cookie: done.headers.getSetCookie()[0]!.split(";")[0]! };
    assert.doesNotMatch(refused.text + asked.text + done.text, /hidden words/);
    assert.match(done.text, new RegExp(`method="post" action="${path}"`));
    const again = [...done.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)" \/>/g)];
    const texts = again.map(([, name = "", value = ""]) => [name, value.replaceAll("&quot;", '"')]);
    return api.ask("POST", path, {
      body: new URLSearchParams(texts).toString(),
      headers: { ...page, ...session, "content-type": "application/x-www-form-urlencoded" },
    });
  };

  const made = await through("/plans", "title=Emma&days=&days=mon&days=sun&secret=hidden+words&_key=a-key-of-the-form");
  assert.deepEqual([made.status, made.headers.get("location")], [303, "/plans/1"], made.text);
  const read = await api.get("/plans/1", { ...session });
  assert.deepEqual(read.json, { id: 1, title: "Emma", days: ["mon", "sun"] });
  const tag = encodeURIComponent(read.headers.get("etag")!);
  const changed = await through("/plans/1", `_method=PATCH&_match=${tag}&title=Persuasion`);
  assert.equal(changed.status, 303, changed.text);
  const late = await through("/plans/1", `_method=DELETE&_match=${tag}`);
  assert.equal(late.status, 412, late.text);
  assert.equal((await api.get("/plans/1", { ...session })).json.title, "Persuasion");
});

test("shows no form that leads to another site", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  let session = ann.headers;
  for (const again of [
    "no JSON",
    "null",
    JSON.stringify({ method: "POST", path: "https://evil.example/", typed: false, match: null, values: {} }),
    JSON.stringify({ method: "POST", path: "//evil.example/", typed: true, match: null, values: {} }),
    JSON.stringify({ method: "GET", path: "/orders", typed: true, match: null, values: {} }),
    JSON.stringify({ method: "DELETE", path: "/orders/1", typed: false, match: null, values: {} }),
  ]) {
    const response = await send(api, "/api/login/confirm/", {}, session);
    const cookie = { cookie: `${readCookies(response)["cookie"]}; ${session["cookie"]}` };
    api.clock.turn(30);
    const done = await send(api, "/api/login/", { factor: ann.factor, code: ann.code(), again }, cookie);
    assert.equal(done.status, 201, done.text);
    session = { cookie: done.headers.getSetCookie()[0]!.split(";")[0]! };
    assert.doesNotMatch(done.text, /evil\.example|You have confirmed/, again);
  }
});
