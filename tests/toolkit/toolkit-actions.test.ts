import assert from "node:assert/strict";
import { test } from "node:test";
import { openapiDocument } from "../../src/door/features.ts";
import {
  administrator,
  anyOf,
  anyone,
  createService,
  decimal,
  defineResource,
  enumeration,
  integer,
  mount,
  owner,
  problem,
  text,
} from "../../src/door/index.ts";
import { DeclarationError, type MountOptions, type Written } from "../../src/door/resources.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { ownService, visitor, type Own } from "../harness/own-service.ts";

const orders = defineResource({
  name: "order",
  fields: {
    user_id: integer({ default: ({ identity }) => identity?.id ?? 0 }),
    status: enumeration(["open", "paid", "cancelled"], { default: "open" }),
    reason: text({ optional: true }),
    secret: text({ writeOnly: true, optional: true }),
  },
  check: ({ status, reason }) =>
    status === "cancelled" && reason === null ? [{ pointer: "/reason", code: "required", detail: "Why?" }] : [],
});
const events = mount(defineResource({ name: "event", fields: { line: text({ unique: true }) } }), {
  permission: { list: anyone },
});
const mine = anyOf(administrator, owner("user_id"));

/** Mounts orders with every kind of action. Adds each write to `writes`. */
function shop(writes: Written[] = []) {
  return mount(orders, {
    permission: mine,
    afterWrite: (written) => void writes.push(written),
    actions: {
      cancel: {
        permission: mine,
        body: { reason: text({ maxLength: 100 }), note: text({ optional: true }) },
        description: "Cancels an order that is open",
        problems: ["conflict"],
        handle({ record, draft, context }) {
          const { status, user_id } = record;
          const { reason, note } = draft;
          reason satisfies string;
          note satisfies string | null | undefined;
          user_id satisfies number;
          if (status !== "open") throw problem("conflict", { detail: "Only open orders are cancelled." });
          const line = `${context.requireIdentity().username} cancelled ${record.id}`;
          return {
            values: { status: "cancelled", reason },
            changes: [{ kind: "insert", collection: events.collection, values: { line } }],
          };
        },
      },
      total: {
        permission: mine,
        method: "GET",
        answer: { amount: decimal({ scale: 2, maximum: "999999.99" }), of: integer() },
        handle: ({ record }) => ({ answer: { amount: "12.5", of: record.id } }),
      },
      quote: {
        permission: mine,
        body: { discount: integer({ minimum: 0, maximum: 100, default: 0 }) },
        answer: { amount: decimal({ scale: 2, maximum: "999999.99" }) },
        handle: ({ draft }) => ({ answer: { amount: `${100 - draft.discount}` }, values: { reason: "quoted" } }),
      },
      ping: { permission: mine, answer: "nothing", handle: () => ({ values: { reason: "ping" } }) },
      peek: { permission: mine, handle: () => undefined },
      "close-all": {
        on: "collection",
        permission: administrator,
        body: { reason: text() },
        answer: { closed: integer() },
        async handle({ draft, collection, context }) {
          const open = { column: "status", operator: "eq", value: "open" } as const;
          const closed = await context.store.count(collection, open);
          const values = { status: "cancelled", reason: draft.reason };
          return {
            changes: [{ kind: "updateAll", collection, where: open, values }],
            answer: { closed },
          };
        },
      },
    },
  });
}

async function open(t: Parameters<typeof ownService>[0], writes: Written[] = []): Promise<Own> {
  const own = await ownService(t, { mounts: [shop(writes), events] });
  await own.ask("POST", "/orders", { as: "ada", body: { secret: "s" } });
  await own.ask("POST", "/orders", { as: "ben", body: {} });
  return own;
}

test("writes the record and the other changes that an action returns in one transaction", async (t) => {
  const writes: Written[] = [];
  const { ask, get } = await open(t, writes);
  const before = await get("/orders/1", { as: "ada" });
  writes.length = 0;

  const reply = await ask("POST", "/orders/1/cancel", { as: "ada", body: { reason: "late" } });

  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(reply.json, { id: 1, user_id: 2, status: "cancelled", reason: "late" });
  assert.equal(reply.headers.get("content-location"), "/orders/1");
  assert.notEqual(reply.headers.get("etag"), before.headers.get("etag"));
  assert.equal(reply.headers.get("etag"), (await get("/orders/1", { as: "ada" })).headers.get("etag"));
  assert.deepEqual((await get("/events")).json, [{ id: 1, line: "user 2 cancelled 1" }]);
  assert.equal(writes.length, 1);
  assert.deepEqual(
    [writes[0]!.kind, writes[0]!.action, writes[0]!.id, writes[0]!.before?.["secret"], writes[0]!.after?.["status"]],
    ["action", "cancel", 1, "s", "cancelled"],
  );
  const again = await ask("POST", "/orders/1/cancel", { as: "ada", body: { reason: "late" } });
  assert.equal(again.status, 409);
  assert.equal(again.json.detail, "Only open orders are cancelled.");
});

test("writes nothing of an action if one of its changes fails", async (t) => {
  const { ask, get } = await open(t);
  await ask("POST", "/orders/1/cancel", { as: "ada", body: { reason: "x" } });
  await ask("PATCH", "/orders/1", { as: "ada", body: { status: "open" } });

  const reply = await ask("POST", "/orders/1/cancel", { as: "ada", body: { reason: "y" } });

  assert.equal(reply.json.code, "taken");
  assert.equal((await get("/orders/1", { as: "ada" })).json.status, "open");
});

test("checks the permission before it runs an action, and answers 404 for another user's order", async (t) => {
  const { ask } = await open(t);
  const body = { reason: "x" };
  const rows: readonly [string | undefined, string, number][] = [
    [undefined, "/orders/1/cancel", 401],
    ["ben", "/orders/1/cancel", 404],
    ["ben", "/orders/9/cancel", 404],
    ["ben", "/orders/close-all", 403],
    [undefined, "/orders/close-all", 401],
    ["ada", "/orders/1/cancel", 200],
    ["root", "/orders/2/cancel", 200],
    ["root", "/orders/close-all", 200],
  ];
  for (const [as, path, status] of rows) {
    const reply = await ask("POST", path, { ...(as === undefined ? {} : { as }), body });
    assert.equal(reply.status, status, `${as ?? "nobody"} ${path} ${reply.text}`);
  }
});

test("checks the body of an action as strictly as the body of any write", async (t) => {
  const { ask } = await open(t);
  const cases: readonly [unknown, Record<string, string>, number, string][] = [
    [{}, {}, 400, "invalid"],
    ["", {}, 400, "malformed"],
    [{ reason: "x", more: 1 }, {}, 400, "invalid"],
    [{ reason: "x", id: 1 }, {}, 400, "invalid"],
    [{ reason: 7 }, {}, 400, "invalid"],
    ["[]", {}, 400, "invalid"],
    ['{"reason":"x","reason":"y"}', {}, 400, "malformed"],
    ["{", {}, 400, "malformed"],
    ["reason=x", { "content-type": "application/x-www-form-urlencoded" }, 415, "unsupported_media_type"],
    [{ reason: "x".repeat(1024 * 1024) }, {}, 413, "content_too_large"],
    ["<order><reason>x</reason></order>", { "content-type": "application/xml" }, 400, "malformed"],
  ];
  for (const [body, headers, status, code] of cases) {
    const reply = await ask("POST", "/orders/1/cancel", { as: "ada", body, headers });
    assert.deepEqual([reply.status, reply.json.code], [status, code], String(body).slice(0, 50));
  }
  assert.equal((await ask("POST", "/orders/1/ping", { as: "ada", body: { x: 1 } })).status, 400);
  assert.equal((await ask("POST", "/orders/1/ping?x=1", { as: "ada" })).status, 400);
  const sent = "<cancel><reason>x</reason></cancel>";
  const xml = await ask("POST", "/orders/1/cancel", {
    as: "ada",
    body: sent,
    headers: { "content-type": "application/xml" },
  });
  assert.equal(xml.status, 200, xml.text);
});

test("answers an action with the record, with other fields, or with an empty body", async (t) => {
  const { ask, get } = await open(t);

  const total = await get("/orders/1/total", { as: "ada" });
  assert.deepEqual([total.status, total.json], [200, { amount: "12.50", of: 1 }]);
  const tag = total.headers.get("etag")!;
  assert.equal((await get("/orders/1/total", { as: "ada", headers: { "if-none-match": tag } })).status, 304);
  assert.equal((await ask("HEAD", "/orders/1/total", { as: "ada" })).status, 200);
  assert.equal((await get("/orders/1/total", { as: "ben" })).status, 404);
  const xml = await get("/orders/1/total", { as: "ada", headers: { accept: "application/xml" } });
  assert.match(xml.text, /<total><amount>12.50<\/amount><of>1<\/of><\/total>/);
  assert.deepEqual((await ask("POST", "/orders/1/quote", { as: "ada" })).json, { amount: "100.00" });
  const pinged = await ask("POST", "/orders/1/ping", { as: "ada" });
  assert.deepEqual([pinged.status, pinged.text], [204, ""]);
  const peeked = await ask("POST", "/orders/1/peek", { as: "ada" });
  assert.deepEqual([peeked.status, peeked.json.reason], [200, "ping"]);
  const unchanged = await get("/orders/1", { as: "ada" });
  assert.equal(peeked.headers.get("etag"), unchanged.headers.get("etag"));
});

test("applies preconditions and preferences to an action as to any write", async (t) => {
  const { ask, get } = await open(t);
  const tag = (await get("/orders/1", { as: "ada" })).headers.get("etag")!;
  const cancel = (headers: Record<string, string>) =>
    ask("POST", "/orders/1/cancel", { as: "ada", body: { reason: "x" }, headers });

  assert.equal((await cancel({ "if-match": '"0"' })).status, 412);
  assert.equal((await cancel({ "if-none-match": tag })).status, 412);
  assert.equal((await cancel({ "if-none-match": "*" })).status, 412);
  assert.equal((await cancel({ accept: "text/csv" })).status, 406);
  const reply = await cancel({ "if-match": tag, prefer: "return=minimal" });
  assert.deepEqual([reply.status, reply.text], [204, ""]);
  assert.equal(reply.headers.get("etag"), (await get("/orders/1", { as: "ada" })).headers.get("etag"));
  const headers = { "if-match": '"nothing"' };
  assert.equal((await ask("POST", "/orders/close-all", { as: "root", body: { reason: "x" }, headers })).status, 412);
  // The answer is 412 and not 409, because the precondition is checked before the handler refuses an order that is not
  // open.
  assert.equal((await cancel({ "if-match": tag })).status, 412);
});

test("runs an action once if a client repeats it with the same idempotency key, also concurrently", async (t) => {
  const writes: Written[] = [];
  const { ask, get } = await open(t, writes);
  writes.length = 0;
  const headers = { "idempotency-key": "one-and-only" };
  const cancel = () => ask("POST", "/orders/1/cancel", { as: "ada", body: { reason: "x" }, headers });

  const replies = await Promise.all(Array.from({ length: 8 }, cancel));

  assert.deepEqual(new Set(replies.map(({ status, text: sent }) => `${status} ${sent}`)).size, 1, replies[0]!.text);
  assert.equal(replies.filter(({ headers: got }) => got.get("idempotency-replayed") === "true").length, 7);
  assert.equal((await get("/events")).json.length, 1);
  assert.equal(writes.length, 1);
  const other = await ask("POST", "/orders/1/cancel", { as: "ada", body: { reason: "y" }, headers });
  assert.equal(other.status, 422);
  for (const path of ["/orders/2/quote", "/orders/close-all"]) {
    const key = { "idempotency-key": `key for ${path}`.replaceAll(" ", "-") };
    const body = path.endsWith("quote") ? { discount: 7 } : { reason: "z" };
    const first = await ask("POST", path, { as: "root", body, headers: key });
    const second = await ask("POST", path, { as: "root", body, headers: key });
    assert.equal(first.status, 200, first.text);
    assert.deepEqual([second.status, second.text], [first.status, first.text]);
    assert.equal(second.headers.get("idempotency-replayed"), "true");
  }
  const free = await ask("POST", "/orders/1/cancel", {
    as: "ada",
    body: { reason: "x" },
    headers: { "idempotency-key": "after-an-error" },
  });
  assert.equal(free.status, 409);
});

test("applies concurrent actions to the latest state of a record, and answers 404 after a deletion", async (t) => {
  const counters = defineResource({ name: "counter", fields: { count: integer({ default: 0 }) } });
  const { ask, get } = await ownService(t, {
    mounts: [
      mount(counters, {
        permission: anyone,
        actions: {
          add: {
            permission: anyone,
            async handle({ record, context }) {
              await context.store.find(events.collection, 1);
              return { values: { count: record.count + 1 } };
            },
          },
        },
      }),
      events,
    ],
  });
  await ask("POST", "/counters", { body: {} });

  await Promise.all(Array.from({ length: 20 }, () => ask("POST", "/counters/1/add")));

  assert.equal((await get("/counters/1")).json.count, 20);
  const replies = await Promise.all([
    ...Array.from({ length: 5 }, () => ask("POST", "/counters/1/add")),
    ask("DELETE", "/counters/1"),
    ...Array.from({ length: 5 }, () => ask("POST", "/counters/1/add")),
  ]);
  for (const { status, text: sent } of replies) assert.ok([200, 204, 404].includes(status), `${status} ${sent}`);
  assert.equal((await ask("POST", "/counters/1/add")).status, 404);
});

test("reports an impossible result of a handler as a fault, and writes nothing", async (t) => {
  const nonsense: readonly unknown[] = [
    7,
    "x",
    [],
    { value: {} },
    { values: { colour: "red" } },
    { values: { id: 7 } },
    { values: { status: "gone" } },
    { values: { user_id: "2" } },
    { values: { status: null } },
    { values: [] },
    { changes: {} },
    { changes: [7] },
    { changes: [{ kind: "nonsense", collection: events.collection }] },
    { answer: { x: 1 } },
  ];
  let actionResult: unknown;
  let times = 0;
  const { ask, get, observed } = await ownService(t, {
    mounts: [
      mount(orders, {
        permission: anyone,
        actions: {
          bad: {
            permission: anyone,
            handle() {
              times++;
              if (actionResult instanceof Error) throw actionResult;
              return actionResult as {};
            },
          },
          hang: { permission: anyone, handle: () => new Promise<{}>(() => undefined) },
          lost: {
            permission: anyone,
            handle() {
              times++;
              const missing = {
                kind: "update",
                collection: events.collection,
                key: 999,
                values: { line: "x" },
              } as const;
              return { values: { reason: "y" }, changes: [missing] };
            },
          },
        },
      }),
      events,
    ],
  });
  await ask("POST", "/orders", { body: {} });
  const before = await get("/orders/1");

  for (actionResult of [...nonsense, new Error("thrown")]) {
    const reply = await ask("POST", "/orders/1/bad");
    assert.equal(reply.status, 500, JSON.stringify(actionResult));
  }
  void ask("POST", "/orders/1/hang");
  times = 0;
  assert.equal((await ask("POST", "/orders/1/lost")).status, 409);
  assert.ok(times <= 100, String(times));

  assert.deepEqual(await get("/orders/1").then((reply) => [reply.text, reply.headers.get("etag")]), [
    before.text,
    before.headers.get("etag"),
  ]);
  assert.equal(observed.filter(({ kind }) => kind === "fault").length, nonsense.length + 1);
  actionResult = { values: { status: "cancelled" } };
  const broken = await ask("POST", "/orders/1/bad");
  assert.deepEqual([broken.status, broken.json.errors[0].pointer], [400, "/reason"]);
});

test("lets an action delete its record, and answers a repeat of the request with the stored outcome", async (t) => {
  const slips = defineResource({ name: "slip", fields: { line: text() } });
  const { ask, get } = await ownService(t, {
    mounts: [
      mount(slips, {
        permission: anyone,
        actions: {
          consume: {
            permission: anyone,
            handle: ({ record: { id }, collection }) => ({ changes: [{ kind: "delete", collection, key: id }] }),
          },
          tell: {
            permission: anyone,
            answer: { line: text() },
            handle: ({ record: { id, line }, collection }) => ({
              changes: [{ kind: "delete", collection, key: id }],
              answer: { line },
            }),
          },
        },
      }),
    ],
  });
  for (const line of ["a", "b"]) await ask("POST", "/slips", { body: { line } });

  const rows: readonly [string, number, string][] = [
    ["/slips/1/consume", 204, ""],
    ["/slips/2/tell", 200, '{"line":"b"}'],
  ];
  for (const [path, status, body] of rows) {
    const headers = { "idempotency-key": path };
    for (const replayed of [null, "true"]) {
      const reply = await ask("POST", path, { headers });
      assert.deepEqual([reply.status, reply.text, reply.headers.get("idempotency-replayed")], [status, body, replayed]);
    }
    assert.equal((await ask("POST", path)).status, 404);
  }
  assert.deepEqual((await get("/slips")).json, []);
});

test("deletes the stored answers of actions on a personal record together with the record", async (t) => {
  const persons = defineResource({ name: "person", fields: { line: text() } });
  const { ask } = await ownService(t, {
    mounts: [
      mount(persons, {
        permission: anyone,
        personal: true,
        beforeWrite({ kind, id }) {
          if (kind !== "delete") return {};
          return {
            changes: [
              { kind: "forget", collection: { name: "persons", key: "integer", columns: [] }, key: id, caller: "" },
            ],
          };
        },
        actions: {
          tell: {
            permission: anyone,
            answer: { line: text() },
            handle: ({ record: { line } }) => ({ values: { line: `${line}!` }, answer: { line } }),
          },
        },
      }),
    ],
  });
  await ask("POST", "/persons", { body: { line: "Ada" } });
  const headers = { "idempotency-key": "tell-of-ada" };
  assert.equal((await ask("POST", "/persons/1/tell", { headers })).text, '{"line":"Ada"}');
  assert.equal((await ask("POST", "/persons/1/tell", { headers })).text, '{"line":"Ada"}');

  assert.equal((await ask("DELETE", "/persons/1")).status, 204);

  const repeated = await ask("POST", "/persons/1/tell", { headers });
  assert.deepEqual([repeated.status, repeated.text, repeated.headers.get("idempotency-replayed")], [204, "", "true"]);
});

test("serves actions of nested records only below their parents", async (t) => {
  const shops = defineResource({ name: "shop", fields: { user_id: integer() } });
  const shelves = defineResource({
    name: "shelf",
    plural: "shelves",
    within: shops,
    fields: { full: integer({ default: 0 }) },
  });
  const { ask } = await ownService(t, {
    mounts: [
      mount(shops, { permission: { create: anyone, read: anyone, update: owner("user_id") } }),
      mount(shelves, {
        permission: anyone,
        actions: {
          fill: { permission: anyone, handle: () => ({ values: { full: 1 } }) },
          sweep: { on: "collection", permission: anyone, handle: () => ({}) },
          look: {
            permission: anyone,
            method: "GET",
            answer: { full: integer() },
            handle: ({ record: { full } }) => ({ answer: { full } }),
          },
        },
      }),
    ],
  });
  for (const user_id of [2, 3]) await ask("POST", "/shops", { body: { user_id } });
  assert.equal((await ask("POST", "/shops/1/shelves", { as: "ada", body: {} })).status, 201);

  const rows: readonly [string, string, string, number][] = [
    ["ada", "POST", "/shops/1/shelves/1/fill", 200],
    ["ada", "POST", "/shops/2/shelves/1/fill", 403],
    ["ben", "POST", "/shops/2/shelves/1/fill", 404],
    ["ben", "POST", "/shops/1/shelves/1/fill", 403],
    ["ben", "GET", "/shops/1/shelves/1/look", 200],
    ["ben", "GET", "/shops/2/shelves/1/look", 404],
    ["ben", "POST", "/shops/1/shelves/sweep", 403],
    ["ada", "POST", "/shops/1/shelves/sweep", 204],
    ["ada", "POST", "/shops/9/shelves/sweep", 404],
  ];
  for (const [as, method, path, status] of rows)
    assert.equal((await ask(method, path, { as })).status, status, `${as} ${method} ${path}`);
});

test("answers 405 to a wrong method of an action, and names the accepted media types to OPTIONS", async (t) => {
  const { ask } = await open(t);

  for (const path of ["/orders/1/cancel", "/orders/close-all"]) {
    const reply = await ask("GET", path, { as: "root" });
    assert.equal(reply.status, 405);
    assert.match(reply.headers.get("allow")!, /POST/);
    const options = await ask("OPTIONS", path);
    assert.equal(options.headers.get("accept-post"), "application/json, application/xml");
  }
  assert.equal((await ask("POST", "/orders/0/cancel", { as: "root", body: { reason: "x" } })).status, 404);
  assert.equal((await ask("POST", "/orders/1/cancel/", { as: "root", body: { reason: "x" } })).status, 200);
});

test("does not start with a wrong declaration of an action, and says how to fix it", async () => {
  const wrong: readonly [Record<string, unknown>, RegExp][] = [
    [{ cancel: { handle: () => ({}) } }, /action cancel: permission is missing; it has to be a permission/],
    [{ cancel: { permission: anyone } }, /action cancel: handle is missing; it has to be a function/],
    [{ cancel: { permission: anyone, handle: () => ({}), boddy: {} } }, /there is no option boddy; did you mean body/],
    [{ Cancel: { permission: anyone, handle: () => ({}) } }, /action Cancel: the name must be lower-case words/],
    [{ "{id}": { permission: anyone, handle: () => ({}) } }, /the name must be lower-case words/],
    [{ cancel: 7 }, /action cancel: it is 7, not an action/],
    [
      { a: { permission: anyone, method: "PUT", handle: () => ({}) } },
      /method is 'PUT'; it has to be one of POST, GET/,
    ],
    [{ a: { permission: anyone, body: { X: text() }, handle: () => ({}) } }, /body: field X: the name must be/],
    [{ a: { permission: anyone, body: { x: text({ unique: true }) }, handle: () => ({}) } }, /leave unique out/],
    [{ a: { permission: anyone, method: "GET", handle: () => ({}) } }, /declare the fields of its answer/],
    [{ a: { permission: owner("user_id"), on: "collection", handle: () => ({}) } }, /narrows to rows/],
    [
      { a: { permission: anyone, on: "collection", answer: "record", handle: () => ({}) } },
      /on the collection has no record/,
    ],
    [{ a: { permission: owner("ownr_id"), handle: () => ({}) } }, /narrows by the column ownr_id/],
  ];
  for (const [actions, message] of wrong) {
    const options = { permission: anyone, actions } as unknown as MountOptions<typeof orders>;
    assert.throws(
      () => mount(orders, options as never),
      (error) => error instanceof DeclarationError && message.test(error.message),
      String(message),
    );
  }
  const items = defineResource({ name: "item", within: orders, fields: { product: text() } });
  const clashing = [
    mount(orders, { permission: anyone, actions: { items: { permission: anyone, handle: () => ({}) } } }),
    mount(items, { permission: { list: anyone } }),
  ];
  await assert.rejects(
    createService({ store: sqliteStore({ path: ":memory:" }), mounts: clashing }),
    /the action items of \/orders and a resource within it have the same path/,
  );
});

test("does not compile a wrong declaration of an action", () => {
  const permission = anyone;
  const never = (): void => {
    // @ts-expect-error -- the permission is missing
    mount(orders, { permission, actions: { a: { handle: () => ({}) } } });
    // @ts-expect-error -- there is no such field
    mount(orders, { permission, actions: { a: { permission, handle: ({ record }) => void record.titel } } });
    // @ts-expect-error -- there is no such column
    mount(orders, { permission, actions: { a: { permission, handle: () => ({ values: { titel: "x" } }) } } });
    // @ts-expect-error -- a status is one of three
    mount(orders, { permission, actions: { a: { permission, handle: () => ({ values: { status: "gone" } }) } } });
    // @ts-expect-error -- an action returns no member `value`
    mount(orders, { permission, actions: { a: { permission, handle: () => ({ value: { status: "open" } }) } } });
    const answer = { total: integer() };
    // @ts-expect-error -- a total is a number
    mount(orders, { permission, actions: { a: { permission, answer, handle: () => ({ answer: { total: "1" } }) } } });
    // @ts-expect-error -- there is no such column to narrow by
    mount(orders, { permission, actions: { a: { permission: owner("ownr_id"), handle: () => ({}) } } });
    // @ts-expect-error -- the collection has no record
    mount(orders, { permission, actions: { a: { on: "collection", permission, handle: (call) => void call.record } } });
    const body = { reason: text() };
    // @ts-expect-error -- there is no such member of the body
    mount(orders, { permission, actions: { a: { permission, body, handle: ({ draft }) => void draft.raeson } } });
    // @ts-expect-error -- the identity may be null
    mount(orders, { permission, actions: { a: { permission, handle: ({ context }) => void context.identity.id } } });
  };

  assert.equal(typeof never, "function");
});

test("describes every action in the API's documentation", async () => {
  const document = await openapiDocument({ title: "Shop", version: "1", schemes: [visitor], mounts: [shop()] });
  const paths = document["paths"] as Record<string, Record<string, Operation>>;
  const cancel = paths["/orders/{id}/cancel"]!["post"]!;

  assert.deepEqual(Object.keys(paths), [
    "/orders",
    "/orders/{id}",
    "/orders/{id}/cancel",
    "/orders/{id}/total",
    "/orders/{id}/quote",
    "/orders/{id}/ping",
    "/orders/{id}/peek",
    "/orders/close-all",
  ]);
  assert.deepEqual([cancel.operationId, cancel.summary], ["cancelOrder", "Cancels an order that is open"]);
  const { schema } = cancel.requestBody!.content["application/json"]!;
  assert.deepEqual(schema["required"], ["reason"]);
  assert.deepEqual(Object.keys(schema["properties"] as object), ["reason", "note"]);
  assert.deepEqual(
    ["200", "204", "400", "401", "403", "404", "409", "412", "415", "422"].filter(
      (status) => cancel.responses[status] === undefined,
    ),
    [],
  );
  const total = paths["/orders/{id}/total"]!["get"]!;
  assert.equal(total.requestBody, undefined);
  assert.ok(total.responses["200"] !== undefined && total.responses["304"] !== undefined);
  assert.equal(paths["/orders/close-all"]!["post"]!.operationId, "closeAllOrders");
});

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Readonly<Record<string, unknown>> }>>;
  };
  readonly responses: Readonly<Record<string, unknown>>;
}
