import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  administrator,
  anyOf,
  authenticated,
  caller,
  decimal,
  defineResource,
  enumeration,
  integer,
  mount,
  owner,
  problem,
  text,
} from "../../src/door/index.ts";
import { DeclarationError, olderShape, updatedAt, type Mount, type Written } from "../../src/door/resources.ts";
import { readLinks } from "../harness/own-service.ts";
import { serve, type API } from "../harness/serve.ts";

const ticket = defineResource({
  name: "ticket",
  fields: {
    title: text({ maxLength: 100, unique: true }),
    status: enumeration(["open", "closed"], { default: "open" }),
    price: decimal({ scale: 2, maximum: "9999.99" }),
    currency: enumeration(["EUR", "USD"]),
    owner_id: integer({ default: caller }),
    note: text({ optional: true }),
    changed_at: updatedAt(),
  },
  filters: { status: ["eq", "in"], price: ["eq", "in", "gt"], title: ["eq", "starts"], note: ["null"], id: ["gt"] },
  sorts: ["title", "price"],
  search: ["title"],
  check: ({ status, note }) =>
    status === "closed" && note === "open" ? [{ pointer: "/status", code: "odd", detail: "It cannot be closed." }] : [],
});
const written: Written[] = [];
const tickets = mount(ticket, {
  permission: {
    list: authenticated,
    read: authenticated,
    create: authenticated,
    update: ours(),
    replace: ours(),
    delete: ours(),
  },
  arrays: true,
  beforeWrite: ({ draft }) => {
    if (draft !== null && draft.values.title === "no")
      throw problem("invalid", { issues: [{ pointer: "/title", code: "no", detail: "No." }] });
    return {};
  },
  afterWrite: (each) => void written.push(each as unknown as Written),
  actions: { shut: { permission: authenticated, handle: () => ({ values: { status: "closed" } }) } },
});
const line = defineResource({ name: "line", within: ticket, fields: { product: text(), count: integer() } });
const lines = mount(line, { permission: authenticated });

const first = olderShape(tickets, {
  prefix: "/v1",
  fields: {
    subject: "title",
    state: "status",
    cents: {
      from: "price",
      as: integer({ minimum: 0, maximum: 999_999 }),
      show: (price) => Math.round(Number(price) * 100),
      read: (cents: number) => (cents / 100).toFixed(2),
    },
    shout: { from: "title", as: text(), show: (title) => title.toUpperCase() },
    changed: "changed_at",
  },
  defaults: { currency: "EUR" },
  deprecated: { since: "2026-01-01", sunset: "2026-12-01", link: "https://example.org/changes" },
});
const firstLines = olderShape(lines, { prefix: "/v1", fields: { name: "product", count: "count" } });

function ours() {
  return anyOf(owner("owner_id"), administrator);
}

async function start(t: TestContext): Promise<API> {
  return serve(t, { config: { mounts: [tickets, lines, first, firstLines] } });
}

test("serves an older shape of a resource from its table", async (t) => {
  const api = await start(t);
  const ann = await api.user("Ann");
  const ben = await api.user("Ben");
  const shown = (json: Record<string, unknown>): unknown[] => [
    json["id"],
    json["subject"],
    json["state"],
    json["cents"],
    json["shout"],
  ];

  await t.test("creates, reads, replaces, changes and deletes by the names of the older shape", async () => {
    const made = await api.post("/v1/tickets", { subject: "A", cents: 1250 }, ann.headers);
    assert.deepEqual([made.status, made.headers.get("location")], [201, "/v1/tickets/1"], made.text);
    assert.deepEqual(Object.keys(made.json), ["id", "subject", "state", "cents", "shout", "changed"]);
    assert.deepEqual(shown(made.json), [1, "A", "open", 1250, "A"]);
    const newer = await api.get("/tickets/1", ann.headers);
    assert.deepEqual([newer.json.price, newer.json.currency, newer.json.owner_id], ["12.50", "EUR", ann.id]);
    await api.patch("/tickets/1", { note: "seen", currency: "USD" }, ann.headers);

    const replaced = await api.put("/v1/tickets/1", { subject: "Aa", cents: 99 }, ann.headers);
    assert.deepEqual([replaced.status, ...shown(replaced.json)], [200, 1, "Aa", "open", 99, "AA"], replaced.text);
    const after = await api.get("/tickets/1", ann.headers);
    assert.deepEqual([after.json.note, after.json.currency, after.json.price], ["seen", "USD", "0.99"]);

    const changed = await api.patch("/v1/tickets/1", { state: "closed" }, ann.headers);
    assert.deepEqual(shown(changed.json), [1, "Aa", "closed", 99, "AA"]);
    const patched = await api.patch(
      "/v1/tickets/1",
      [
        { op: "test", path: "/cents", value: 99 },
        { op: "replace", path: "/cents", value: 100 },
      ],
      { ...ann.headers, "content-type": "application/json-patch+json" },
    );
    assert.deepEqual([patched.status, ...shown(patched.json)], [200, 1, "Aa", "closed", 100, "AA"], patched.text);
    assert.deepEqual((await api.get("/v1/tickets/1", ann.headers)).json, patched.json);
    assert.deepEqual((await api.get("/v1/tickets/1?fields=state,cents", ann.headers)).json, {
      state: "closed",
      cents: 100,
    });

    const xml = await api.get("/v1/tickets/1", { ...ann.headers, accept: "application/xml" });
    assert.match(xml.text, /<ticket><id>1<\/id><subject>Aa<\/subject><state>closed<\/state><cents>100<\/cents>/);
    const sent = "<ticket><subject>X</subject><cents>5</cents></ticket>";
    const fromXML = await api.post("/v1/tickets", sent, { ...ann.headers, "content-type": "application/xml" });
    assert.deepEqual([fromXML.status, fromXML.json.cents], [201, 5], fromXML.text);
    assert.equal((await api.delete("/v1/tickets/2", ann.headers)).status, 204);
    assert.equal((await api.get("/tickets/2", ann.headers)).status, 404);
  });

  await t.test(
    "applies permissions, preconditions, hooks and idempotency keys of the newer shape to an older shape",
    async () => {
      const { headers, json } = await api.get("/v1/tickets/1", ben.headers);
      // Both tags are of the same state of the record. Only the part after the dot differs, because this part depends
      // on the shape.
      const tags = [headers, (await api.get("/tickets/1", ben.headers)).headers].map((each) => each.get("etag")!);
      assert.equal(tags[0]!.split(".")[0], tags[1]!.split(".")[0]);
      assert.notEqual(tags[0], tags[1]);
      assert.equal((await api.patch("/v1/tickets/1", { state: "open" }, ben.headers)).status, 403);
      assert.equal((await api.get("/v1/tickets/1")).status, 401);
      const match = { ...ann.headers, "if-match": headers.get("etag")! };
      assert.equal((await api.patch("/tickets/1", { note: null }, match)).status, 200);
      assert.equal((await api.patch("/v1/tickets/1", { state: "open" }, match)).status, 412);
      assert.equal(
        (await api.get("/v1/tickets/1", { ...ann.headers, "if-none-match": headers.get("etag")! })).status,
        200,
      );
      const shut = await api.post("/v1/tickets/1/shut", undefined, ann.headers);
      assert.deepEqual([shut.status, ...shown(shut.json)], [200, 1, "Aa", "closed", 100, "AA"]);
      const key = { ...ann.headers, "idempotency-key": "first-of-them" };
      const once = await api.post("/v1/tickets", { subject: "K", cents: 1 }, key);
      const twice = await api.post("/v1/tickets", { subject: "K", cents: 1 }, key);
      assert.deepEqual([twice.status, twice.headers.get("idempotency-replayed"), twice.json], [201, "true", once.json]);
      assert.equal((await api.post("/tickets", { title: "K", price: "1", currency: "EUR" }, key)).status, 422);
      const { after } = written.at(-1)! as unknown as { after: Record<string, unknown> };
      assert.deepEqual([after["title"], after["price"]], ["K", "0.01"]);
      assert.equal((await api.delete(`/v1/tickets/${once.json.id}`, ann.headers)).status, 204);
      assert.equal(json.id, 1);
    },
  );

  await t.test("reports mistakes with the pointers of the older shape", async () => {
    const rows: readonly (readonly [body: unknown, pointers: readonly string[]])[] = [
      [{}, ["/subject", "/cents"]],
      [{ subject: "B", cents: "x" }, ["/cents"]],
      [{ subject: "B", cents: -1, status: "open", colour: 1 }, ["/cents", "/status", "/colour"]],
      [{ subject: "B", cents: 1, shout: "B" }, ["/shout"]],
      [{ subject: "B", cents: null }, ["/cents"]],
      [{ subject: "B", cents: 1, state: "ajar" }, ["/state"]],
      [{ subject: "B", cents: 1, id: 7 }, ["/id"]],
      [{ subject: "B", cents: 1, changed: "2026-01-01T00:00:00Z" }, ["/changed"]],
      [{ subject: "no", cents: 1 }, ["/subject"]],
    ];
    for (const [body, pointers] of rows) {
      const { status, json } = await api.post("/v1/tickets", body, ann.headers);
      const foundPointers = (json.errors ?? []).map(({ pointer }: { pointer: string }) => pointer);
      assert.deepEqual([status, foundPointers.toSorted()], [400, pointers.toSorted()], JSON.stringify(body));
    }
    const taken = await api.post("/v1/tickets", { subject: "Aa", cents: 1 }, ann.headers);
    assert.deepEqual([taken.status, taken.json.errors[0].pointer], [409, "/subject"]);
    await api.patch("/tickets/1", { status: "open", note: "open" }, ann.headers);
    const odd = await api.patch("/v1/tickets/1", { state: "closed" }, ann.headers);
    assert.deepEqual([odd.status, odd.json.errors[0].pointer], [400, "/state"]);
    const several = await api.post("/v1/tickets", [{ subject: "C", cents: 1 }, { cents: 2 }], ann.headers);
    assert.deepEqual([several.status, several.json.errors[0].pointer], [400, "/1/subject"]);
  });
});

test("filters and sorts lists by the names of the older shape, with links under its prefix", async (t) => {
  const api = await start(t);
  const ann = await api.user("Ann");
  const bodies = [1, 2, 3, 4, 5].map((n) => ({
    subject: `T${n}`,
    cents: n * 100,
    state: n % 2 === 0 ? "closed" : "open",
  }));
  const made = await api.post("/v1/tickets", bodies, ann.headers);
  assert.deepEqual([made.status, made.json[4].cents], [201, 500], made.text);
  const cents = async (query: string): Promise<unknown> => {
    const { status, json, text: said } = await api.get(`/v1/tickets?${query}`, ann.headers);
    return status === 200 ? json.map((each: { cents: number }) => each.cents) : [status, said];
  };

  assert.deepEqual(await cents("state=closed"), [200, 400]);
  assert.deepEqual(await cents("cents=300"), [300]);
  assert.deepEqual(await cents("cents[in]=300,100"), [100, 300]);
  assert.deepEqual(await cents("sort=-subject&id[gt]=2"), [500, 400, 300]);
  assert.deepEqual(await cents("subject[starts]=T&search=t3"), [300]);
  for (const query of [
    "status=open",
    "price=1",
    "cents[gt]=1",
    "note[null]=true",
    "sort=cents",
    "sort=title",
    "fields=note",
    "expand=lines",
  ])
    assert.equal((await api.get(`/v1/tickets?${query}`, ann.headers)).status, 400, query);
  const page = await api.get("/v1/tickets?limit=2&sort=-subject&fields=id,cents", ann.headers);
  assert.deepEqual(page.json, [
    { id: 5, cents: 500 },
    { id: 4, cents: 400 },
  ]);
  const { next } = readLinks(page);
  assert.match(next!, /^\/v1\/tickets\?/);
  const second = await api.get(next!, ann.headers);
  assert.deepEqual(
    second.json.map(({ id }: { id: number }) => id),
    [3, 2],
  );
  assert.deepEqual((await api.get(readLinks(second)["prev"]!, ann.headers)).json, page.json);
  const where = { any: [{ state: { eq: "closed" } }, { not: { cents: { in: [100, 200, 500] } } }] };
  const answer = await api.ask("QUERY", "/v1/tickets", { body: { where, fields: "cents" }, headers: ann.headers });
  assert.deepEqual(answer.json, [{ cents: 200 }, { cents: 300 }, { cents: 400 }], answer.text);
  const csv = await api.get("/v1/tickets?limit=1&fields=id,subject,cents", { ...ann.headers, accept: "text/csv" });
  assert.equal(csv.text, "id,subject,cents\r\n1,T1,100\r\n");
  const changed = await api.patch("/v1/tickets", [{ id: 1, cents: 7 }], ann.headers);
  assert.deepEqual([changed.status, changed.json[0].cents], [200, 7], changed.text);

  const below = await api.post("/v1/tickets/1/lines", { name: "Key", count: 2 }, ann.headers);
  assert.deepEqual([below.status, below.headers.get("location")], [201, "/v1/tickets/1/lines/1"]);
  assert.deepEqual((await api.get("/v1/tickets/1/lines", ann.headers)).json, [{ id: 1, name: "Key", count: 2 }]);
  assert.deepEqual((await api.get("/tickets/1/lines/1", ann.headers)).json, { id: 1, product: "Key", count: 2 });
  assert.equal((await api.get("/v1/tickets/99/lines", ann.headers)).status, 404);

  const { headers } = await api.get("/v1/tickets", ann.headers);
  assert.deepEqual(
    [headers.get("deprecation"), headers.get("sunset")],
    ["@1767225600", "Tue, 01 Dec 2026 00:00:00 GMT"],
  );
});

test("shows an older shape in the description and in the console", async (t) => {
  const api = await start(t);
  await api.post("/tickets", { title: "A", price: "1", currency: "EUR" }, api.admin);
  const { json } = await api.get("/openapi.json");

  assert.deepEqual(Object.keys(json.components.schemas.V1Ticket.properties), [
    "id",
    "subject",
    "state",
    "cents",
    "shout",
    "changed",
  ]);
  assert.deepEqual(json.components.schemas.V1TicketDraft.required, ["subject", "cents"]);
  assert.equal(json.paths["/v1/tickets"].get.operationId, "listV1Tickets");
  assert.equal(json.paths["/v1/tickets"].get.deprecated, true);
  assert.equal(json.paths["/v1/tickets/{id}/shut"].post.operationId, "shutV1Ticket");
  for (const path of ["/v1/tickets", "/v1/tickets/1", "/"]) {
    const page = await api.get(path, { ...api.admin, accept: "text/html" });
    assert.equal(page.status, 200, path);
    if (path !== "/") assert.match(page.text, /deprecated since 2026-01-01, until 2026-12-01/, path);
  }
  assert.equal((await api.get("/", api.admin)).text.includes("/v1/tickets"), false);
});

test("refuses an invalid older shape, and names all mistakes", () => {
  const options = (more: object): never => ({ prefix: "/v1", fields: {}, ...more }) as never;
  const rows: readonly (readonly [Mount, never, readonly RegExp[]])[] = [
    [tickets, undefined as never, [/it needs \{ prefix/]],
    [{} as Mount, options({}), [/not a mount/]],
    [first, options({}), [/an older shape already/]],
    [tickets, options({ prefix: "v1" }), [/prefix is 'v1'/]],
    [tickets, options({ deprecated: {} }), [/since is missing/]],
    [
      tickets,
      options({ fields: { a: "titel", id: "title", "B-": "note", c: { from: "price" } }, defaults: { x: 1 } }),
      [
        /field a: there is no field titel.*did you mean title/,
        /field id/,
        /field B-/,
        /field c: as is missing/,
        /no field x/,
        /price is required/,
        /currency is required/,
      ],
    ],
    [
      tickets,
      options({ fields: { a: "title", b: "title", p: "price" }, defaults: { title: "", currency: "Mark" } }),
      [/field b: another field already sets title/, /callers send title/, /currency cannot have this value/],
    ],
  ];
  for (const [newer, wrong, messages] of rows)
    assert.throws(
      () => olderShape(newer, wrong),
      (error: unknown) => {
        assert.ok(error instanceof DeclarationError, String(error));
        for (const message of messages) assert.match(error.message, message);
        return true;
      },
    );
});
