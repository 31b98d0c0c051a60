import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import { idempotencyCountsCollection } from "../../src/door/resources.ts";
import { basicHeader, serve, type Answered } from "../harness/serve.ts";
import { sharedDatabase, type SharedDatabase } from "../harness/test-store.ts";

const KEY = { "idempotency-key": "key-number-1" };
const ann = { name: "Ann", email: "ann@example.com", password: "password of ann" };

test("executes a POST once, and answers its repeat under the same key with the same response", async (t) => {
  const api = await serve(t);
  const headers = { ...api.admin, ...KEY };

  const first = await api.post("/users", ann, headers);
  await api.patch("/users/2", { name: "Bea" }, api.admin);
  const again = await api.post("/users/", ann, { ...api.admin, "idempotency-key": '"key-number-1"' });

  assert.equal(first.headers.get("idempotency-replayed"), null);
  assert.deepEqual([again.status, again.json, again.headers.get("idempotency-replayed")], [201, first.json, "true"]);
  for (const name of ["etag", "location", "content-type", "cache-control"])
    assert.equal(again.headers.get(name), first.headers.get(name), name);
  await api.delete("/users/2", api.admin);
  const afterDeletion = await api.post("/users", ann, headers);
  assert.deepEqual([afterDeletion.status, afterDeletion.text], [201, ""], "nothing of a deleted user is kept");
  assert.deepEqual(
    [afterDeletion.headers.get("location"), afterDeletion.headers.get("idempotency-replayed")],
    ["/users/2", "true"],
  );
  assert.equal((await api.get("/users", api.admin)).json.length, 1);
});

test("answers the repeat of a PATCH under its key with the same response, even if the record has changed", async (t) => {
  const api = await serve(t);
  const order = await api.post("/orders", {}, api.admin);
  const rows: readonly (readonly [key: string, headers: Record<string, string>, body: unknown])[] = [
    ["merge-patch", { "if-match": order.headers.get("etag")! }, { status: "paid" }],
    [
      "json-patch",
      { "content-type": "application/json-patch+json" },
      [
        { op: "test", path: "/status", value: "paid" },
        { op: "replace", path: "/status", value: "cancelled" },
      ],
    ],
  ];
  const firsts = [];
  for (const [key, headers, body] of rows)
    firsts.push(await api.patch("/orders/1", body, { ...api.admin, ...headers, "idempotency-key": key }));

  for (const step of [
    () => api.patch("/orders/1", { status: "open" }, api.admin),
    () => api.delete("/orders/1", api.admin),
  ]) {
    await step();
    for (const [at, [key, headers, body]] of rows.entries()) {
      const again = await api.patch("/orders/1/", body, { ...api.admin, ...headers, "idempotency-key": key });
      assert.equal(firsts[at]!.headers.get("idempotency-replayed"), null);
      assert.deepEqual(
        [again.status, again.json, again.headers.get("etag"), again.headers.get("idempotency-replayed")],
        [200, firsts[at]!.json, firsts[at]!.headers.get("etag"), "true"],
        key,
      );
    }
  }
});

test("repeats the first response for requests that create an item, change a password and rename an account", async (t) => {
  const api = await serve(t);
  const user = await api.user("Ann");
  await api.post("/orders", {}, api.admin);
  const item = { product: "Key", quantity: 1, unit_price: "1" };

  const made = await api.post("/orders/1/items", item, { ...api.admin, ...KEY });
  await api.delete("/orders/1", api.admin);
  const again = await api.post("/orders/1/items", item, { ...api.admin, ...KEY });
  const renaming = { username: "ann", current_password: user.password };
  await api.patch(`/users/${user.id}/account`, renaming, { ...api.admin, "idempotency-key": "own-account" });
  const login = (await api.post("/api/token/", { username: "ann", password: user.password })).json;
  const renamed = await api.patch(
    `/users/${user.id}`,
    { password: "another password", current_password: user.password },
    { ...KEY, authorization: `Bearer ${login.access}` },
  );
  const relogin = (await api.post("/api/token/", { username: "ann", password: "another password" })).json;
  const replayed = await api.patch(
    `/users/${user.id}`,
    { password: "another password", current_password: user.password },
    { ...KEY, authorization: `Bearer ${relogin.access}` },
  );
  const account = await api.patch(`/users/${user.id}/account`, renaming, {
    ...api.admin,
    "idempotency-key": "own-account",
  });

  assert.deepEqual([again.status, again.json, again.headers.get("location")], [201, made.json, "/orders/1/items/1"]);
  assert.deepEqual(
    [renamed.status, replayed.status, replayed.headers.get("idempotency-replayed")],
    [200, 200, "true"],
    replayed.text,
  );
  assert.deepEqual(
    [account.status, account.json.username, account.headers.get("idempotency-replayed")],
    [200, "ann", "true"],
  );
});

test("binds a key to one request of one identity", async (t) => {
  const api = await serve(t);
  const [one, other] = [await api.user("One"), await api.user("Other")];
  await api.post("/orders", { status: "open" }, { ...one.headers, ...KEY });
  const rows: readonly (readonly [method: "POST" | "PATCH", path: string, body: unknown])[] = [
    ["POST", "/orders", { status: "paid" }],
    ["POST", "/orders", { status: "frobnicated" }],
    ["POST", "/orders/1/items", { status: "open" }],
    ["PATCH", "/orders/1", { status: "open" }],
    ["PATCH", "/orders/999", { status: "open" }],
  ];

  for (const [method, path, body] of rows) {
    const answer = await api.ask(method, path, { body, headers: { ...one.headers, ...KEY } });
    assert.deepEqual([answer.status, answer.json.code], [422, "idempotency_mismatch"], `${method} ${path}`);
  }
  const ofOther = await api.post("/orders", { status: "open" }, { ...other.headers, ...KEY });
  assert.deepEqual([ofOther.status, ofOther.headers.get("idempotency-replayed"), ofOther.json.id], [201, null, 2]);
});

test("refuses a key if a client sends the same body again as another kind of patch", async (t) => {
  const api = await serve(t);
  await api.post("/orders", {}, api.admin);
  const patch = JSON.stringify([{ op: "replace", path: "/status", value: "paid" }]);
  const change = (key: string, type: string, body: string): Promise<Answered> =>
    api.patch("/orders/1", body, { ...api.admin, "content-type": type, "idempotency-key": key });
  const [jsonPatch, mergePatch] = ["application/json-patch+json", "application/merge-patch+json"] as const;

  for (const [key, type, other, body] of [
    ["json-patch-first", jsonPatch, mergePatch, patch],
    ["merge-patch-first", mergePatch, jsonPatch, '{"status":"open"}'],
  ] as const) {
    assert.equal((await change(key, type, body)).status, 200, key);
    const refused = await change(key, other, body);
    assert.deepEqual([refused.status, refused.json.code], [422, "idempotency_mismatch"], key);
    assert.equal((await change(key, type, body)).headers.get("idempotency-replayed"), "true", key);
  }
});

test("frees the key after an error", async (t) => {
  const api = await serve(t);
  const headers = { ...api.admin, ...KEY };
  const failing: readonly (readonly [path: string, body: unknown, status: number])[] = [
    ["/users", { name: "Ann" }, 400],
    ["/users", "{", 400],
    ["/users", { name: "Ann", email: "admin@example.invalid" }, 409],
    ["/orders/9/items", { product: "x", quantity: 1, unit_price: "1" }, 404],
  ];

  for (const [path, body, status] of failing) assert.equal((await api.post(path, body, headers)).status, status);
  const answer = await api.post("/users", ann, headers);

  assert.deepEqual([answer.status, answer.headers.get("idempotency-replayed")], [201, null]);
});

test("keeps a key for 24 hours", async (t) => {
  const api = await serve(t);
  const headers = { ...api.admin, ...KEY };
  await api.post("/orders", {}, headers);

  api.clock.turn(24 * 3600 - 1);
  const before = await api.post("/orders", {}, headers);
  api.clock.turn(1);
  const after = await api.post("/orders", {}, headers);

  assert.deepEqual([before.json.id, before.headers.get("idempotency-replayed")], [1, "true"]);
  assert.deepEqual([after.json.id, after.headers.get("idempotency-replayed")], [2, null]);
});

test("refuses an invalid key, on POST and PATCH, before the service parses the body", async (t) => {
  const api = await serve(t);

  for (const key of ["short", "x".repeat(256), "with space", '"unclosed', '"short"', "", "kéy-kéy-kéy"]) {
    for (const [method, path] of [
      ["POST", "/users"],
      ["PATCH", "/users/1"],
      ["PATCH", "/users/1/account"],
    ] as const) {
      for (const body of [{ bogus: 1 }, "{"]) {
        const answer = await api.ask(method, path, { body, headers: { ...api.admin, "idempotency-key": key } });
        assert.deepEqual([answer.status, answer.json.code], [400, "malformed"], `${method} ${key}`);
        assert.match(answer.json.detail, /Idempotency-Key/, `${method} ${path} ${key}`);
      }
    }
  }
  for (const key of ["x".repeat(8), "x".repeat(255)])
    assert.equal((await api.post("/orders", {}, { ...api.admin, "idempotency-key": key })).status, 201);
  assert.equal(
    (
      await api.put(
        "/users/1",
        { name: "A", email: "admin@example.invalid" },
        { ...api.admin, "idempotency-key": "short" },
      )
    ).status,
    200,
    "PUT ignores the key, because a PUT can be repeated without one",
  );
});

function buildSettings({ url }: SharedDatabase) {
  return { LATCHKEY_DATABASE: url, LATCHKEY_SECRET: "a secret of more than 32 characters" };
}

test("executes only one of many concurrent copies of a request", async (t) => {
  const api = await serve(t, { settings: buildSettings(await sharedDatabase(t)) });

  const posts = await Promise.all(Array.from({ length: 30 }, () => api.post("/orders", {}, { ...api.admin, ...KEY })));
  const patches = await Promise.all(
    Array.from({ length: 30 }, () =>
      api.patch(
        "/orders/1",
        [
          { op: "test", path: "/status", value: "open" },
          { op: "replace", path: "/status", value: "paid" },
        ],
        { ...api.admin, "content-type": "application/json-patch+json", "idempotency-key": "patch-once" },
      ),
    ),
  );

  assert.deepEqual(new Set(posts.map(({ status, json }) => `${status} ${json.id}`)), new Set(["201 1"]));
  assert.deepEqual(
    new Set(patches.map(({ status, text }) => `${status} ${text}`)),
    new Set([`200 ${patches[0]!.text}`]),
  );
  for (const answers of [posts, patches])
    assert.equal(answers.filter(({ headers }) => headers.get("idempotency-replayed") === null).length, 1);
  assert.equal((await api.get("/orders", api.admin)).json.length, 1);
});

test("stores a request in a form that cannot be used to test guessed passwords without the server's secret", async (t) => {
  const api = await serve(t);
  await api.post("/users", ann, { ...api.admin, ...KEY });

  const request = `POST /users application/json\n${JSON.stringify(ann)}`;
  const outcome = await api.service.store.recall({
    key: "1 key-number-1",
    columns: ["id"],
    erasable: true,
    fingerprint: createHash("sha256").update(request).digest("base64url"),
    now: new Date(api.clock.now).toISOString(),
    expiresAt: new Date(api.clock.now + 1000).toISOString(),
  });

  assert.equal(outcome?.kind, "mismatch");
});

test("stores no password hash for repeats, and no data of a deleted user", async (t) => {
  const database = await sharedDatabase(t);
  const api = await serve(t, { settings: buildSettings(database) });
  const loadEntries = async () => JSON.stringify(await database.ask("SELECT key, rows FROM latchkey_idempotency"));
  const { id } = (await api.post("/users", ann, { ...api.admin, ...KEY })).json;
  const headers = basicHeader(ann.email, ann.password);
  const path = `/users/${id}`;
  await api.patch(
    `${path}/account`,
    { username: "ann@else.example" },
    { ...api.admin, "idempotency-key": "account-key" },
  );
  const own = basicHeader("ann@else.example", ann.password);
  await api.patch(path, { name: "Anna" }, { ...own, "idempotency-key": "patch-key" });
  const order = await api.post("/orders", {}, { ...own, "idempotency-key": "order-key" });
  assert.equal(order.status, 201);
  assert.doesNotMatch(await loadEntries(), /argon2/);
  assert.match(await loadEntries(), /ann@example\.com.*ann@else\.example|ann@else\.example.*ann@example\.com/);
  await api.delete(`/orders/${order.json.id}`, own);

  assert.equal((await api.delete(path, api.admin)).status, 204);

  assert.doesNotMatch(await loadEntries(), /ann@|Anna|patch-key|order-key/);
  for (const [method, target, body, key, status] of [
    ["POST", "/users", ann, KEY["idempotency-key"], 201],
    ["PATCH", `${path}/account`, { username: "ann@else.example" }, "account-key", 204],
  ] as const) {
    const again = await api.ask(method, target, { body, headers: { ...api.admin, "idempotency-key": key } });
    assert.deepEqual([again.status, again.text, again.headers.get("idempotency-replayed")], [status, "", "true"]);
  }
  assert.equal((await api.get(path, api.admin)).status, 404);
  // A later user with the same id gets no response of the earlier user.
  assert.equal((await api.put(path, ann, api.admin)).status, 201);
  const fresh = await api.post("/orders", {}, { ...headers, "idempotency-key": "order-key" });
  assert.deepEqual([fresh.status, fresh.headers.get("idempotency-replayed")], [201, null]);
});

test("allows a caller ten thousand writes with an idempotency key a day, separately from other callers", async (t) => {
  const api = await serve(t);
  const other = await api.user("Other");
  const write = (key: string, headers: Record<string, string> = api.admin) =>
    api.post("/orders", {}, { ...headers, "idempotency-key": key });
  await write("key-number-1");
  const day = Math.floor(api.clock.now / 86_400_000);
  await api.service.store.write({
    changes: [{ kind: "update", collection: idempotencyCountsCollection, key: `1 ${day}`, values: { writes: 9999 } }],
  });

  assert.equal((await write("key-number-2")).status, 201);
  const refused = await write("key-number-3");
  assert.deepEqual([refused.status, refused.json.code], [429, "too_many_repeats"]);
  assert.equal(refused.headers.get("retry-after"), String(14.5 * 3600));
  assert.equal((await write("key-number-2")).headers.get("idempotency-replayed"), "true");
  assert.equal((await api.post("/orders", {}, api.admin)).status, 201, "without a key");
  assert.equal((await write("key-number-3", other.headers)).status, 201);
  api.clock.turn(14.5 * 3600);
  assert.equal((await write("key-number-3")).status, 201);
  assert.equal(await api.service.store.count(idempotencyCountsCollection, null), 2);
});

test("counts each record of an array as one of the day's writes with an idempotency key", async (t) => {
  const api = await serve(t);
  const day = Math.floor(api.clock.now / 86_400_000);
  const write = (key: string, count: number): Promise<Answered> =>
    api.post("/orders", Array(count).fill({}), { ...api.admin, "idempotency-key": key });
  const change = (key: string, count: number): Promise<Answered> =>
    api.patch(
      "/orders",
      Array.from({ length: count }, (_, at) => ({ id: at + 1, status: "paid" })),
      { ...api.admin, "idempotency-key": key },
    );
  const writes = async (): Promise<unknown> =>
    (await api.service.store.find(idempotencyCountsCollection, `1 ${day}`))?.record["writes"];

  assert.equal((await write("array-of-four", 4)).status, 201);
  assert.equal((await write("array-of-four", 4)).headers.get("idempotency-replayed"), "true");
  assert.equal((await change("changes-of-two", 2)).status, 200);
  assert.equal(await writes(), 6);
  await api.service.store.write({
    changes: [{ kind: "update", collection: idempotencyCountsCollection, key: `1 ${day}`, values: { writes: 9997 } }],
  });

  for (const refused of [await write("array-of-three", 4), await change("changes-of-three", 4)])
    assert.deepEqual([refused.status, refused.json.code], [429, "too_many_repeats"]);
  assert.equal((await write("array-of-three", 3)).status, 201);
  assert.equal(await writes(), 10_000);
  assert.equal((await write("array-of-one", 1)).status, 429);
  assert.equal((await api.get("/orders", api.admin)).json.length, 7);
});

test("limits the stored octets of a caller's writes with idempotency keys to 64 MiB a day", async (t) => {
  const api = await serve(t);
  const day = Math.floor(api.clock.now / 86_400_000);
  const key = `1 ${day}`;
  const write = (name: string, method: string, path: string, body: unknown): Promise<Answered> =>
    api.ask(method, path, { body, headers: { ...api.admin, "idempotency-key": `octets-of-${name}` } });
  const octets = async (): Promise<number> =>
    Number((await api.service.store.find(idempotencyCountsCollection, key))?.record["octets"] ?? 0);
  const measureOctets = async (work: () => Promise<Answered>): Promise<readonly [octets: number, length: number]> => {
    const before = await octets();
    const { status, text } = await work();
    assert.ok(status < 300, text);
    return [(await octets()) - before, text.length];
  };

  for (const work of [
    () => write("one", "POST", "/orders", { status: "paid" }),
    () => write("change", "PATCH", "/orders/1", { status: "open" }),
    () => write("several", "POST", "/orders", [{}, {}, {}]),
    () => write("changes", "PATCH", "/orders", [{ id: 2, status: "paid" }, { id: 3 }]),
  ]) {
    const [counted, length] = await measureOctets(work);
    assert.ok(counted >= length / 2 && counted < 2 * length + 100, `${counted} octets of ${length}`);
  }
  const values = { octets: 64 * 1024 * 1024 - 10 };
  await api.service.store.write({
    changes: [{ kind: "update", collection: idempotencyCountsCollection, key, values }],
  });
  for (const refused of [
    await write("too-many", "POST", "/orders", {}),
    await write("too-many-changes", "PATCH", "/orders", [{ id: 2 }]),
  ])
    assert.deepEqual([refused.status, refused.json.code], [429, "too_many_repeats"]);
  assert.equal((await api.post("/orders", {}, api.admin)).status, 201, "without a key");
});
