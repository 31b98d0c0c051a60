import assert from "node:assert/strict";
import { test } from "node:test";
import { identityProviders } from "../../src/door/auth.ts";
import { consolePages } from "../../src/door/features.ts";
import { accounts, sessionLogin } from "../../src/door/index.ts";
import { identitiesCollection } from "../../src/features/auth/openid/identities.ts";
import { email, open, password, serve } from "../harness/own-logins.ts";
import { declare, origin, startWorld, type World } from "../harness/provider-logins.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

test("lists the identities of an account with buttons to unlink them, and starts to link another identity", async (t) => {
  const people = accounts(open);
  const sessions = sessionLogin(people);
  const providers = [
    declare("https://issuer.example"),
    declare("https://other.example", { id: "other", title: "Other" }),
  ];
  const features = [sessions, identityProviders(people, { sessions, providers }), consolePages({ title: "Notes" })];
  const { service, clock, ask, get } = await serve(t, people, features, { ownOrigins: [origin] });
  const values = {
    user_id: 1,
    identity: '["https://issuer.example","ada-1"]',
    issuer: "https://issuer.example",
    subject: "ada-1",
    created_at: new Date(clock.now).toISOString(),
  };
  await service.store.write({ changes: [{ kind: "insert", collection: identitiesCollection, values }] });
  const login = await ask("POST", "/api/session/", { username: email, password });
  const headers = {
    cookie: login.headers.getSetCookie()[0]!.split(";")[0]!,
    accept: "text/html",
    "sec-fetch-site": "same-origin",
  };

  const line = (await get("/login?next=/notes", { accept: "text/html" })).text.replaceAll(/\s+/g, " ");
  assert.match(
    line,
    /<a class="btn wide" href="\/api\/login\/company\/start\?next=%2Fnotes"><span class="mark plain" aria-hidden="true">C<\/span>Continue with Company <\/a>/,
  );
  const account = (await get("/users/1/account", headers)).text.replaceAll(/\s+/g, " ");
  assert.match(account, /<h2 id="company">Company logins<\/h2>/);
  assert.match(
    account,
    /<bdi>Company<\/bdi><\/b> <span class="tag good">connected<\/span>.*<bdi>ada-1<\/bdi>.*data-method="DELETE" data-path="\/users\/1\/identities\/1"/,
  );
  assert.match(account, /name="provider" value="other"/);
  assert.match(account, /Connect Other/);

  const begun = await ask("POST", "/users/1/identities", { provider: "other" }, headers);
  assert.equal(begun.status, 200, begun.text);
  assert.match(
    begun.text,
    /<a class="btn main wide" href="\/api\/login\/other\/start\?link=[\w-]+">Go to the company login<\/a>/,
  );
});

/** Logs in at the provider, but changes the URL of the callback. Returns the page of the callback and the URL. */
async function refusedCallback(world: World, change: (callback: URL) => void, method = "GET") {
  const browser = world.browser();
  const callback = await browser.start("?next=/notes");
  change(callback);
  const { pathname, search } = callback;
  return { page: await browser.ask(method, pathname + search, undefined, { accept: "text/html" }), callback };
}

for (const [title, status, change, method] of [
  ["a refused login", 401, (callback: URL) => callback.searchParams.set("iss", "https://evil.example")],
  ["an unknown login", 401, (callback: URL) => callback.searchParams.set("state", "A".repeat(22))],
  ["an identity without an account", 403, () => {}],
  ["a wrong method", 405, () => {}, "POST"],
] as const)
  test(`shows nothing of the query on the callback's page of ${title}`, async (t) => {
    const world = await startWorld(t, { provider: { create: false }, more: () => [consolePages({ title: "Notes" })] });
    const { page, callback } = await refusedCallback(world, change, method);

    assert.equal(page.status, status, page.text);
    assert.match(page.headers.get("content-type")!, /^text\/html/);
    // A card has no fold for developers. A wrong method has no page of its own.
    if (status !== 405) assert.doesNotMatch(page.text, /class="api"/);
    if (status === 403) assert.match(page.text, /<p class="lead">This login is not connected with an account, and/);
    const sent = `${page.text} ${JSON.stringify([...page.headers])}`;
    for (const name of ["code", "state"]) assert.ok(!sent.includes(callback.searchParams.get(name)!), name);
    assert.doesNotMatch(page.text, /next=[^"]*callback|name="next" value="[^"]*callback/);
  });

test("says that the provider has not confirmed the address, with the same text for free and taken addresses", async (t) => {
  const world = await startWorld(t, { more: () => [consolePages({ title: "Notes" })] });
  const pages: string[] = [];
  for (const address of ["free@company.example", email]) {
    world.issuer.user = { sub: "bea", email: address, email_verified: false };
    const { page } = await refusedCallback(world, () => {});
    assert.equal(page.status, 403, page.text);
    pages.push(page.text.replaceAll(/[\w-]{22}/g, "…"));
  }
  assert.match(pages[0]!, /The provider has not confirmed your e-mail address/);
  assert.deepEqual(new Set(pages).size, 1);

  world.issuer.user = { sub: "bea", email, email_verified: true };
  assert.doesNotMatch((await refusedCallback(world, () => {})).page.text, /has not confirmed your/);
});
