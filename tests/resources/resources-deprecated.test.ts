import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { anyone, defineEndpoint, defineResource, integer, mount, text } from "../../src/door/index.ts";
import { DeclarationError, type Deprecation } from "../../src/door/resources.ts";
import { serve, type Answered, type API } from "../harness/serve.ts";

const since = "2026-01-01";
const at = "@1767225600";
const until = "Fri, 01 Jan 2027 00:00:00 GMT";

const ticket = defineResource({
  name: "ticket",
  fields: {
    title: text({ maxLength: 100 }),
    state: text({
      maxLength: 20,
      default: "open",
      deprecated: { since, sunset: "2027-01-01", link: "https://example.org/state" },
    }),
    level: integer({ default: 1, deprecated: { since: "2025-07-01T12:00:00+02:00", link: "/changes" } }),
  },
  filters: { title: { operators: ["eq"], deprecated: { since: "2026-02-01" } }, state: ["eq"], id: ["eq"] },
  sorts: ["title", "level"],
});
const tickets = mount(ticket, {
  permission: anyone,
  arrays: true,
  actions: {
    shut: { permission: anyone, deprecated: { since }, handle: () => ({ values: { title: "shut" } }) },
    open: { permission: anyone, body: { state: text({ optional: true, deprecated: { since } }) }, handle: () => {} },
  },
});
const oldTickets = mount(defineResource({ name: "old_ticket", fields: { title: text() } }), {
  permission: anyone,
  deprecated: { since, sunset: "2026-01-02", link: "https://example.org/tickets" },
});
const hello = defineEndpoint({
  method: "GET",
  path: "/hello",
  access: anyone,
  deprecated: { since },
  handle: () => ({ status: 200, body: { kind: "data", value: 1, element: "n" } }),
});

async function start(t: TestContext): Promise<API> {
  return serve(t, { config: { mounts: [tickets, oldTickets], endpoints: [hello] } });
}

function readWarnings({ headers }: Answered): readonly (string | null)[] {
  return [headers.get("deprecation"), headers.get("sunset")];
}

test("warns callers of deprecated parts in the header fields", async (t) => {
  const api = await start(t);

  await t.test("warns of a deprecated field that a body, a filter or `fields` names", async () => {
    assert.deepEqual(readWarnings(await api.post("/tickets", { title: "A" })), [null, null]);
    const sent = await api.post("/tickets", { title: "B", state: "shut" });
    assert.deepEqual([sent.status, ...readWarnings(sent)], [201, at, until]);
    assert.equal(
      sent.headers.get("link"),
      '<https://example.org/state>; rel="deprecation", <https://example.org/state>; rel="sunset"',
    );
    const uses: readonly (readonly [method: string, path: string, body?: unknown, type?: string])[] = [
      ["GET", "/tickets?state=open"],
      ["GET", "/tickets?fields=id,state"],
      ["GET", "/tickets/1?fields=state"],
      ["PUT", "/tickets/1", { title: "A", state: "open" }],
      ["PATCH", "/tickets/1", { state: "open" }],
      ["PATCH", "/tickets/1", [{ op: "replace", path: "/state", value: "open" }], "application/json-patch+json"],
      ["PATCH", "/tickets", [{ id: 1, state: "open" }]],
      ["POST", "/tickets", [{ title: "C", state: "open" }]],
      ["QUERY", "/tickets", { where: { any: [{ not: { state: { eq: "x" } } }] } }],
      ["QUERY", "/tickets", { fields: "id,state" }],
      ["POST", "/tickets", "<ticket><title>D</title><state>open</state></ticket>", "application/xml"],
    ];
    for (const [method, path, body, type = "application/json"] of uses) {
      const answer = await api.ask(method, path, { body, headers: body === undefined ? {} : { "content-type": type } });
      assert.deepEqual([method, path, answer.status < 300, ...readWarnings(answer)], [method, path, true, at, until]);
    }
    for (const path of ["/tickets", "/tickets/1", "/tickets?fields=id,title", "/tickets?sort=-title"])
      assert.deepEqual([path, ...readWarnings(await api.get(path))], [path, null, null]);
    assert.deepEqual(readWarnings(await api.patch("/tickets/1", { title: "A" })), [null, null]);
  });

  await t.test(
    "sends the earliest dates if a request uses several deprecated parts, and a link for each part",
    async () => {
      const both = await api.get("/tickets?state=open&sort=level");
      assert.deepEqual(readWarnings(both), ["@1751364000", until]);
      assert.match(both.headers.get("link")!, /^<\/tickets\?[^,]*>; rel="first", /);
      assert.match(both.headers.get("link")!, /<\/changes>; rel="deprecation"/);
      assert.deepEqual(readWarnings(await api.get("/tickets?title=A")), ["@1769904000", null]);
      assert.deepEqual(readWarnings(await api.get("/tickets?title=A")), ["@1769904000", null]);
    },
  );

  await t.test("warns of an action, a resource and an endpoint, also if the request fails", async () => {
    assert.deepEqual(readWarnings(await api.post("/tickets/1/shut")), [at, null]);
    assert.deepEqual(readWarnings(await api.post("/tickets/1/open", {})), [null, null]);
    assert.deepEqual(readWarnings(await api.post("/tickets/1/open", { state: "x" })), [at, null]);
    assert.deepEqual(readWarnings(await api.post("/tickets/999/shut")), [at, null]);
    assert.deepEqual(readWarnings(await api.get("/hello")), [at, null]);
    const missing = await api.get("/old_tickets/9");
    assert.deepEqual([missing.status, ...readWarnings(missing)], [404, at, "Fri, 02 Jan 2026 00:00:00 GMT"]);
    assert.match(missing.headers.get("link")!, /rel="sunset"$/);
  });

  await t.test("lets pages of allowed origins read the warning", async () => {
    const open = await serve(t, {
      config: { mounts: [oldTickets] },
      settings: { LATCHKEY_ALLOWED_ORIGINS: "https://app.example" },
    });
    const answer = await open.get("/old_tickets", { origin: "https://app.example" });
    assert.match(answer.headers.get("access-control-expose-headers")!, /\bDeprecation\b.*\bSunset\b/);
  });
});

test("counts the uses of a deprecated field for each caller", async (t) => {
  const api = await start(t);
  const ann = await api.user("Ann");

  await api.get("/tickets?state=open");
  await api.get("/tickets?state=open", ann.headers);
  await api.get("/tickets?state=open", ann.headers);
  await api.get("/tickets");

  const { text: metrics } = await api.get("/metrics", api.admin);
  const series = metrics.split("\n").filter((line) => line.startsWith("latchkey_deprecated_uses_total{"));
  assert.deepEqual(series, [
    'latchkey_deprecated_uses_total{what="field state",route="/tickets",caller="nobody"} 1',
    `latchkey_deprecated_uses_total{what="field state",route="/tickets",caller="${ann.id}"} 2`,
  ]);
  const requests = api.observed.flatMap((each) => (each.kind === "request" ? [each.deprecated] : []));
  assert.equal(requests.filter((used) => used.includes("field state")).length, 3);
});

test("serves a deprecated part after its sunset, and logs the sunset at startup", async (t) => {
  const api = await start(t);

  assert.equal((await api.get("/old_tickets")).status, 200);
  const notices = api.observed.flatMap((each) => (each.kind === "notice" ? [each.message] : []));
  assert.deepEqual(
    notices.filter((message) => message.includes("sunset")),
    [
      "The sunset of the resource /old_tickets was on 2026-01-02, but it is still served. Remove it, or set a later sunset.",
    ],
  );
});

test("names deprecated parts in the API's description", async (t) => {
  const api = await start(t);
  const { json } = await api.get("/openapi.json");

  const { state } = json.components.schemas.TicketDraft.properties;
  assert.deepEqual(
    [state.deprecated, state["x-deprecated-since"], state["x-sunset"]],
    [true, "2026-01-01", "2027-01-01"],
  );
  assert.equal(state.description, "Deprecated since 2026-01-01, until 2027-01-01: https://example.org/state");
  const { parameters } = json.paths["/tickets"].get;
  const going = parameters.flatMap((each: { name: string; deprecated?: boolean }) =>
    each.deprecated === true ? [each.name] : [],
  );
  assert.deepEqual(going, ["title", "state"]);
  assert.equal(json.paths["/old_tickets"].post.deprecated, true);
  const { headers } = json.paths["/old_tickets"].post.responses[201];
  assert.deepEqual(Object.keys(headers).slice(-2), ["Deprecation", "Sunset"]);
  assert.equal(json.paths["/tickets/{id}/shut"].post.deprecated, true);
  assert.equal(json.paths["/hello"].get.deprecated, true);
  assert.equal(json.paths["/tickets"].post.deprecated, undefined);
  const page = await api.get("/docs/createOldTicket", { accept: "text/html" });
  assert.match(page.text, /Deprecated since 2026-01-01, until 2026-01-02/);
});

test("reports the mistakes of a deprecation in every place where it may be declared", () => {
  const rows: readonly (readonly [declared: unknown, message: RegExp])[] = [
    ["soon", /it has to be an object/],
    [{}, /since is missing/],
    [{ since: "2026-02-31" }, /since is '2026-02-31'; it has to be a day/],
    [{ since, sunset: "2025-12-31" }, /sunset '2025-12-31' is before since '2026-01-01'/],
    [{ since: 7, sunset: "x", lnik: "y" }, /there is no option lnik.*since is 7.*sunset is 'x'/s],
    [{ since, link: "example.org" }, /link is 'example.org'; it has to be an address/],
    [{ since, link: "//example.org" }, /link is/],
    [{ since, link: 'https://example.org/">' }, /link is/],
    [{ since, link: "javascript:alert(1)" }, /link is/],
  ];
  for (const [declared, message] of rows) {
    const deprecated = declared as Deprecation;
    const wrong = (make: () => unknown): void =>
      assert.throws(make, (error: unknown) => {
        assert.ok(error instanceof DeclarationError);
        assert.match(error.message, message);
        return true;
      });
    wrong(() => defineResource({ name: "a", fields: { b: text({ deprecated }) } }));
    wrong(() =>
      defineResource({ name: "a", fields: { b: text() }, filters: { b: { operators: ["eq"], deprecated } } }),
    );
    wrong(() => mount(ticket, { permission: anyone, deprecated }));
    wrong(() =>
      mount(ticket, { permission: anyone, actions: { go: { permission: anyone, deprecated, handle: () => {} } } }),
    );
  }
});
