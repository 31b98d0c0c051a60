import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { authenticated, defineFeature, defineResource, json, mount, text } from "../../src/door/index.ts";
import { formsOf } from "../harness/page-forms.ts";
import { adminPassword, basicHeader, serve, type Answered, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

/** The header fields of a browser for a followed link or a typed URL. */
const browser = {
  host: "127.0.0.1:8000",
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "sec-fetch-site": "same-origin",
  "sec-fetch-mode": "navigate",
};
const form = { ...browser, "content-type": "application/x-www-form-urlencoded" };

/** Returns a page in one line, without the line breaks of its source. */
function joinLines({ text }: Answered): string {
  return text.replaceAll(/\s+/g, " ");
}

async function logIn(api: API, next = "/"): Promise<Record<string, string>> {
  const body = new URLSearchParams({ username: "admin", password: adminPassword, next }).toString();
  const answer = await api.ask("POST", "/api/session/", { headers: form, body });
  assert.equal(answer.status, 303);
  return { ...browser, cookie: answer.headers.getSetCookie()[0]!.split(";")[0]! };
}

test("answers a browser with a page at every URL, and a program with JSON", async (t) => {
  const api = await serve(t);
  const admin = await logIn(api);
  const { json: order } = await api.post("/orders", {}, api.admin);
  await api.post(`/orders/${order.id}/items`, { product: "Ink", quantity: 1, unit_price: "9.95" }, api.admin);

  for (const [path, status, title] of [
    ["/", 200, "Start"],
    ["/users", 200, "Users"],
    ["/users/1", 200, "Administrator"],
    ["/orders?status=open&sort=-id", 200, "Orders"],
    [`/orders/${order.id}/items/`, 200, "Items"],
    ["/protected/", 200, "Protected"],
    ["/users/1/account", 200, "Your account"],
    ["/livez", 200, "Health"],
    ["/users/999", 404, "Not found"],
    ["/users?nonsense=1", 400, "Invalid query"],
    ["/nothing", 404, "Not found"],
  ] as const) {
    const page = await api.get(path, admin);
    assert.deepEqual(
      [page.status, page.headers.get("content-type"), /<title>(.*?) ·/.exec(page.text)?.[1]],
      [status, "text/html; charset=utf-8", title],
      path,
    );
    assert.match(page.headers.get("vary") ?? "Accept", /^Accept\b/);
    assert.equal(page.text.match(/<h1\b/g)?.length, 1, path);
    assert.doesNotMatch(joinLines(page), /<script>|\sstyle=|\son\w+=|<style/);
    const { headers } = await api.get(path, { ...admin, accept: "*/*" });
    assert.match(headers.get("content-type")!, /json$/, path);
    // The account page shows logins, keys and the token, and must not be stored.
    const cacheControl = path.endsWith("/account") ? "no-store" : headers.get("cache-control");
    assert.equal(page.headers.get("cache-control"), cacheControl, path);
    const head = await api.ask("HEAD", path, { headers: admin });
    assert.deepEqual([head.status, head.text, head.headers.get("etag")], [status, "", page.headers.get("etag")]);
  }
});

test("lets a page load only its own style and scripts, which are cached for a year", async (t) => {
  for (const base of ["", "/api/v1"]) {
    const api = await serve(t, { settings: { LATCHKEY_BASE_PATH: base } });

    const page = await api.get(`${base}/`, browser);
    const found = [...page.text.matchAll(/(?:href|src)="([^"]*\.(?:css|js))"/g)].map(([, address = ""]) => address);

    assert.equal(
      page.headers.get("content-security-policy"),
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    assert.deepEqual([...new Set(found.map((each) => /(\w+)\.[0-9a-f]{12}/.exec(each)![1]))], ["console"]);
    for (const address of found) {
      const asset = await api.get(address, { cookie: "session=stale" });
      assert.equal(asset.status, 200, address);
      assert.match(
        address.slice(base.length),
        /^\/console\/(?:console|developer|forms|passkeys)\.[0-9a-f]{12}\.(?:css|js)$/,
      );
      assert.equal(asset.headers.get("cache-control"), "public, max-age=31536000");
    }
    assert.equal((await api.get(`${base}/console/console.css`)).status, 404);
    for (const [, address = ""] of page.text.matchAll(/ (?:href|action|data-path)="(\/[^"]*)"/g))
      assert.ok(address.startsWith(`${base}/`), address);
  }
});

test("sends different ETags for the page of a record, for its JSON, and for another caller's page", async (t) => {
  const api = await serve(t);
  const admin = await logIn(api);
  const ann = await api.user("Ann");
  const path = `/users/${ann.id}`;

  const page = await api.get(path, admin);
  const asJSON = await api.get(path, api.admin);
  const hers = await api.get(path, { ...browser, ...ann.headers });
  const tag = page.headers.get("etag")!;

  assert.equal(new Set([tag, asJSON.headers.get("etag"), hers.headers.get("etag")]).size, 3);
  assert.equal((await api.get(path, { ...admin, "if-none-match": tag })).status, 304);
  assert.equal((await api.get(path, { ...browser, ...ann.headers, "if-none-match": tag })).status, 200);
  await api.patch(path, { name: "Ann Other" }, api.admin);
  assert.equal((await api.get(path, { ...admin, "if-none-match": tag })).status, 200);
});

test("shows the login form to a caller who is not logged in, and returns to the page", async (t) => {
  const api = await serve(t);

  const page = await api.get("/orders?status=open", browser);
  const next = /name="next" value="([^"]*)"/.exec(joinLines(page))![1]!;

  assert.equal(page.status, 401);
  assert.match(joinLines(page), /<form class="form" method="post" action="\/api\/session\/"/);
  assert.equal(next, "/orders?status=open");
  assert.equal(page.headers.get("cache-control"), "no-store");
  // A browser would show a dialog before the page. Programs still get the challenge.
  assert.doesNotMatch(page.headers.get("www-authenticate")!, /Basic/);
  assert.match((await api.get("/orders")).headers.get("www-authenticate")!, /Basic/);

  const body = new URLSearchParams({ username: "admin", password: adminPassword, next }).toString();
  const back = await api.ask("POST", "/api/session/", { headers: form, body });
  assert.deepEqual([back.status, back.headers.get("location")], [303, "/orders?status=open"]);
});

test("keeps the typed values of a failed login, except for the password", async (t) => {
  const api = await serve(t);
  const body = new URLSearchParams({ username: `ann"><b>`, password: "wrong-secret", next: "/orders" }).toString();

  const page = await api.ask("POST", "/api/session/", { headers: form, body });

  assert.equal(page.status, 401);
  assert.match(joinLines(page), /name="username" value="ann&quot;&gt;&lt;b&gt;"/);
  assert.match(joinLines(page), /name="next" value="\/orders"/);
  assert.match(joinLines(page), /Wrong name or password\./);
  assert.doesNotMatch(joinLines(page), /wrong-secret/);
});

test("answers a browser with a Basic challenge if there is no login form", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_SCHEMES: "basic" } });

  const page = await api.get("/orders", browser);

  assert.match(page.headers.get("www-authenticate")!, /^Basic/);
  assert.doesNotMatch(joinLines(page), /<form class="form" method="post"/);
});

test("shows the login form, if sessions are the only scheme, also to a caller whose session has ended", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_SCHEMES: "session" } });

  for (const headers of [browser, { ...browser, cookie: "session=ended" }])
    for (const [path, title, next] of [
      ["/api/session/", "Log in", "/"],
      ["/orders", "Log in", "/orders"],
    ] as const) {
      const page = await api.get(path, headers);
      assert.deepEqual([page.status, /<title>(.*?) ·/.exec(page.text)?.[1]], [403, title], path);
      assert.match(joinLines(page), /<form class="form" method="post" action="\/api\/session\/"/, path);
      assert.match(page.text, new RegExp(`name="next" value="${next}"`));
    }
  const admin = await logIn(api, "/orders");
  assert.equal((await api.get("/orders", admin)).status, 200);
});

test("offers only the actions that the reader may take", async (t) => {
  const api = await serve(t, { binding: "node" });
  const ann = await api.user("Ann");
  const { json: order } = await api.post("/orders", {}, ann.headers);
  const offered = async (path: string, headers: Record<string, string>) => {
    const page = await api.get(path, { ...browser, ...headers });
    const links = joinLines(page).matchAll(/<a class="btn main" href="([^"]*)"/g);
    return [
      ...[...links].map(([, link]) => link),
      ...formsOf(page.text).map(({ method, action }) => `${method} ${action}`),
    ];
  };

  assert.deepEqual(await offered("/users", api.admin), ["/users?form=new"]);
  assert.deepEqual(await offered("/users", ann.headers), []);
  assert.deepEqual(await offered(`/orders/${order.id}`, ann.headers), [
    `/orders/${order.id}?form=edit`,
    `DELETE /orders/${order.id}`,
  ]);
  const key = await api.post(
    `/users/${ann.id}/keys`,
    { name: "reader", scopes: ["read"], current_password: ann.password },
    ann.headers,
  );
  assert.deepEqual(await offered(`/orders/${order.id}`, { authorization: `Token ${key.json.key}` }), []);
});

test("shows a refused form again, with each mistake at its field and with the typed values", async (t) => {
  const api = await serve(t);
  const admin = await logIn(api);
  const { json: order } = await api.post("/orders", {}, api.admin);
  const sent = { product: "<i>Ink</i>", quantity: 0, unit_price: "12.505" };

  const page = await api.post(`/orders/${order.id}/items`, sent, admin);
  const asJSON = await api.post(`/orders/${order.id}/items`, sent, api.admin);

  assert.equal(page.status, asJSON.status);
  for (const { pointer, detail } of asJSON.json.errors) {
    const field = pointer.slice(1);
    assert.match(joinLines(page), new RegExp(`<p class="wrong" id="field-${field}-wrong">${detail}</p>`));
    assert.match(joinLines(page), new RegExp(`id="field-${field}" [^>]*aria-invalid="true"`));
  }
  assert.match(joinLines(page), /name="product" [^>]*value="&lt;i&gt;Ink&lt;\/i&gt;"/);
  assert.match(joinLines(page), new RegExp(`<form class="form" method="post" action="/orders/${order.id}/items"`));
});

test("shows the stored and the sent version if a change comes too late, and loses neither", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const path = `/users/${ann.id}`;
  const before = (await api.get(path, api.admin)).headers.get("etag")!;
  await api.patch(path, { name: "Ann Theirs" }, api.admin);
  const now = (await api.get(path, api.admin)).headers.get("etag")!;
  const sent = { name: `Ann <Yours>`, email: ann.email, password: "not shown again" };

  const page = await api.patch(path, sent, { ...browser, ...api.admin, "if-match": before });
  const line = joinLines(page);

  assert.equal(page.status, 412);
  assert.match(line, /<bdi>Ann Theirs<\/bdi><span class="hint">There now/);
  assert.match(
    line,
    /value="Ann &lt;Yours&gt;" data-side="yours" checked required> <span><bdi>Ann &lt;Yours&gt;<\/bdi>/,
  );
  assert.doesNotMatch(line, /<legend>E-mail/, "it is the same in both");
  assert.equal(formsOf(page.text)[0]!.match, now);
  assert.doesNotMatch(line, /not shown again/);
  const late = await api.delete(path, { ...browser, ...api.admin, "if-match": before });
  assert.match(joinLines(late), new RegExp(`<a class="btn main" href="${path}">Back to the user</a>`));
});

test("shows a refused change again in the record's form, with the tag that it was sent with", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const tag = '"7"';

  const page = await api.patch(
    `/users/${ann.id}`,
    { name: "Ann Other", email: "nonsense" },
    { ...browser, ...api.admin, "if-match": tag },
  );

  assert.equal(page.status, 400);
  assert.match(joinLines(page), /name="name" [^>]*value="Ann Other"[^]*name="email"[^>]* aria-invalid="true"/);
  assert.equal(formsOf(page.text)[0]!.match, tag);
});

test("explains the response that the caller gets at an address, and refuses other forms of addresses", async (t) => {
  const api = await serve(t, { binding: "node" });
  const ann = await api.user("Ann");
  const { json: order } = await api.post("/orders", {}, api.admin);
  const why = (of: string, headers: Record<string, string>) =>
    api.get(`/console/why?of=${encodeURIComponent(of)}`, headers);

  const mine = (await why("/users?limit=1", ann.headers)).json;
  const hidden = (await why(`/orders/${order.id}`, ann.headers)).json;
  const nobody = (await why("/users", {})).json;

  assert.deepEqual([mine.status, mine.route, mine.outcome], [200, "/users", "identified"]);
  assert.deepEqual([mine.permission.said, mine.permission.action], ["some rows", "list"]);
  assert.equal(mine.headers.find(({ name }: { name: string }) => name === "Cache-Control").value, "private, no-cache");
  assert.equal(mine.schemes.find(({ scheme }: { scheme: string }) => scheme === "basic").saw, "accepted");
  assert.deepEqual([hidden.status, hidden.permission.said], [404, "some rows"]);
  assert.deepEqual([nobody.status, nobody.outcome, nobody.permission.said], [401, "nobody", "deny"]);
  const page = await why("/users", { ...browser, ...ann.headers });
  assert.match(joinLines(page), /<h1>Why this answer<\/h1>/);
  assert.equal(page.headers.get("cache-control"), "no-store");
  for (const target of ["", "users", "//evil.example/", "/users#x", "https://evil.example/", "/a b"])
    assert.equal((await why(target, ann.headers)).status, 400, target);
  assert.equal((await why("/console/why?of=/users", ann.headers)).json.status, 404);
});

test("counts wrong passwords on the page that explains a response", async (t) => {
  const api = await serve(t);
  const wrong = basicHeader("admin", "wrong");

  for (let count = 0; count < 10; count++) assert.equal((await api.get("/console/why?of=/users", wrong)).status, 401);

  assert.equal((await api.get("/console/why?of=/users", wrong)).status, 429);
});

const hostile = [
  `</script><script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  `' onmouseover='alert(1)`,
  `javascript:alert(1)`,
  `<svg/onload=alert(1)>`,
  `&lt;b&gt;&amp;`,
  "${alert(1)}{{7*7}}<%= 1 %>",
  "\u202egnp.exe\u202c مكتب الشحن 👩🏽‍🚀 Z̷̢̛̰͓a̵̧͎͗l̸̰̈g̷̣͝o̶̙͠",
  "W".repeat(10_000),
];

test("shows ten thousand rows of hostile text as text, on a small page", async (t) => {
  const words = mount(
    defineResource({
      name: "word",
      fields: { line: text({ maxLength: 10_000 }), any: json({ optional: true }) },
      search: ["line"],
    }),
    { permission: authenticated },
  );
  const api = await serve(t, {
    config: { features: [defineFeature({ name: "words", setUp: () => ({ offer: null, mounts: [words] }) })] },
  });
  for (let block = 0; block < 10; block++)
    await api.service.store.write({
      changes: Array.from({ length: 1000 }, (_, at) => {
        const line = hostile[at % hostile.length]!.slice(0, at < 100 ? undefined : 100);
        return { kind: "insert", collection: words.collection, values: { line, any: { [line.slice(0, 100)]: line } } };
      }),
    });

  const page = await api.get("/words?limit=1000&sort=-id", { ...browser, ...api.admin });
  const search = await api.get(`/words?search=${encodeURIComponent(hostile[1]!)}`, { ...browser, ...api.admin });

  assert.equal(page.status, 200);
  const one = await api.get("/words/1", { ...browser, ...api.admin });
  for (const shown of [page, search, one].map((each) => each.text.replaceAll(/="[^"]*"/g, '=""'))) {
    const elements = new Set([...shown.matchAll(/<([a-z0-9]+)/gi)].map(([, name]) => name));
    for (const strange of ["img", "object", "iframe", "style"]) assert.ok(!elements.has(strange), strange);
    assert.doesNotMatch(shown, /<[a-z]+\s[^>]*\son[a-z]+\s*=|<svg\/|<script>/i);
  }
  const hundred = await api.get("/words?limit=100&sort=id", { ...browser, ...api.admin });
  assert.ok(brotliCompressSync(hundred.text).length < 40_000);
});

test("uses the record's own ETag for a form on a page with related records", async (t) => {
  const api = await serve(t);
  const { json: order } = await api.post("/orders", {}, api.admin);
  const path = `/orders/${order.id}`;

  const page = await api.get(`${path}?expand=user,items`, { ...browser, ...api.admin });
  const tag = formsOf(page.text).find(({ method }) => method === "DELETE")!.match!;

  assert.match(joinLines(page), /Administrator/);
  assert.equal((await api.patch(path, { status: "paid" }, { ...api.admin, "if-match": tag })).status, 200);
});
