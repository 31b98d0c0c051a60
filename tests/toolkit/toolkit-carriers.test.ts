import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test, type TestContext } from "node:test";
import { consolePages, documentation } from "../../src/door/features.ts";
import {
  accepted,
  anyone,
  authenticated,
  createService,
  defineEndpoint,
  defineResource,
  integer,
  mount,
  rejected,
  Secret,
  text,
  type Identity,
  type Scheme,
} from "../../src/door/index.ts";
import type { Observation } from "../../src/door/ops.ts";
import { certifyScheme } from "../../src/testing/testing.ts";
import { emptyStore } from "../harness/test-store.ts";

// Nightly on PostgreSQL: credentials are read from a request before the store is asked.

const identity: Identity = { id: 7, username: "ada", role: "user", scheme: "ticket", scopes: null, expiresAt: null };
const good = new Secret("good-ticket");
const ticket: Scheme = {
  name: "ticket",
  carriers: [{ in: "query", name: "ticket" }],
  authenticate: (credential) => (good.equals(credential) ? accepted(identity) : rejected("forged")),
};

const notes = defineResource({
  name: "note",
  fields: { body: text({ maxLength: 100 }), stars: integer({ default: 0 }) },
  filters: { body: ["eq"] },
  sorts: ["body"],
});
const page = defineEndpoint({
  method: "GET",
  path: "/page",
  access: anyone,
  query: "read",
  handle: (context) => ({
    status: 200,
    body: { kind: "data", value: { parameters: context.parameters().map((each) => each.join("=")) }, element: "page" },
    cache: "public",
  }),
});
const login = defineEndpoint({ method: "GET", path: "/enter", access: "open", handle: () => ({ status: 204 }) });

async function start(t: TestContext, schemes: readonly Scheme[] = [ticket]) {
  const observed: Observation[] = [];
  const service = await createService({
    store: await emptyStore(),
    schemes,
    mounts: [mount(notes, { permission: authenticated })],
    endpoints: [page, login],
    features: [consolePages({ title: "Notes" }), documentation({ title: "Notes", version: "1" })],
    observe: (observation) => void observed.push(observation),
  });
  t.after(() => service.close());
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await service.fetch(new Request(`http://localhost${path}`, init), { peer: "127.0.0.1" });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { ask, observed };
}

const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: typeof body === "string" ? body : JSON.stringify(body),
});

test("accepts a credential in the query, and hides it from the parameters of a handler", async (t) => {
  const { ask } = await start(t);

  assert.equal((await ask("/notes")).status, 403);
  assert.equal((await ask("/notes?ticket=good-ticket")).status, 200);
  assert.equal((await ask("/notes?ticket=good-tickets")).status, 403);
  assert.equal((await ask("/notes?tick%65t=good%2Dticket&limit=1")).status, 200);
  assert.equal((await ask("/notes/1?ticket=good-ticket")).status, 404);
  assert.equal((await ask("/notes?ticket=good-ticket&other=1")).status, 400);
  assert.equal((await ask("/page?a=1&ticket=good-ticket&b=2")).text, '{"parameters":["a=1","b=2"]}');
});

test("refuses a duplicate or unreadable credential, and ignores an empty one", async (t) => {
  const { ask } = await start(t);

  for (const [query, status, code] of [
    ["ticket=good-ticket&ticket=good-ticket", 400, "duplicate_credentials"],
    ["ticket=%ff", 403, "authentication_failed"],
    ["ticket=%", 403, "authentication_failed"],
    ["ticket=", 403, "authentication_failed"],
    [`ticket=${"x".repeat(7000)}`, 403, "authentication_failed"],
  ] as const) {
    const answer = await ask(`/notes?${query}`);
    assert.deepEqual([answer.status, JSON.parse(answer.text).code], [status, code], query.slice(0, 40));
  }
  assert.equal((await ask("/page?ticket=")).status, 200);
});

test("refuses the query parameter of a credential on an open endpoint, and never shows the credential", async (t) => {
  const { ask } = await start(t);

  const refused = await ask("/enter?ticket=good-ticket");

  assert.equal(refused.status, 400);
  assert.match(refused.text, /"pointer":"\?ticket","code":"unknown_parameter"/);
  assert.ok(!refused.text.includes("good-ticket"));
});

test("keeps a credential in the query out of shared caches, links, logs and responses", async (t) => {
  const { ask, observed } = await start(t);
  for (const body of ["a", "b", "c"]) {
    const made = await ask("/notes?ticket=good-ticket", post({ body }));
    assert.match(made.headers.get("location")!, /^\/notes\/\d$/);
  }

  const answers = [
    await ask("/notes?limit=1&ticket=good-ticket&sort=-body"),
    await ask("/notes?ticket=good-ticket&limit=x"),
    await ask("/notes?ticket=bad-ticket"),
    await ask("/notes?ticket=good-ticket", { headers: { accept: "text/html" } }),
    await ask("/notes?ticket=bad-ticket", { headers: { accept: "text/html" } }),
  ];

  assert.match(answers[0]!.headers.get("link")!, /<\/notes\?limit=1&sort=-body>; rel="first"/);
  for (const { headers, text: content } of answers)
    for (const secret of ["good-ticket", "bad-ticket"])
      assert.ok(![...headers].flat().concat(content, JSON.stringify(observed)).join().includes(secret));
  assert.equal((await ask("/page")).headers.get("cache-control"), "public, no-cache");
  assert.equal((await ask("/page?ticket=good-ticket")).headers.get("cache-control"), "private, no-cache");
  const { headers } = await ask("/notes?ticket=good-ticket");
  assert.equal(headers.get("cache-control"), "private, no-cache");
  assert.ok(observed.some((each) => each.kind === "request" && each.path === "/notes" && each.scheme === "ticket"));
});

test("describes in the API's documentation where the credential travels", async (t) => {
  const { ask } = await start(t);

  const { components } = JSON.parse((await ask("/openapi.json")).text);

  const { type, in: place, name } = components.securitySchemes.ticket;
  assert.deepEqual({ type, place, name }, { type: "apiKey", place: "query", name: "ticket" });
});

for (const [name, pattern] of [
  ["limit", /the parameter limit is already in use/],
  ["body", /the parameter body is a credential, and a filter of \/notes/],
] as const)
  test(`refuses to start if a credential in the query has the name of the parameter ${name}`, async (t) => {
    await assert.rejects(start(t, [{ ...ticket, carriers: [{ in: "query", name }] }]), pattern);
  });

const key = new Secret("what both sides know, and nobody else");
const computeMAC = (body: string | Uint8Array) => createHmac("sha256", key.reveal()).update(body).digest("hex");
const signer: Scheme = {
  name: "signed",
  carriers: [{ in: "header", name: "X-Signature" }],
  readsBody: true,
  async authenticate(credential, call) {
    if (!/^[0-9a-f]{64}$/.test(credential)) return rejected("malformed");
    if (!new Secret(computeMAC(await call.octets())).equals(credential)) return rejected("forged");
    return accepted({ ...identity, scheme: "signed" });
  },
};

test("verifies the signature of a body, and then parses the body as usual", async (t) => {
  const { ask } = await start(t, [signer]);
  const signed = (body: string, signature = computeMAC(body)): RequestInit => {
    const init = post(body);
    return { ...init, headers: { ...init.headers, "x-signature": signature } };
  };

  assert.equal((await ask("/notes", signed('{"body":"a"}'))).status, 201);
  assert.equal((await ask("/notes", signed('{"body":"b"}', computeMAC('{"body":"a"}')))).status, 403);
  assert.equal((await ask("/notes", signed("{"))).status, 400);
  // A GET has no body, so the signature of an empty body is accepted.
  assert.equal((await ask("/notes/1", { headers: { "x-signature": computeMAC("") } })).status, 200);
});

test("answers 413 to a large body before authentication, and does not read a body without a well-formed signature", async (t) => {
  const { ask } = await start(t, [signer]);
  const large = JSON.stringify({ body: "x".repeat(1024 * 1024) });
  let pulled = 0;
  const endless = () =>
    new ReadableStream({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
  const send = (signature: Record<string, string>) =>
    ask("/notes", {
      method: "POST",
      headers: { "content-type": "application/json", ...signature },
      body: endless(),
      duplex: "half",
    });

  assert.equal((await ask("/notes", { ...post(large), headers: { "x-signature": computeMAC(large) } })).status, 413);
  assert.equal((await send({ "x-signature": computeMAC("") })).status, 413);
  const before = pulled;
  assert.equal((await send({ "x-signature": "malformed" })).status, 403);
  assert.equal((await send({})).status, 403);
  assert.ok(pulled - before <= 4, String(pulled - before));
});

test("reports a fault if a scheme reads the body without `readsBody: true`", async (t) => {
  const { ask, observed } = await start(t, [{ ...signer, readsBody: false }]);

  const answer = await ask("/notes", { ...post("{}"), headers: { "x-signature": computeMAC("{}") } });

  assert.equal(answer.status, 500);
  assert.ok(observed.some((each) => each.kind === "fault" && /readsBody: true/.test(String(each.error))));
});

certifyScheme("a credential in the query", () => ({ scheme: ticket, valid: "good-ticket", wrong: "bad-ticket" }));

certifyScheme("a signature of the body", () => ({
  scheme: signer,
  body: '{"a": 1}',
  valid: computeMAC('{"a": 1}'),
  wrong: computeMAC("{}"),
  malformed: ["v1"],
}));
