import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { addTOTP } from "../harness/factors.ts";
import { freePort } from "../harness/free-port.ts";
import { logInAt } from "../harness/oidc-provider-pages.ts";
import { clientId, clientSecret, startIssuer, type Issuer } from "../harness/openid-issuer.ts";
import { serve, type API, type ServeOptions } from "../harness/serve.ts";

const html = { accept: "text/html,application/xhtml+xml", "sec-fetch-mode": "navigate" };

/** Starts the ready-made service with a provider in a file. */
async function start(
  t: TestContext,
  { settings = {}, config = {} }: ServeOptions = {},
): Promise<{ readonly api: API; readonly issuer: Issuer }> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-provider-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const clock = { now: () => api.clock.now };
  const issuer = await startIssuer(t, () => clock.now());
  const file = path.join(folder, "providers.json");
  const entry = {
    id: "company",
    title: "Log in with the company",
    issuer: issuer.issuer,
    client_id: clientId,
    create: true,
  };
  writeFileSync(path.join(folder, "company.secret"), `${clientSecret}\n`, { mode: 0o600 });
  writeFileSync(file, JSON.stringify([{ ...entry, client_secret_file: "company.secret" }]));
  const api: API = await serve(t, {
    config,
    settings: { LATCHKEY_PUBLIC_URL: "https://shop.example", LATCHKEY_IDENTITY_PROVIDERS: file, ...settings },
  });
  return { api, issuer };
}

/** Logs in at the provider. Returns the response of the callback. */
async function logIn(
  { api, issuer }: Awaited<ReturnType<typeof start>>,
  next: string,
  at = "/api/login/company/start",
) {
  const started = await api.get(`${at}?next=${encodeURIComponent(next)}`, html);
  assert.equal(started.status, 303, started.text);
  const [cookie = ""] = started.headers.getSetCookie()[0]!.split(";");
  const { pathname, search } = await issuer.authorize(started.headers.get("location")!);
  return api.get(pathname + search, { ...html, cookie, "sec-fetch-site": "cross-site" });
}

test("logs in at a provider of LATCHKEY_IDENTITY_PROVIDERS, from the login page", async (t) => {
  const world = await start(t);
  const page = await world.api.get("/login", html);
  assert.match(page.text, /Continue with the company/);
  assert.match(page.text, /\/api\/login\/company\/start/);

  const done = await logIn(world, "/users");

  assert.equal(done.status, 303, done.text);
  assert.equal(done.headers.get("location"), "/users");
});

test("shows a failed login as a page", async (t) => {
  const world = await start(t);
  const failed = await world.api.get("/api/login/company/callback?state=a&code=b", html);

  assert.equal(failed.status, 401);
  assert.match(failed.headers.get("content-type") ?? "", /^text\/html/);
  assert.match(failed.text, /<h1[^>]*>Login failed<\/h1>/);
});

test("redirects a login at a provider to the page that asks for the second factor of the account", async (t) => {
  const world = await start(t);
  const { api, issuer } = world;
  const ann = await addTOTP(api, "Ann");
  const begun = await api.post(`/users/${ann.id}/identities`, { provider: "company" }, ann.headers);
  assert.equal(begun.status, 200, begun.text);
  const [cookie = ""] = begun.headers.getSetCookie()[0]!.split(";");
  const started = await api.get(begun.json.start, { cookie });
  const { pathname, search } = await issuer.authorize(started.headers.get("location")!);
  assert.equal((await api.get(pathname + search, { cookie })).status, 303);

  const waiting = await logIn(world, "/orders?limit=2");

  assert.equal(waiting.status, 303, waiting.text);
  assert.equal(waiting.headers.get("location"), "/login/factor?next=%2Forders%3Flimit%3D2");
  const pending = waiting.headers
    .getSetCookie()
    .find((each) => each.startsWith("login="))!
    .split(";")[0]!;
  const page = await api.get(waiting.headers.get("location")!, { ...html, cookie: pending });
  assert.equal(page.status, 200);
  assert.match(page.text, /Enter your code/);
  const completed = await api.post("/api/login/", { factor: ann.factor, code: ann.code() }, { cookie: pending });
  assert.equal(completed.status, 201, completed.text);
});

test("uses the base path in the URLs of a login at a provider, and the cookie prefix in the name of its cookie", async (t) => {
  const world = await start(t, { settings: { LATCHKEY_BASE_PATH: "/api/v1", LATCHKEY_COOKIE_PREFIX: "shop-" } });
  const listed = (await world.api.get("/api/v1/api/login/providers/")).json;
  assert.equal(listed[0].start, "/api/v1/api/login/company/start");
  const started = await world.api.get(listed[0].start);
  const query = new URL(started.headers.get("location")!).searchParams;
  assert.equal(query.get("redirect_uri"), "https://shop.example/api/v1/api/login/company/callback");
  assert.match(started.headers.getSetCookie()[0]!, /^shop-oidc=/);

  const done = await logIn(world, "/api/v1/orders", listed[0].start);

  assert.equal(done.headers.get("location"), "/api/v1/orders");
});

test("links an identity by the form of the account page, without JavaScript", async (t) => {
  const { api, issuer } = await start(t);
  const ann = await api.user("Ann");
  const session = await api.post("/api/session/", { username: ann.email, password: ann.password });
  const own = session.headers.getSetCookie()[0]!.split(";")[0]!;
  const page = await api.get(`/users/${ann.id}/account`, { ...html, cookie: own });
  assert.match(page.text, new RegExp(`<form[^>]*method="post" action="/users/${ann.id}/identities"`));
  const form = { ...html, cookie: own, "content-type": "application/x-www-form-urlencoded" };

  const foreign = await api.post(`/users/${ann.id}/identities`, "provider=company", {
    ...form,
    "sec-fetch-site": "cross-site",
  });
  const begun = await api.post(`/users/${ann.id}/identities`, "provider=company", {
    ...form,
    "sec-fetch-site": "same-origin",
  });

  assert.equal(foreign.status, 403);
  assert.equal(begun.status, 200, begun.text);
  // The policy `form-action` forbids the redirect of a form to another origin, so the response is a page with a link.
  const [, link = ""] = /href="(\/api\/login\/company\/start\?link=[^"]+)"/.exec(begun.text) ?? [];
  const cookie = `${own}; ${begun.headers.getSetCookie()[0]!.split(";")[0]!}`;
  const started = await api.get(link, { ...html, cookie });
  const { pathname, search } = await issuer.authorize(started.headers.get("location")!);
  const linked = await api.get(pathname + search, { ...html, cookie });
  assert.deepEqual([linked.status, linked.headers.get("location")], [303, `/users/${ann.id}/account`]);
  assert.match((await api.get(`/users/${ann.id}/account`, { ...html, cookie: own })).text, /ada-at-the-issuer/);
});

test("refuses to start without openid-client, and names the package to install", () => {
  const at = (file: string): string => JSON.stringify(new URL(`../../src/${file}`, import.meta.url).href);
  const program = `
    import { registerHooks } from "node:module";
    registerHooks({ resolve(name, context, next) {
      if (name === "openid-client") throw Object.assign(new Error("no such package"), { code: "ERR_MODULE_NOT_FOUND" });
      return next(name, context);
    } });
    const { accounts, createService, Secret, sessionLogin } = await import(${at("door/index.ts")});
    const { identityProviders } = await import(${at("door/auth.ts")});
    const { sqliteStore } = await import(${at("door/stores.ts")});
    const people = accounts();
    const sessions = sessionLogin(people);
    const secret = new Secret("a secret of 32 characters or more.");
    const company = { id: "company", title: "Company", issuer: "https://a.example", clientId: "b", clientSecret: secret };
    const features = [people, sessions, identityProviders(people, { sessions, providers: [company] })];
    const options = { store: sqliteStore({ path: ":memory:" }), secret, features, ownOrigins: ["https://b.example"] };
    console.log(await createService(options).then(() => "started", (error) => error.message));
  `;
  const said = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });

  assert.match(said, /which is not installed; install it: npm install openid-client@6/);
});

test("logs in at the loopback provider that docs/guides/company-login.md contains", async (t) => {
  const root = path.resolve(import.meta.dirname, "../..");
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-loopback-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const issuer = `127.0.0.1:${await freePort()}`;
  const [, recipe = ""] = readFileSync(path.join(root, "docs/guides/company-login.md"), "utf8").split(/^### /m);
  assert.match(recipe, /^Try it on loopback\n/);
  for (const [info, name] of [
    ["js", "provider.mjs"],
    ["json", "providers.json"],
  ] as const) {
    const [, block = ""] = new RegExp(`^\`\`\`${info}\n([^]*?)^\`\`\`$`, "m").exec(recipe) ?? [];
    const text = block.replaceAll("127.0.0.1:9000", issuer).replace("listen(9000", `listen(${issuer.split(":")[1]}`);
    writeFileSync(path.join(folder, name), text, { mode: 0o600 });
  }
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  const provider = spawn(process.execPath, [path.join(folder, "provider.mjs")], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  t.after(() => provider.kill());
  const [line] = (await once(provider.stdout, "data")) as [Buffer];
  assert.equal(line.toString(), `The provider is ready at http://${issuer}\n`);
  const publicURL = "http://localhost:8000";
  const file = path.join(folder, "providers.json");
  const settings = { LATCHKEY_PUBLIC_URL: publicURL, LATCHKEY_IDENTITY_PROVIDERS: file };
  const api = await serve(t, { settings });
  // The provider is a separate process with the time of the machine, so the service must have the same time.
  api.clock.now = Date.now();

  const answers: unknown[] = [];
  for (const name of ["ada", "eve"]) {
    const started = await api.get("/api/login/company/start?next=/users", html);
    const [cookie = ""] = started.headers.getSetCookie()[0]!.split(";");
    const { origin, pathname, search } = await logInAt(`http://${issuer}`, started.headers.get("location")!, name);
    assert.equal(origin, publicURL);
    const { status, headers, text } = await api.get(pathname + search, { ...html, cookie });
    answers.push([status, headers.get("location"), text.includes("has not confirmed your e-mail address")]);
  }
  assert.deepEqual(answers, [
    [303, "/users", false],
    [403, null, true],
  ]);
});
