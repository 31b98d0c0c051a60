import assert from "node:assert/strict";
import test from "node:test";
import { serve } from "../harness/serve.ts";

const item = { product: "Brass key", quantity: 2, unit_price: "12.5" };

test("sets the owner of a new order to its caller, the state to open, and the creation time", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");

  const made = await api.post("/orders", {}, ann.headers);
  const forAnn = await api.post("/orders", { user_id: ann.id, status: "paid" }, api.admin);

  assert.deepEqual([made.status, made.headers.get("location")], [201, "/orders/1"]);
  assert.deepEqual(Object.entries(made.json), [
    ["id", 1],
    ["user_id", ann.id],
    ["status", "open"],
    ["created_at", "2026-01-31T09:30:00.000Z"],
  ]);
  assert.deepEqual([forAnn.json.user_id, forAnn.json.status], [ann.id, "paid"]);
  assert.equal((await api.post("/orders", {})).status, 401);
});

test("names an invalid member of an order by its pointer", async (t) => {
  const api = await serve(t);
  await api.post("/orders", {}, api.admin);
  const rows: readonly (readonly [body: object, pointer: string, code: string])[] = [
    [{ status: "lost" }, "/status", "invalid"],
    [{ status: null }, "/status", "invalid"],
    [{ user_id: "1" }, "/user_id", "invalid"],
    [{ user_id: 1.5 }, "/user_id", "invalid"],
    [{ user_id: 0 }, "/user_id", "too_small"],
    [{ user_id: null }, "/user_id", "invalid"],
    [{ user_id: 999 }, "/user_id", "invalid"],
    [{ created_at: "2020-01-01T00:00:00Z" }, "/created_at", "read_only"],
    [{ id: 5 }, "/id", "read_only"],
    [{ total: "1" }, "/total", "unknown_field"],
  ];

  for (const [body, pointer, code] of rows) {
    for (const [method, path] of [
      ["POST", "/orders"],
      ["PUT", "/orders/1"],
      ["PATCH", "/orders/1"],
    ] as const) {
      const answer = await api.ask(method, path, { body, headers: api.admin });
      assert.deepEqual(
        [answer.status, answer.json.errors?.[0].pointer, answer.json.errors?.[0].code],
        [400, pointer, code],
        `${method} ${JSON.stringify(body)}: ${answer.text}`,
      );
    }
  }
  assert.equal((await api.get("/orders", api.admin)).json.length, 1);
});

test("lets only administrators give an order to another user", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  await api.post("/orders", { user_id: ann.id }, ann.headers);
  const rows = [
    ["POST", "/orders"],
    ["PUT", "/orders/1"],
    ["PATCH", "/orders/1"],
  ] as const;

  for (const user_id of [bob.id, 1, 999]) {
    for (const [method, path] of rows) {
      const answer = await api.ask(method, path, {
        body: { user_id },
        headers: { ...ann.headers, "if-match": method === "POST" ? "*" : '"stale"' },
      });
      assert.deepEqual([answer.status, answer.json.code], [403, "permission_denied"], `${method} ${user_id}`);
    }
    const patch = await api.patch("/orders/1", [{ op: "replace", path: "/user_id", value: user_id }], {
      ...ann.headers,
      "content-type": "application/json-patch+json",
    });
    assert.equal(patch.status, 403);
  }
  assert.equal((await api.get("/orders/1", ann.headers)).json.user_id, ann.id);
  assert.equal(
    (await api.put("/orders/1", { status: "paid" }, api.admin)).json.user_id,
    ann.id,
    "a PUT without an owner keeps the owner",
  );
  assert.equal((await api.patch("/orders/1", { user_id: bob.id }, api.admin)).json.user_id, bob.id);
  assert.equal((await api.get("/orders/1", ann.headers)).status, 404);
});

test("gives the same answer for another user's order as for a missing one", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  await api.post("/orders", {}, ann.headers);
  await api.post("/orders/1/items", item, ann.headers);
  const rows: readonly (readonly [
    method: string,
    rest: string,
    body: unknown,
    headers: Record<string, string>,
    status: number,
  ])[] = [
    ["GET", "", undefined, {}, 404],
    ["HEAD", "", undefined, {}, 404],
    ["PUT", "", {}, {}, 404],
    ["PUT", "", {}, { "if-none-match": "*" }, 404],
    ["PUT", "", {}, { "if-match": "*" }, 404],
    ["PUT", "", { user_id: 1 }, {}, 404],
    ["PUT", "", { status: "lost" }, {}, 400],
    ["PATCH", "", { status: "paid" }, {}, 404],
    ["PATCH", "", { status: "paid" }, { "if-match": '"x"' }, 404],
    ["PATCH", "", { status: "lost" }, {}, 400],
    [
      "PATCH",
      "",
      [{ op: "test", path: "/status", value: "open" }],
      { "content-type": "application/json-patch+json" },
      404,
    ],
    ["DELETE", "", undefined, {}, 404],
    ["GET", "/items", undefined, {}, 404],
    ["POST", "/items", item, {}, 404],
    ["POST", "/items", {}, {}, 400],
    ["GET", "/items/1", undefined, {}, 404],
    ["PUT", "/items/1", item, {}, 404],
    ["PUT", "/items/1", { ...item, quantity: 0 }, {}, 400],
    ["PATCH", "/items/1", { quantity: 1 }, {}, 404],
    ["DELETE", "/items/1", undefined, {}, 404],
  ];

  for (const [method, rest, body, more, status] of rows) {
    const headers = { ...bob.headers, ...more, "x-request-id": "same" };
    const [there, not] = [
      await api.ask(method, `/orders/1${rest}`, { body, headers }),
      await api.ask(method, `/orders/999${rest}`, { body, headers }),
    ];
    assert.deepEqual(
      [there.status, there.text],
      [status, not.text],
      `${method} ${rest} ${JSON.stringify(body)} ${there.text}`,
    );
  }
  assert.deepEqual((await api.get("/orders", bob.headers)).json, []);
  assert.equal((await api.get("/orders/1/items", ann.headers)).json.length, 1);
});

test("stores the price of an item exactly, and shows it with two decimals", async (t) => {
  const api = await serve(t);
  await api.post("/orders", {}, api.admin);
  const rows: readonly (readonly [sent: string, shown: string])[] = [
    ["0", "0.00"],
    ["-0", "0.00"],
    ["12.5", "12.50"],
    ["0.01", "0.01"],
    ["9999999999.99", "9999999999.99"],
    ["1234567890.1", "1234567890.10"],
  ];

  for (const [unit_price, shown] of rows) {
    const made = await api.post("/orders/1/items/", { product: " Key ", quantity: 1_000_000, unit_price }, api.admin);
    assert.deepEqual([made.status, made.headers.get("location")], [201, `/orders/1/items/${made.json.id}`]);
    assert.deepEqual(Object.entries(made.json), [
      ["id", made.json.id],
      ["product", "Key"],
      ["quantity", 1_000_000],
      ["unit_price", shown],
    ]);
    assert.deepEqual((await api.get(`/orders/1/items/${made.json.id}`, api.admin)).text, made.text);
  }
  const list = (await api.get("/orders/1/items", api.admin)).json;
  assert.deepEqual(
    list.map((each: { unit_price: string }) => each.unit_price),
    rows.map(([, shown]) => shown),
  );
});

test("names an invalid member of an item by its pointer", async (t) => {
  const api = await serve(t);
  await api.post("/orders", {}, api.admin);
  await api.post("/orders/1/items", item, api.admin);
  const prices: readonly (readonly [unknown, string])[] = [
    [12.5, "invalid"],
    ["", "invalid"],
    ["1.234", "invalid"],
    ["1.000", "invalid"],
    ["-0.01", "too_small"],
    ["10000000000", "too_large"],
    ["9".repeat(40), "invalid"],
    ["1e3", "invalid"],
    ["+1", "invalid"],
    ["01", "invalid"],
    [".5", "invalid"],
    ["5.", "invalid"],
    [" 1", "invalid"],
    ["1,50", "invalid"],
    ["NaN", "invalid"],
    ["0x10", "invalid"],
    ["１", "invalid"],
    [null, "invalid"],
  ];
  const quantities: readonly (readonly [unknown, string])[] = [
    [0, "too_small"],
    [-1, "too_small"],
    [1_000_001, "too_large"],
    [1.5, "invalid"],
    ["1", "invalid"],
    [true, "invalid"],
    [null, "invalid"],
    [[1], "invalid"],
  ];
  const rows: readonly (readonly [body: object, pointer: string, code: string])[] = [
    ...prices.map(([unit_price, code]) => [{ ...item, unit_price }, "/unit_price", code] as const),
    ...quantities.map(([quantity, code]) => [{ ...item, quantity }, "/quantity", code] as const),
    [{ ...item, product: " " }, "/product", "too_short"],
    [{ ...item, product: "x".repeat(201) }, "/product", "too_long"],
    [{ ...item, order_id: 1 }, "/order_id", "unknown_field"],
    [{ ...item, id: 2 }, "/id", "read_only"],
  ];

  for (const [body, pointer, code] of rows) {
    for (const [method, path] of [
      ["POST", "/orders/1/items"],
      ["PUT", "/orders/1/items/1"],
      ["PATCH", "/orders/1/items/1"],
    ] as const) {
      const answer = await api.ask(method, path, { body, headers: api.admin });
      assert.deepEqual(
        [answer.status, answer.json.errors?.[0].pointer, answer.json.errors?.[0].code],
        [400, pointer, code],
        `${method} ${JSON.stringify(body)}: ${answer.text}`,
      );
    }
  }
  for (const quantity of ["1.0", "1e0", "100e-2"]) {
    const made = await api.post("/orders/1/items", `{"product":"x","quantity":${quantity},"unit_price":"1"}`, {
      ...api.admin,
      "content-type": "application/json",
    });
    assert.deepEqual([made.status, made.json.quantity], [201, 1], quantity);
  }
});

test("serves an item under its order's path only, and deletes it with the order", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  await api.post("/orders", {}, ann.headers);
  await api.post("/orders", {}, ann.headers);
  await api.post("/orders", {}, bob.headers);
  await api.post("/orders/1/items", item, ann.headers);

  for (const [method, body] of [
    ["GET", undefined],
    ["PATCH", { quantity: 1 }],
    ["DELETE", undefined],
    ["PUT", item],
  ] as const) {
    for (const headers of [ann.headers, api.admin]) {
      assert.equal((await api.ask(method, "/orders/2/items/1", { body, headers })).status, 404, method);
    }
  }
  const unknown = await api.put("/orders/3/items/999", item, bob.headers);
  const taken = await api.put("/orders/3/items/1", item, bob.headers);
  assert.deepEqual(
    [unknown.status, unknown.json.code],
    [taken.status, taken.json.code],
    "the answer does not show whether another order has an item with this id",
  );
  const created = await api.put("/orders/2/items/50", item, api.admin);
  assert.deepEqual([created.status, created.headers.get("location")], [201, "/orders/2/items/50"]);
  assert.equal((await api.delete("/orders/1", ann.headers)).status, 204);
  assert.equal((await api.get("/orders/1/items", ann.headers)).status, 404);
  assert.equal((await api.put("/orders/1", {}, api.admin)).status, 201);
  assert.deepEqual((await api.get("/orders/1/items", api.admin)).json, []);
  assert.equal((await api.post("/orders/2/items", item, ann.headers)).json.id, 2);
});
