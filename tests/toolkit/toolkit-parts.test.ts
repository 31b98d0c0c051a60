import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint, Format } from "../../src/door/http.ts";
import {
  accepted,
  anyone,
  authenticated,
  defineEndpoint,
  defineResource,
  mount,
  rejected,
  text,
  type Scheme,
} from "../../src/door/index.ts";
import { ownService, people, visitor } from "../harness/own-service.ts";

const notes = defineResource({
  name: "note",
  fields: { body: text({ maxLength: 100 }), by: text({ optional: true }) },
  filters: { body: ["eq"] },
  sorts: ["body"],
});

/** A format that writes lists for spreadsheets (RFC 4180). */
const csv: Format = {
  mediaType: "text/csv",
  problemMediaType: "application/problem+json",
  tagSuffix: "-csv",
  shows: "lists",
  write({ value }) {
    const rows = value as readonly Readonly<Record<string, unknown>>[];
    const names = Object.keys(rows[0] ?? {});
    const lines = [names, ...rows.map((row) => names.map((name) => row[name]))];
    return lines.map((cells) => `${cells.map(formatCell).join(",")}\r\n`).join("");
  },
  writeProblem: (document) => JSON.stringify(document),
};

function formatCell(value: unknown): string {
  const shown = value === null ? "" : String(value);
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}

const say = (value: unknown) => ({ status: 200, body: { kind: "data", value, element: "said" } }) as const;

const echo = defineEndpoint({
  method: "GET",
  path: "/echo/{word:text}/{id}",
  access: anyone,
  query: "read",
  handle: (context) => say([context.params, context.parameters(), context.identity?.username ?? null]),
});

test("reads texts and ids of the path, and an optional query, in custom endpoints", async (t) => {
  const endpoints: readonly Endpoint[] = [
    echo,
    defineEndpoint({ method: "GET", path: "/plain", access: anyone, handle: () => say("plain") }),
    defineEndpoint({
      method: "GET",
      path: "/ignoring/",
      access: "open",
      query: "ignored",
      handle: (context) => say(context.identity),
    }),
    defineEndpoint({
      method: "POST",
      path: "/sum",
      access: authenticated,
      consumes: ["application/json"],
      handle: ({ body }) => say((body!.value as number[]).reduce((a, b) => a + b, 0)),
    }),
    defineEndpoint({
      method: "POST",
      path: "/ping",
      access: anyone,
      consumes: ["application/json"],
      bodyOptional: true,
      handle: ({ body }) => say(body === null ? "nothing" : body.value),
    }),
    defineEndpoint({
      method: "GET",
      path: "/page",
      access: anyone,
      produces: "text/plain",
      handle: () => ({ status: 200, body: { kind: "raw", type: "text/plain", content: "hello" } }),
    }),
  ];
  const { ask } = await ownService(t, { endpoints });
  const text = async (path: string, as?: string): Promise<string> =>
    (await ask("GET", path, as === undefined ? {} : { as })).text;

  assert.equal(
    await text("/echo/a%20b%2Fc/7?x=1&x=2&y"),
    '[{"word":"a b/c","id":7},[["x","1"],["x","2"],["y",""]],null]',
  );
  assert.equal(await text("/echo/%F0%9F%98%80/1/", "ada"), '[{"word":"😀","id":1},[],"user 2"]');
  for (const path of [
    "/echo/a/0",
    "/echo/a/01",
    "/echo/a/-1",
    "/echo/a/x",
    "/echo/a",
    "/echo//1",
    "/echo/%zz/1",
    "/echo/%ff/1",
    `/echo/${"a".repeat(201)}/1`,
    "/ECHO/a/1",
  ]) {
    const { status, json } = await ask("GET", path);
    assert.deepEqual([path, status, json?.code], [path, 404, "not_found"]);
  }
  assert.equal((await ask("GET", "/echo/a/1?x=%zz")).json.errors[0].pointer, "?x");
  assert.equal((await ask("GET", "/plain?x=1")).json.errors[0].code, "unknown_parameter");
  assert.equal((await ask("GET", "/plain?x=%zz")).status, 400);
  assert.equal((await ask("GET", "/plain?&")).status, 200);
  assert.equal((await ask("GET", "/ignoring?x=%zz", { as: "stranger" })).text, "null");
  assert.equal((await ask("GET", "/plain", { as: "stranger" })).status, 401);
  assert.equal((await ask("POST", "/sum", { as: "ada", body: [1, 2] })).text, "3");
  assert.equal((await ask("POST", "/sum?x=1", { as: "ada", body: [1, 2] })).status, 400);
  assert.equal((await ask("POST", "/sum", { body: [1, 2] })).status, 401);
  assert.equal((await ask("POST", "/ping")).text, '"nothing"');
  assert.equal((await ask("POST", "/ping", { body: "{" })).json.code, "malformed");
  assert.equal(
    (await ask("POST", "/ping", { body: "<a/>", headers: { "content-type": "application/xml" } })).headers.get(
      "accept-post",
    ),
    "application/json",
  );
  assert.equal((await ask("GET", "/page", { headers: { accept: "application/xml" } })).text, "hello");
  assert.equal((await ask("OPTIONS", "/sum")).headers.get("allow"), "POST, OPTIONS");
  assert.equal((await ask("GET", "/sum")).status, 405);
  assert.match((await ask("GET", "/plain", { headers: { accept: "application/xml" } })).text, /<said>plain<\/said>$/);
});

test("refuses to start with two endpoints of the same method and path", async (t) => {
  const one = defineEndpoint({ method: "GET", path: "/notes/", access: anyone, handle: () => say(1) });

  await assert.rejects(
    ownService(t, { mounts: [mount(notes, { permission: anyone })], endpoints: [one] }),
    /GET \/notes is there twice/,
  );
});

test("writes lists in a custom format, and answers 406 to all other requests for this format, before any change", async (t) => {
  const listed = defineEndpoint({
    method: "GET",
    path: "/listed",
    action: "list",
    access: anyone,
    handle: () => say([{ a: 1 }]),
  });
  const { ask } = await ownService(t, {
    mounts: [mount(notes, { permission: anyone })],
    endpoints: [listed, echo],
    formats: [csv],
  });
  const accept = "text/csv";
  for (const body of ['a "b", c', "plain"]) await ask("POST", "/notes", { body: { body } });

  const list = await ask("GET", "/notes?limit=1&sort=-body", { headers: { accept } });
  assert.equal(list.text, "id,body,by\r\n2,plain,\r\n");
  assert.equal(list.headers.get("content-type"), "text/csv");
  assert.match(list.headers.get("link")!, /rel="next"/);
  assert.equal((await ask("GET", "/notes?id=9", { headers: { accept } })).status, 400);
  assert.equal(
    (await ask("GET", "/notes?fields=body&sort=body", { headers: { accept } })).text,
    'body\r\n"a ""b"", c"\r\nplain\r\n',
  );
  assert.equal((await ask("GET", "/listed", { headers: { accept } })).text, "a\r\n1\r\n");
  assert.equal(
    (await ask("GET", "/notes", { headers: { accept: "application/json;q=0.5, text/*" } })).headers.get("content-type"),
    "text/csv",
  );
  assert.equal(
    (await ask("GET", "/notes/1", { headers: { accept: "text/csv, application/xml;q=0.1" } })).headers.get(
      "content-type",
    ),
    "application/xml",
  );
  for (const [method, path, body] of [
    ["GET", "/notes/1"],
    ["GET", "/echo/a/1"],
    ["POST", "/notes", { body: "x" }],
    ["PUT", "/notes/7", { body: "x" }],
    ["PATCH", "/notes/1", { body: "x" }],
    ["DELETE", "/notes/1"],
  ] as const) {
    const { status, headers } = await ask(method, path, {
      headers: { accept },
      ...(body === undefined ? {} : { body }),
    });
    assert.equal(status, 406, `${method} ${path}`);
    assert.equal(headers.get("content-type"), "application/problem+json");
  }
  assert.equal((await ask("POST", "/notes", { body: "id\r\n", headers: { "content-type": accept } })).status, 415);
  assert.equal((await ask("GET", "/notes")).json.length, 2, "nothing was changed");
});

test("accepts, combines and refuses the credentials of a custom scheme like those of a built-in one", async (t) => {
  const knock: Scheme = {
    name: "knock",
    carriers: [
      { in: "authorization", scheme: "Knock" },
      { in: "cookie", name: "knock" },
    ],
    challenge: (_call, rejection) => `Knock times="${rejection === null ? 3 : 2}"`,
    authenticate: async (credential) =>
      people[credential] === undefined
        ? rejected("expired", "Nobody opens.")
        : accepted({ ...people[credential], scheme: "knock" }),
  };
  const { ask, observed } = await ownService(t, {
    schemes: [visitor, knock],
    mounts: [mount(notes, { permission: authenticated })],
  });
  const status = async (headers: Readonly<Record<string, string>>, method = "GET"): Promise<string> => {
    const answered = await ask(method, "/notes", { headers, ...(method === "POST" ? { body: { body: "a" } } : {}) });
    return `${answered.status} ${answered.json.code ?? ""}`.trim();
  };

  assert.equal(await status({ authorization: "KNOCK ada" }), "200");
  assert.equal(await status({ cookie: "knock=ada" }), "200");
  assert.equal(await status({ cookie: "knock=ada", authorization: "Knock ada", "x-visitor": "ada" }), "200");
  assert.equal(await status({ cookie: "knock=ada", "x-visitor": "ben" }), "400 conflicting_credentials");
  assert.equal(await status({ cookie: "knock=eve", "x-visitor": "ben" }), "200");
  assert.equal(await status({ cookie: "knock=eve" }), "401 invalid_token");
  assert.equal(await status({ cookie: "knock=ada; knock=ben" }), "400 duplicate_credentials");
  assert.equal(await status({ authorization: "Bearer x" }), "401 not_authenticated");
  assert.equal(await status({ cookie: "knock=ada", origin: "https://evil.example" }, "POST"), "403 cross_site");
  assert.equal(await status({ authorization: "Knock ada", origin: "https://evil.example" }, "POST"), "201");
  const answer = await ask("GET", "/notes", { headers: { authorization: "Knock eve" } });
  assert.equal(answer.headers.get("www-authenticate"), 'Knock times="2", Visitor');
  assert.equal(answer.json.detail, "Nobody opens.");
  assert.equal(
    (await ask("GET", "/notes", { as: "ada" })).headers.get("vary"),
    "Accept, Authorization, X-Visitor, Cookie, Prefer",
  );
  assert.ok(
    observed.some(
      (each) => each.kind === "credential_rejected" && each.scheme === "knock" && each.reason === "expired",
    ),
  );
  await assert.rejects(
    ownService(t, { schemes: [visitor, { ...knock, name: "visitor" }] }),
    /scheme visitor is there twice/,
  );
  await assert.rejects(
    ownService(t, { schemes: [knock, { ...knock, name: "other" }], endpoints: [echo, echo] }),
    (error: Error) =>
      /the schemes knock and other both read Authorization: knock; leave one of them out/.test(error.message) &&
      /the endpoint GET \/echo.* is there twice/.test(error.message),
  );
  const cookie = (name: string, cookieName: string) => ({
    ...knock,
    name,
    carriers: [{ in: "cookie", name: cookieName }] as const,
  });
  await assert.rejects(
    ownService(t, { schemes: [cookie("one", "shop"), cookie("other", "__Host-shop")] }),
    /the schemes one and other both read the cookie __Host-shop/,
  );
});
