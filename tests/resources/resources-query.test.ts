import assert from "node:assert/strict";
import { test } from "node:test";
import { readLinks } from "../harness/own-service.ts";
import { serve, type Answered } from "../harness/serve.ts";

const listIds = ({ json }: Answered): number[] => json.map(({ id }: { id: number }) => id);

test("answers QUERY of a list (RFC 10008)", async (t) => {
  const api = await serve(t);
  const { admin } = api;
  const ann = await api.user("Ann");
  for (const [name, email] of [
    ["Bea", "bea@example.com"],
    ["Abe", "abe@example.com"],
    ["Anna", "ANNA@example.com"],
  ])
    assert.equal((await api.post("/users", { name, email }, admin)).status, 201);
  const query = (body: unknown, headers = admin, path = "/users"): Promise<Answered> =>
    api.ask("QUERY", path, { headers, body });

  await t.test("answers QUERY with the same bytes as GET", async () => {
    const rows: readonly (readonly [body: unknown, get: string])[] = [
      [{}, ""],
      [{ where: {} }, ""],
      [{ limit: 2, sort: "-name,id", fields: "name" }, "?limit=2&sort=-name,id&fields=name"],
      [{ where: { name: { starts: "An" } } }, "?name[starts]=An"],
      [{ where: { id: { gte: 2, lt: 4 } } }, "?id[gte]=2&id[lt]=4"],
      [{ where: { id: { in: [2, 4, 99] } } }, "?id[in]=2,4,99"],
      [{ where: { id: { in: "2,4,99" } } }, "?id[in]=2,4,99"],
      [{ where: { name: { eq: "Bea" }, id: { gt: 1 } } }, "?name=Bea&id[gt]=1"],
      [{ where: { all: [{ name: { contains: "n" } }, { id: { gt: 2 } }] } }, "?name[contains]=n&id[gt]=2"],
      [{ where: { any: [{ id: { eq: 2 } }, { id: { eq: 4 } }] } }, "?id[in]=2,4"],
      [{ where: { not: { id: { gt: 2 } } } }, "?id[lte]=2"],
      [{ search: "ann" }, "?search=ann"],
      [{ search: "EXAMPLE an", where: { id: { gt: 2 } }, sort: "-id" }, "?search=EXAMPLE%20an&id[gt]=2&sort=-id"],
      [{ where: { email: { eq: "anna@EXAMPLE.com" } } }, "?email=anna@EXAMPLE.com"],
    ];
    for (const [body, get] of rows)
      for (const headers of [admin, ann.headers]) {
        const [queryAnswer, got] = [await query(body, headers), await api.get(`/users${get}`, headers)];
        assert.deepEqual([queryAnswer.status, queryAnswer.text], [200, got.text], JSON.stringify(body));
        for (const name of ["content-type", "etag", "vary", "cache-control", "accept-query"])
          assert.equal(queryAnswer.headers.get(name), got.headers.get(name), name);
      }
    const xml = { ...admin, accept: "application/xml" };
    assert.equal((await query({ limit: 2 }, xml)).text, (await api.get("/users?limit=2", xml)).text);
  });

  await t.test("joins conditions by any, all and not", async () => {
    const rows: readonly (readonly [where: unknown, ids: readonly number[]])[] = [
      [
        { any: [{ name: { starts: "An" } }, { all: [{ id: { gte: 3 } }, { not: { email: { starts: "b" } } }] }] },
        [2, 4, 5],
      ],
      [{ any: [{ id: { eq: 1 } }, { name: { eq: "Bea" } }], id: { gt: 1 } }, [3]],
      [{ not: { any: [{ id: { lte: 2 } }, { name: { contains: "e" } }] } }, [5]],
      [{ not: { not: { id: { in: [1, 5] } } } }, [1, 5]],
      [{ any: [] }, []],
      [{ all: [] }, [1, 2, 3, 4, 5]],
      [{ not: {} }, []],
      [{ id: { in: [] } }, []],
      [{ name: { eq: "x' OR 1=1 --" } }, []],
    ];
    for (const [where, ids] of rows) assert.deepEqual(listIds(await query({ where })), ids, JSON.stringify(where));
    assert.deepEqual(listIds(await query({ search: "an", where: { not: { id: { eq: 2 } } } })), [5]);
  });

  await t.test("returns cursors that are valid only with the same body", async () => {
    const body = { where: { any: [{ id: { lt: 4 } }, { name: { eq: "Anna" } }] }, sort: "-name" };
    const first = await query({ ...body, limit: 2 });
    assert.deepEqual(listIds(first), [3, 5]);
    const { next } = readLinks(first);
    const cursor = new URL(next!, "http://x").searchParams.get("cursor")!;

    const second = await query({ ...body, limit: 2, cursor });
    assert.deepEqual(listIds(second), [2, 1]);
    assert.deepEqual(Object.keys(readLinks(second)), ["first", "prev"]);
    // A client sends the same body to the URL of a link. Only limit and fields may change between pages.
    assert.equal((await query({ ...body, limit: 2 }, admin, next)).text, second.text);
    assert.deepEqual((await query({ ...body, limit: 1, fields: "id", cursor })).json, [{ id: 2 }]);
    assert.deepEqual(listIds(await query(body, admin, readLinks(second)["prev"])), [3, 5]);
    assert.deepEqual(listIds(await query({ ...body, limit: 2 }, admin, readLinks(second)["first"])), [3, 5]);

    for (const other of [{}, { sort: "-name" }, { ...body, sort: "name" }, { ...body, where: { not: body.where } }]) {
      const refused = await query({ ...other, cursor });
      assert.deepEqual([refused.status, refused.json.errors[0].pointer], [400, "/cursor"]);
      assert.equal((await query(other, admin, next)).json.errors[0].pointer, "?cursor");
    }
    const got = readLinks(await api.get("/users?limit=2&sort=-name", admin))["next"]!;
    const foreign = new URL(got, "http://x").searchParams.get("cursor");
    assert.equal((await query({ sort: "-name", cursor: foreign })).status, 400);
    assert.equal((await query({ ...body, cursor }, admin, next)).json.errors[0].code, "repeated");
    assert.equal((await query({ ...body, limit: 2, cursor }, ann.headers)).status, 400);
  });

  await t.test("sends the total number of records if the body or a preference asks for it", async () => {
    for (const [body, headers, total] of [
      [{ count: "exact", limit: 1 }, admin, "5"],
      [{ where: { not: { id: { eq: 1 } } }, count: "exact" }, admin, "4"],
      [{ where: { any: [{ id: { eq: 1 } }, { id: { eq: 2 } }] }, count: "exact" }, ann.headers, "1"],
      [{ limit: 1 }, { ...admin, prefer: "count=exact" }, "5"],
      [{ limit: 1 }, admin, null],
    ] as const) {
      const answered = await query(body, headers);
      assert.equal(answered.headers.get("x-total-count"), total);
      assert.equal(answered.headers.get("preference-applied"), total === null ? null : "count=exact");
    }
    assert.match((await query({ count: "estimated" })).headers.get("preference-applied")!, /^count=(estimated|exact)$/);
  });

  await t.test("hides the same data as a plain GET", async () => {
    for (const where of [{}, { not: { id: { eq: ann.id } } }, { any: [{ id: { gt: 0 } }, {}] }, { all: [] }])
      assert.ok(listIds(await query({ where }, ann.headers)).every((id) => id === ann.id));
    assert.equal((await query({}, {})).status, 401);
    assert.equal((await query({ where: 1 }, {})).status, 401);
    for (const field of ["username", "password", "password_hash", "role"]) {
      const refused = await query({ where: { [field]: { eq: "x" } } });
      assert.deepEqual([refused.status, refused.json.errors[0].code], [400, "unknown_field"]);
      assert.equal((await query({ sort: field })).json.errors[0].pointer, "/sort");
      assert.equal((await query({ fields: field })).json.errors[0].pointer, "/fields");
    }
  });

  await t.test("reports mistakes with their locations", async () => {
    const nested = (depth: number): unknown => (depth === 0 ? { id: { gt: 0 } } : { not: nested(depth - 1) });
    const many = (count: number): unknown => ({ any: Array.from({ length: count }, (_, at) => ({ id: { eq: at } })) });
    assert.equal((await query({ where: nested(8) })).status, 200);
    assert.equal((await query({ where: many(64) })).status, 200);

    const rows: readonly (readonly [body: unknown, pointer: string, code: string])[] = [
      [[], "", "invalid"],
      ['"x"', "", "invalid"],
      [{ page: 2 }, "/page", "unknown_field"],
      [{ "a/b~": 2 }, "/a~1b~0", "unknown_field"],
      [{ limit: 0 }, "/limit", "invalid"],
      [{ limit: 1001 }, "/limit", "invalid"],
      [{ limit: 1.5 }, "/limit", "invalid"],
      [{ limit: "10" }, "/limit", "invalid"],
      [{ limit: null }, "/limit", "invalid"],
      [{ sort: ["id"] }, "/sort", "invalid"],
      [{ sort: "-nothing" }, "/sort", "invalid"],
      [{ fields: "" }, "/fields", "invalid"],
      [{ count: "all" }, "/count", "invalid"],
      [{ count: null }, "/count", "invalid"],
      [{ cursor: "x" }, "/cursor", "invalid"],
      [{ search: "" }, "/search", "invalid"],
      [{ search: ["a"] }, "/search", "invalid"],
      [{ expand: 1 }, "/expand", "invalid"],
      [{ expand: "orders" }, "/expand", "invalid"],
      [{ cursor: 1 }, "/cursor", "invalid"],
      [{ where: null }, "/where", "invalid"],
      [{ where: [] }, "/where", "invalid"],
      [{ where: { any: [{ id: { eq: 1 } }, { name: { like: "x" } }] } }, "/where/any/1/name/like", "unknown_operator"],
      [{ where: { any: { id: { eq: 1 } } } }, "/where/any", "invalid"],
      [{ where: { not: [] } }, "/where/not", "invalid"],
      [{ where: { all: [1] } }, "/where/all/0", "invalid"],
      [{ where: { nothing: { eq: 1 } } }, "/where/nothing", "unknown_field"],
      [{ where: { constructor: { eq: 1 } } }, "/where/constructor", "unknown_field"],
      [{ where: { id: 1 } }, "/where/id", "invalid"],
      [{ where: { id: {} } }, "/where/id", "invalid"],
      [{ where: { id: { eq: "1" } } }, "/where/id/eq", "invalid"],
      [{ where: { id: { eq: 1.5 } } }, "/where/id/eq", "invalid"],
      [{ where: { id: { eq: null } } }, "/where/id/eq", "invalid"],
      [{ where: { id: { in: [1, "2"] } } }, "/where/id/in/1", "invalid"],
      [{ where: { id: { in: "1,x" } } }, "/where/id/in", "invalid"],
      [{ where: { id: { in: 1 } } }, "/where/id/in", "invalid"],
      [{ where: { id: { in: Array(1001).fill(1) } } }, "/where/id/in", "too_many"],
      [{ where: { all: Array(6).fill({ id: { in: Array(1000).fill(1) } }) } }, "/where/all/5/id/in", "too_many"],
      [{ where: { all: Array(6).fill({ id: { in: "1,".repeat(999) + "1" } }) } }, "/where/all/5/id/in", "too_many"],
      [{ where: { name: { eq: "x".repeat(65_537) } } }, "/where/name/eq", "too_long"],
      [{ where: { all: Array(5).fill({ name: { eq: "x".repeat(15_000) } }) } }, "/where/all/4/name/eq", "too_long"],
      [{ where: { id: { in: `1${",".repeat(65_537)}` } } }, "/where/id/in", "too_long"],
      [{ where: { name: { eq: 1 } } }, "/where/name/eq", "invalid"],
      [{ where: { name: { starts: "\0" } } }, "/where/name/starts", "invalid"],
      [{ where: { name: { gt: "A" } } }, "/where/name/gt", "unknown_operator"],
      [{ where: nested(9) }, `/where${"/not".repeat(9)}`, "too_deep"],
      [{ where: many(65) }, "/where/any/64/id/eq", "too_many"],
      [{ where: { any: Array(20_000).fill({}) } }, "/where/any/64", "too_many"],
    ];
    for (const [body, pointer, code] of rows) {
      const { status, json } = await query(body);
      assert.deepEqual([status, json.code], [400, "invalid"], JSON.stringify(json));
      assert.deepEqual([json.errors[0].pointer, json.errors[0].code], [pointer, code], JSON.stringify(json));
    }
    const all = await query({ where: { id: { eq: "x" }, b: 1 }, limit: 0, count: 1, x: 1 });
    assert.deepEqual(all.json.errors.map(({ pointer }: { pointer: string }) => pointer).toSorted(), [
      "/count",
      "/limit",
      "/where/b",
      "/where/id/eq",
      "/x",
    ]);
    assert.equal((await query({}, admin, "/users?limit=2")).json.errors[0].code, "unknown_parameter");
    assert.equal((await query({}, admin, "/users?format=xml")).json.errors[0].pointer, "?format");
  });

  await t.test("checks the media type, the syntax and the size of a QUERY body like those of any body", async () => {
    const sent = (body: string, headers = {}): Promise<Answered> =>
      api.ask("QUERY", "/users", { headers: { ...admin, ...headers }, body });
    for (const type of ["application/xml", "text/plain", "application/x-www-form-urlencoded", "application/sql"]) {
      const refused = await sent("{}", { "content-type": type });
      assert.deepEqual([refused.status, refused.headers.get("accept-query")], [415, "application/json"], type);
    }
    // A QUERY without Content-Type is refused, because only the media type defines the meaning of the body (RFC 10008
    // §2).
    assert.equal((await api.ask("QUERY", "/users", { headers: admin })).status, 415);
    assert.equal((await sent("")).json.code, "malformed");
    assert.equal((await sent('{"limit":1,"limit":2}')).json.code, "malformed");
    assert.equal((await sent(`{"where":"${"x".repeat(2 ** 20)}"}`)).status, 413);
    assert.equal((await sent("{}", { accept: "image/png" })).status, 406);
    assert.equal((await sent("{}", { "idempotency-key": "12345678" })).status, 200);
  });

  await t.test("sends an ETag for a QUERY, and checks its preconditions like those of a GET", async () => {
    const first = await query({ where: { not: { id: { gt: 2 } } } });
    const tag = first.headers.get("etag")!;
    assert.equal(first.headers.get("cache-control"), "private, no-cache");
    const again = await query({ where: { not: { id: { gt: 2 } } } }, { ...admin, "if-none-match": tag });
    assert.deepEqual([again.status, again.text], [304, ""]);
    assert.equal((await query({}, { ...admin, "if-none-match": tag })).status, 200);
    assert.equal((await query({}, { ...admin, "if-match": '"other"' })).status, 412);
    assert.equal((await query({ where: { not: { id: { gt: 2 } } } }, { ...admin, "if-match": tag })).status, 200);
  });

  await t.test("offers QUERY for every list, and nowhere else", async () => {
    const options = await api.ask("OPTIONS", "/users");
    assert.equal(options.headers.get("accept-query"), "application/json");
    assert.match(options.headers.get("allow")!, /\bQUERY\b/);
    for (const path of ["/users/1", "/users/1/sessions", "/protected/", "/livez"]) {
      const refused = await query({}, admin, path);
      assert.equal(refused.status, 405, path);
      assert.doesNotMatch(refused.headers.get("allow")!, /QUERY/);
    }
  });
});

test("limits QUERY of nested resources to their parent record", async (t) => {
  const api = await serve(t);
  const [ann, bea] = [await api.user("Ann"), await api.user("Bea")];
  const [one, two] = [
    (await api.post("/orders", {}, ann.headers)).json.id,
    (await api.post("/orders", {}, bea.headers)).json.id,
  ];
  for (const [order, headers, quantity] of [
    [one, ann.headers, 1],
    [one, ann.headers, 5],
    [two, bea.headers, 5],
  ])
    await api.post(`/orders/${order}/items`, { product: "Key", quantity, unit_price: "2.50" }, headers);
  const body = { where: { any: [{ quantity: { gt: 1 } }, { product: { eq: "Lock" } }] } };
  const ask = (path: string, headers: Readonly<Record<string, string>>): Promise<Answered> =>
    api.ask("QUERY", path, { headers, body });

  assert.deepEqual(listIds(await ask(`/orders/${one}/items`, ann.headers)), [2]);
  assert.deepEqual(listIds(await ask(`/orders/${two}/items`, api.admin)), [3]);
  assert.equal((await ask(`/orders/${two}/items`, ann.headers)).status, 404);
  assert.equal((await ask("/orders/77/items", api.admin)).status, 404);
  const own = await api.ask("QUERY", "/orders", {
    headers: ann.headers,
    body: { where: { any: [{ status: { eq: "open" } }, { not: { user_id: { eq: ann.id } } }] } },
  });
  assert.deepEqual(listIds(own), [one]);
  const query = { where: { not: { status: { eq: "paid" } } }, expand: "user,items", fields: "id" };
  const expanded = await api.ask("QUERY", "/orders", { headers: ann.headers, body: query });
  assert.equal(expanded.text, (await api.get("/orders?expand=user,items&fields=id", ann.headers)).text);
  assert.deepEqual(expanded.json[0].items.length, 2);
  const nothing = await api.ask("QUERY", "/orders", { headers: ann.headers, body: { search: "x" } });
  assert.deepEqual([nothing.status, nothing.json.errors[0].pointer], [400, "/search"]);
});

test("allows QUERY with a read scope and without a cross-site check, because QUERY only reads", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_ALLOWED_ORIGINS: "https://app.example" } });
  const key = async (scopes: readonly string[]): Promise<Record<string, string>> => {
    const made = await api.post("/users/1/keys", { name: "key", scopes }, api.admin);
    return { authorization: `Token ${made.json.key}` };
  };
  const ask = (headers: Readonly<Record<string, string>>): Promise<Answered> =>
    api.ask("QUERY", "/users", { headers, body: {} });

  assert.equal((await ask(await key(["read"]))).status, 200);
  assert.equal((await ask(await key(["write"]))).status, 403);
  assert.equal(
    (await ask({ ...api.admin, "sec-fetch-site": "cross-site", origin: "https://evil.example" })).status,
    200,
  );
  // A browser sends a preflight before a QUERY from a page of another site. The service refuses the preflight, so no
  // QUERY follows.
  const preflight = (origin: string): Promise<Answered> =>
    api.ask("OPTIONS", "/users", { headers: { origin, "access-control-request-method": "QUERY" } });
  assert.match((await preflight("https://app.example")).headers.get("access-control-allow-methods")!, /\bQUERY\b/);
  assert.equal((await preflight("https://evil.example")).headers.get("access-control-allow-methods"), null);
});

test("accepts QUERY through a socket too", async (t) => {
  const api = await serve(t, { binding: "node" });

  const answered = await api.ask("QUERY", "/users", {
    headers: api.admin,
    body: { where: { not: { id: { gt: 1 } } } },
  });

  assert.deepEqual(listIds(answered), [1]);
});
