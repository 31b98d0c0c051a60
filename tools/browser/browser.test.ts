import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, afterEach, test } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { fetchFrom, openPage, startBrowser, startProxy, startSite, type Fetching } from "./browser.ts";
import { startObservedService, type ObservedService } from "./observed-service.ts";

let browser: Browser;
let context: BrowserContext;
let service: ObservedService;
/**
 * Two sites on the service's host, with other ports and so with other origins. `LATCHKEY_ALLOWED_ORIGINS` names the
 * first one.
 */
let allowed: Awaited<ReturnType<typeof startSite>>;
let stranger: Awaited<ReturnType<typeof startSite>>;

before(async () => {
  browser = await startBrowser();
  [allowed, stranger] = await Promise.all([startSite(), startSite()]);
  service = await startObservedService({ LATCHKEY_ALLOWED_ORIGINS: formatOrigin(allowed) });
});

after(async () => {
  await browser?.close();
  allowed?.close();
  stranger?.close();
  await service?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  context = await browser.newContext({ ignoreHTTPSErrors: true });
});

afterEach(() => context.close());

test("shows every operation at /docs without browser complaints, and lets the page reach no other host", async () => {
  const { page, complaints } = await openPage(context, `${service.address}/docs`);
  const { paths } = (await (await fetch(`${service.address}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { summary: string }>>;
  };
  const summaries = Object.values(paths)
    .flatMap((methods) => Object.entries(methods))
    .flatMap(([method, operation]) =>
      method.startsWith("x-") ? Object.values(operation as unknown as Record<string, typeof operation>) : [operation],
    )
    .map(({ summary }) => summary);
  await page.getByRole("heading", { level: 1 }).waitFor();

  const shown = await page.locator("body").innerText();

  assert.deepEqual(
    summaries.filter((summary) => !shown.includes(summary)),
    [],
  );
  assert.equal(await page.title(), "API · Latchkey");
  assert.deepEqual(complaints, []);

  await fetchFrom(page, formatOrigin(stranger));

  assert.match(complaints.join("\n"), /Content Security Policy/);
});

test("shows the page of a problem without browser complaints", async () => {
  const { page, complaints } = await openPage(context, `${service.address}/problems/taken`);

  assert.match(await page.locator("body").innerText(), /taken/);
  assert.deepEqual(complaints, []);
});

test("logs in on a page of the service's origin, works with the cookie, and logs out", async () => {
  const page = await loggedIn();

  const [cookie] = await context.cookies();
  assert.deepEqual([cookie?.name, cookie?.httpOnly, cookie?.sameSite], ["session", true, "Lax"]);
  assert.equal(await page.evaluate(() => document.cookie), "");
  const who = await fetchFrom(page, "/api/session/");
  assert.equal((JSON.parse(who.body) as { scheme: string }).scheme, "session");
  assert.equal((await fetchFrom(page, "/orders", jsonPost({ status: "open" }))).status, 201);
  assert.equal((await fetchFrom(page, "/api/session/", { method: "DELETE" })).status, 204);
  assert.deepEqual(await context.cookies(), []);
  assert.equal((await fetchFrom(page, "/orders", jsonPost({}))).status, 401);
});

test("binds the cookie to the host over TLS", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-tls-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [cert, key] = [path.join(folder, "cert.pem"), path.join(folder, "key.pem")];
  const args = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost".split(" ");
  execFileSync("openssl", [...args, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert], {
    stdio: "ignore",
  });
  await using encrypted = await startObservedService({ LATCHKEY_TLS_CERT: cert, LATCHKEY_TLS_KEY: key });

  const page = await loggedIn(encrypted);

  const [cookie] = await context.cookies();
  assert.deepEqual([cookie?.name, cookie?.secure, cookie?.httpOnly, cookie?.path], ["__Host-session", true, true, "/"]);
  assert.equal((await fetchFrom(page, "/orders", jsonPost({}))).status, 201);
});

test("refuses a write from a page of another origin on the same host, although the browser sends the cookie", async () => {
  await loggedIn();
  const { page } = await openPage(context, formatOrigin(stranger));
  service.answers.length = 0;

  // A request that a page may send without a preflight.
  const simple = await fetchFrom(page, `${service.address}/orders`, {
    method: "POST",
    mode: "no-cors",
    body: '{"status":"open"}',
  });
  // The preflight of these requests fails, so the browser does not send them.
  const jsonAnswer = await fetchFrom(page, `${service.address}/orders`, jsonPost({ status: "open" }));
  const removed = await fetchFrom(page, `${service.address}/users/1/sessions`, { method: "DELETE" });

  assert.equal(simple.type, "opaque");
  assert.deepEqual([jsonAnswer.status, removed.status], [null, null]);
  assert.deepEqual(
    service.answers.filter((line) => !line.startsWith("OPTIONS")),
    ["POST /orders 403 cross_site"],
  );
});

test("creates nothing for a page of another origin, although the browser sends an administrator's Basic credentials", async () => {
  const ours = await openRemembering();
  const { page } = await openPage(context, formatOrigin(stranger));
  service.answers.length = 0;

  await changeEverything(page, service.address);

  // The browser has sent the credentials. Without them, the service would have refused to show the users.
  assert.ok(
    service.answers.some((line) => /^GET \/users (?:200|304)$/.test(line)),
    service.answers.join("\n"),
  );
  assertNothingChanged(service);
  // A page of the service itself may create an order.
  assert.equal((await fetchFrom(ours, "/orders", jsonPost({}))).status, 201);
});

test("creates nothing for a page of another origin if a proxy identifies the caller", async (t) => {
  const secret = "shared-with-the-proxy";
  await using behind = await startObservedService({
    LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user",
    LATCHKEY_TRUSTED_PROXIES: "127.0.0.1",
    LATCHKEY_REMOTE_USER_SECRET: secret,
  });
  const proxy = await startProxy(behind.address, { "X-Remote-User": "admin", "X-Remote-User-Secret": secret });
  t.after(() => proxy.close());
  const { page } = await openPage(context, formatOrigin(stranger));

  await changeEverything(page, formatOrigin(proxy));

  assert.ok(behind.answers.includes("GET /users 200"), behind.answers.join("\n"));
  assertNothingChanged(behind);
  const { page: ours } = await openPage(context, `${formatOrigin(proxy)}/docs`);
  assert.equal((await fetchFrom(ours, "/orders", jsonPost({}))).status, 201);
});

test("refuses a form that a page of another origin sends", async () => {
  await loggedIn();
  const { page } = await openPage(context, formatOrigin(stranger));

  await page.setContent(`<form method="post" action="${service.address}/users/1/token"><button>Send</button></form>`);
  const [response] = await Promise.all([page.waitForResponse(/\/users\/1\/token$/), page.getByRole("button").click()]);

  assert.equal(response.status(), 403);
  assert.match((await response.request().allHeaders())["cookie"] ?? "", /session=/);
  // The refusal is a page. The browser then requests its style and its script.
  const answers = service.answers.filter((line) => !line.startsWith("GET /console/"));
  assert.equal(answers.at(-1), "POST /users/1/token 403 cross_site");
});

test("lets a page of another origin neither log the browser in nor read a response", async () => {
  await loggedIn();
  const before = await context.cookies();
  const { page } = await openPage(context, formatOrigin(stranger));
  service.answers.length = 0;
  const login = {
    method: "POST",
    mode: "no-cors",
    body: JSON.stringify({ username: "admin", password: service.password }),
  } as const;

  await fetchFrom(page, `${service.address}/api/session/`, login);
  const read = await fetchFrom(page, `${service.address}/users`);
  assert.deepEqual(service.answers, ["POST /api/session/ 403 cross_site", "GET /users 200"]);
  const opaque = await fetchFrom(page, `${service.address}/users`, { mode: "no-cors" });

  assert.deepEqual([read.status, opaque.type, opaque.body], [null, "opaque", ""]);
  assert.deepEqual(await context.cookies(), before);
});

test("sends no cookie from a page of another site", async () => {
  await loggedIn();
  const { page } = await openPage(context, `http://localhost:${stranger.port}`);
  service.answers.length = 0;

  await fetchFrom(page, `${service.address}/users`);
  await fetchFrom(page, `${service.address}/orders`, { method: "POST", mode: "no-cors", body: "{}" });

  assert.deepEqual(service.answers, ["GET /users 401 not_authenticated", "POST /orders 401 not_authenticated"]);
});

test("lets a page of an allowed origin read and write", async () => {
  await loggedIn();
  const { page, complaints } = await openPage(context, formatOrigin(allowed));

  const created = await fetchFrom(page, `${service.address}/orders`, jsonPost({ status: "open" }));
  const { id } = JSON.parse(created.body) as { id: number };
  const target = `${service.address}/orders/${id}`;
  const changed = await fetchFrom(page, target, {
    method: "PATCH",
    headers: { "Content-Type": "application/merge-patch+json", "If-Match": created.etag! },
    body: '{"status":"paid"}',
  });
  const removed = await fetchFrom(page, target, { method: "DELETE" });

  assert.deepEqual([created.status, changed.status, removed.status], [201, 200, 204]);
  assert.deepEqual(complaints, []);
});

/** Opens a page of the service, logged in as the administrator. */
async function loggedIn({ address, password }: ObservedService = service): Promise<Page> {
  const { page } = await openPage(context, `${address}/docs`);
  const { status } = await fetchFrom(page, "/api/session/", jsonPost({ username: "admin", password }));
  assert.equal(status, 201);
  return page;
}

function jsonPost(body: unknown): Fetching {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

function formatOrigin({ port }: { readonly port: number }): string {
  return `http://127.0.0.1:${port}`;
}

/** Opens a page of the service, in a browser that knows the administrator's password from now on. */
async function openRemembering(): Promise<Page> {
  const { username, password } = { username: "admin", password: service.password };
  // The path is at the root, so that the browser sends the password to all paths. The format is JSON, because an HTML
  // page would show a login form instead of a Basic challenge.
  const address = new URL("/users?format=json", service.address);
  const page = await context.newPage();
  await page.goto(`http://${username}:${password}@${address.host}${address.pathname}${address.search}`);
  await page.goto(`${service.address}/docs`);
  return page;
}

/** Sends all requests that a page can send without a preflight, by script and by form. */
async function changeEverything(page: Page, address: string): Promise<void> {
  const user = JSON.stringify({ name: "Eve", email: "eve@example.com", password: "password of Eve" });
  await fetchFrom(page, `${address}/users`, { mode: "no-cors" });
  for (const [path, body] of [
    ["/users", user],
    ["/users/1/keys", '{"name":"evil"}'],
    ["/users/1/token", ""],
    ["/orders", "{}"],
  ] as const) {
    await fetchFrom(page, `${address}${path}`, { method: "POST", mode: "no-cors", body });
    // A body without a type needs no preflight either.
    await page.evaluate(
      ([url, text]) =>
        fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body: new Blob([text]) }).then(
          () => null,
          () => null,
        ),
      [`${address}${path}`, body] as const,
    );
  }
  for (const type of ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]) {
    await page.goto(formatOrigin(stranger));
    await page.setContent(
      `<form method="post" enctype="${type}" action="${address}/users/1/token"><button>Send</button></form>`,
    );
    await Promise.all([page.waitForResponse(/\/users\/1\/token$/), page.getByRole("button").click()]);
  }
}

function assertNothingChanged({ answers }: ObservedService): void {
  const changes = answers.filter((line) => line.startsWith("POST"));
  assert.equal(changes.length, 11);
  assert.deepEqual(
    changes.filter((line) => !line.endsWith(" 403 cross_site")),
    [],
  );
}
