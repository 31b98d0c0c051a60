import assert from "node:assert/strict";
import { test } from "node:test";
import { consolePages } from "../../src/door/features.ts";
import {
  anyone,
  createService,
  defineEndpoint,
  defineFeature,
  defineResource,
  mount,
  text,
} from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { addTOTP, readCookies } from "../harness/factors.ts";
import { adminPassword, serve, type API, type Answered } from "../harness/serve.ts";
import { emptyStore } from "../harness/test-store.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const page = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "sec-fetch-site": "same-origin" };

/** Returns a page in one line, without the line breaks of its source. */
function joinLines({ text }: Answered): string {
  return text.replaceAll(/\s+/g, " ");
}

async function send(api: API, path: string, fields: Readonly<Record<string, string>>, cookie = {}): Promise<Answered> {
  const headers = { ...page, ...cookie, "content-type": "application/x-www-form-urlencoded" };
  return api.ask("POST", path, { body: new URLSearchParams(fields).toString(), headers });
}

test("shows the login form at /login, with the focus in the name field", async (t) => {
  const api = await serve(t);

  const shown = await api.get("/login?next=%2Forders%3Flimit%3D2", page);
  const line = joinLines(shown);

  assert.equal(shown.status, 200);
  assert.equal(shown.headers.get("cache-control"), "no-store");
  assert.match(line, /<h1 tabindex="-1">Log in<\/h1>/);
  assert.match(line, /<form class="form" method="post" action="\/api\/session\/"/);
  assert.match(line, /<input id="username"[^>]* autofocus>/);
  assert.equal(line.match(/ autofocus/g)?.length, 1);
  assert.match(line, /name="next" value="\/orders\?limit=2"/);
  assert.doesNotMatch(line, /Forgot your password|Sign up/);
  const done = await send(api, "/api/session/", {
    username: "admin",
    password: adminPassword,
    next: "/orders?limit=2",
  });
  assert.deepEqual([done.status, done.headers.get("location")], [303, "/orders?limit=2"]);
  assert.deepEqual((await api.get("/login")).json, {
    password: "/api/session/",
    passkey: "/api/login/passkey/",
    others: [],
  });
});

test("answers a failed login of a known and of an unknown user alike, and keeps the typed name and `next`", async (t) => {
  const api = await serve(t);
  await api.user("Ann");
  for (const username of ["ann@example.com", "nobody@example.com"]) {
    const failed = await send(api, "/api/session/", { username, password: "wrong-secret", next: "/orders" });
    const line = joinLines(failed);

    assert.equal(failed.status, 401);
    assert.match(line, /<title>Log in ·/);
    assert.match(
      line,
      /<div class="note bad" role="alert" id="login-error" tabindex="-1"><p>Wrong name or password\.<\/p><\/div>/,
    );
    assert.match(line, new RegExp(`name="username" value="${username}"`));
    assert.match(line, /name="next" value="\/orders"/);
    assert.match(line, /<input id="password"[^>]* aria-describedby="login-error" autofocus>/);
    assert.doesNotMatch(line, /wrong-secret/);
  }
});

test("puts no address of another host into the `next` field of the login forms", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const { headers } = await send(api, "/api/session/", { username: ann.email, password: ann.password });
  const cookie = { cookie: headers.getSetCookie()[0]!.split(";")[0]! };
  for (const next of ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/.//evil"])
    for (const [path, sent] of [
      ["/login", page],
      ["/login/factor", { ...page, ...cookie }],
    ] as const) {
      const shown = await api.get(`${path}?next=${encodeURIComponent(next)}`, sent);
      const [, target] = /name="next" value="([^"]*)"/.exec(shown.text)!;
      assert.equal(new URL(target!, "http://shop.example").host, "shop.example", `${path} ${next}`);
    }
});

test("asks at /login/factor for the second factor of the waiting login", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const first = await send(api, "/api/session/", { username: ann.email, password: ann.password, next: "/orders" });

  const response = await api.get("/login/factor?next=/orders", { ...page, ...readCookies(first) });
  assert.match(response.text, /Enter your code/);
  assert.match(response.text, /name="next" value="\/orders"/);
  const fields = { factor: ann.factor, code: ann.code(), next: "/orders" };
  const done = await send(api, "/api/login/", fields, readCookies(first));
  assert.deepEqual([done.status, done.headers.get("location")], [303, "/orders"]);

  const late = await api.get("/login/factor?next=/orders", { ...page, ...readCookies(first) });
  assert.match(late.text, /Log in again/);
  assert.match(late.text, /href="\/login\?next=%2Forders"/);
});

test("shows the login in place of a refused page, with the page as `next`", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_SCHEMES: "session,bearer" } });
  const refused = await api.get("/orders?status=open", page);
  assert.equal(refused.status, 401);
  assert.match(refused.text, /<h1 tabindex="-1">Log in<\/h1>\s*<p class="lead">To go on to <b>Orders<\/b>\.<\/p>/);
  assert.match(refused.text, /name="next" value="\/orders\?status=open"/);
});

test("offers passkeys at a host name, a link to localhost at a loopback address, and nothing at another address", async (t) => {
  const api = await serve(t);
  for (const [host, offered] of [
    [
      "localhost:8000",
      /data-passkey="get" data-method="POST" data-path="\/api\/session\/" data-start="\/api\/login\/passkey\/"/,
    ],
    [
      "127.0.0.1:8000",
      /<a class="btn wide" href="http:\/\/localhost:8000\/login\?next=%2Forders"><svg[^]*<\/svg>Use a passkey at localhost<\/a>/,
    ],
    ["[::1]:8000", /<a class="btn wide" href="http:\/\/localhost:8000\/login\?next=%2Forders">/],
  ] as const)
    assert.match(joinLines(await api.get("/login?next=/orders", { ...page, host })), offered, host);
  assert.doesNotMatch((await api.get("/login", { ...page, host: "192.0.2.1:8000" })).text, /passkey(?!s\.)/);
});

test("shows a message for a passkey that is not accepted", async (t) => {
  const api = await serve(t);
  const { pending } = (await api.post("/api/login/passkey/")).json;
  const refused = await api.post("/api/session/", { pending, credential: { id: "AA" } }, page);
  assert.equal(refused.status, 401);
  assert.match(refused.text, /This passkey was not accepted/);
});

test("adds a button for each login method of a feature", async (t) => {
  const company = defineFeature({
    name: "company",
    setUp: () => ({ offer: null, loginLinks: [{ title: "<Company>", href: "/api/login/company/start" }] }),
  });
  const api = await serve(t, { config: { features: [company] } });

  const line = joinLines(await api.get("/login?next=/orders", page));

  assert.match(
    line,
    /<a class="btn wide" href="\/api\/login\/company\/start\?next=%2Forders"><span class="mark plain" aria-hidden="true">&lt;<\/span>Continue with &lt;Company&gt; <\/a>/,
  );
});

const open = async (options: Parameters<typeof consolePages>[0], path: string) => {
  const resource = defineResource({ name: "entry", plural: path.slice(1), fields: { title: text() } });
  const mounts = [mount(resource, { permission: anyone })];
  return createService({ store: await emptyStore(), mounts, features: [consolePages(options)] });
};

test("stops the start if a resource has the path of a page, unless an option moves the page", async () => {
  for (const [name, path] of [
    ["login", "/login"],
    ["signup", "/signup"],
    ["forgot", "/forgot"],
    ["reset", "/reset"],
    ["verify", "/verify"],
    ["invitation", "/invitation"],
  ] as const) {
    await assert.rejects(open({ title: "Notes" }, path), (error: unknown) => {
      assert.ok(error instanceof DeclarationError);
      const mistakes = error.mistakes.join("\n");
      assert.ok(mistakes.includes(`consolePages({ pages: { ${name}: "/people${path}" } })`), mistakes);
      return true;
    });
    const service = await open({ title: "Notes", pages: { [name]: `/people${path}` } }, path);
    assert.ok(service.serves(path));
    await service.close();
  }
  await assert.rejects(open({ title: "Notes", pages: { login: "login" } }, "/notes"), /pages\.?.*path/);
  const own = defineEndpoint({ method: "GET", path: "/login", access: "open", handle: () => ({ status: 204 }) });
  const features = [consolePages({ title: "Notes" })];
  await assert.rejects(
    createService({ store: await emptyStore(), endpoints: [own], features }),
    /\/login is a page for people and an endpoint; .*consolePages\(\{ pages: \{ login: "\/people\/login" \} \}\)/,
  );
});

test("moves the login page, and every link to it", async (t) => {
  const pages = { login: "/people/login", factor: "/people/factor" };
  const config = { without: ["console"], features: [consolePages({ title: "Notes", pages })] } as const;
  const api = await serve(t, { config });

  assert.equal((await api.get("/login", page)).status, 404);
  assert.match((await api.get("/people/login?next=/orders", page)).text, /name="next" value="\/orders"/);
  assert.match((await api.get("/orders", page)).text, /name="next" value="\/orders"/);
  assert.match((await api.get("/people/factor", page)).text, /Log in again/);
});

test("answers 404 for /login if the service has no login for people", async () => {
  const service = await open({ title: "Notes" }, "/notes");
  for (const path of ["/login", "/login/factor"]) {
    const answer = await service.fetch(new Request(`http://127.0.0.1${path}`), { peer: "127.0.0.1" });
    assert.equal(answer.status, 404, path);
  }
  await service.close();
});

test("shows the login form in place of a page whose login has ended", async (t) => {
  const api = await serve(t);
  const cookie = readCookies(await api.post("/api/session/", { username: "admin", password: adminPassword }));
  await api.ask("DELETE", "/api/session/", { headers: cookie });

  const ended = await api.get("/orders", { ...page, ...cookie });
  const byHeader = await api.get("/orders", { accept: "text/html", authorization: "Token nonsense" });

  assert.equal(ended.status, 401);
  assert.match(joinLines(ended), /<h1 tabindex="-1">Log in<\/h1> <p class="lead">To go on to <b>Orders<\/b>\.<\/p>/);
  assert.match(ended.text, /role="status"><p>Your login has ended\. Log in again\.<\/p>/);
  assert.match(ended.text, /name="next" value="\/orders"/);
  assert.doesNotMatch(ended.text, /token|cookie/);
  assert.match(byHeader.text, /<h1 tabindex="-1" data-focus>Invalid token<\/h1>/);
});
