import assert from "node:assert/strict";
import { test } from "node:test";
import {
  administrator,
  anyOf,
  authenticated,
  caller,
  defineResource,
  integer,
  mount,
  owner,
  text,
} from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";

const products = defineResource({ name: "product", fields: { title: text() } });
const reviews = defineResource({
  name: "review",
  within: products,
  fields: { user_id: integer({ default: caller }), stars: integer({ minimum: 1, maximum: 5 }) },
});
const comments = defineResource({
  name: "comment",
  within: reviews,
  fields: { user_id: integer({ default: caller }), said: text() },
});

const shop = mount(products, {
  permission: { list: authenticated, read: authenticated, create: administrator, update: administrator },
});
const own = {
  list: authenticated,
  read: authenticated,
  create: owner("user_id"),
  update: owner("user_id"),
  delete: anyOf(owner("user_id"), administrator),
} as const;

test("lets readers of a record write its nested records if the mount sets `writers`", async (t) => {
  const { ask } = await ownService(t, {
    mounts: [
      shop,
      mount(reviews, { permission: own, writers: "readers", arrays: true }),
      mount(comments, { permission: own, writers: "readers" }),
    ],
  });
  await ask("POST", "/products", { as: "root", body: { title: "Key" } });

  const made = await ask("POST", "/products/1/reviews", { as: "ada", body: { stars: 5 } });
  assert.deepEqual([made.status, made.json.user_id], [201, 2]);
  assert.equal((await ask("POST", "/products/1/reviews", { as: "ben", body: [{ stars: 1 }] })).status, 201);
  assert.equal((await ask("PATCH", "/products/1/reviews/1", { as: "ada", body: { stars: 4 } })).status, 200);
  assert.equal((await ask("POST", "/products/1/reviews/1/comments", { as: "ben", body: { said: "No" } })).status, 201);

  assert.equal((await ask("PATCH", "/products/1/reviews/1", { as: "ben", body: { stars: 1 } })).status, 403);
  assert.equal((await ask("POST", "/products/1/reviews", { as: "ben", body: { stars: 1, user_id: 2 } })).status, 403);
  assert.equal((await ask("PATCH", "/products/1", { as: "ada", body: { title: "Mine" } })).status, 403);
  assert.equal((await ask("POST", "/products/9/reviews", { as: "ada", body: { stars: 5 } })).status, 404);
  assert.equal((await ask("POST", "/products/1/reviews", { body: { stars: 5 } })).status, 401);
});

test("lets only callers who may change a record write its nested records by default, and applies `writers` to one level only", async (t) => {
  const { ask } = await ownService(t, {
    mounts: [shop, mount(reviews, { permission: own, writers: "readers" }), mount(comments, { permission: own })],
  });
  await ask("POST", "/products", { as: "root", body: { title: "Key" } });
  await ask("POST", "/products/1/reviews", { as: "ada", body: { stars: 5 } });

  // A caller who may change the review can comment on it without a permission to change the product.
  assert.equal((await ask("POST", "/products/1/reviews/1/comments", { as: "ada", body: { said: "Yes" } })).status, 201);
  assert.equal((await ask("POST", "/products/1/reviews/1/comments", { as: "ben", body: { said: "No" } })).status, 403);
  assert.equal((await ask("GET", "/products/1/reviews/1/comments", { as: "ben" })).json.length, 1);
});

test("answers 204 without a body if the caller may change a nested record but not read its parent", async (t) => {
  const boxes = defineResource({ name: "box", plural: "boxes", fields: { title: text() } });
  const letters = defineResource({ name: "letter", within: boxes, fields: { said: text(), secret: text() } });
  const lines = defineResource({ name: "line", within: letters, fields: { said: text() } });
  const handle = () => ({ values: { said: "sealed" } });
  const { ask } = await ownService(t, {
    mounts: [
      mount(boxes, {
        permission: {
          list: administrator,
          read: administrator,
          create: administrator,
          update: anyOf(administrator, authenticated),
        },
      }),
      mount(letters, {
        permission: authenticated,
        arrays: true,
        actions: { seal: { permission: authenticated, handle } },
      }),
      mount(lines, { permission: authenticated }),
    ],
  });
  await ask("POST", "/boxes", { as: "root", body: { title: "Key" } });
  await ask("POST", "/boxes/1/letters", { as: "root", body: { said: "Yes", secret: "no" } });
  await ask("POST", "/boxes/1/letters/1/lines", { as: "root", body: { said: "Yes" } });
  assert.equal((await ask("GET", "/boxes/1/letters/1", { as: "ada" })).status, 404);

  for (const [method, path, body] of [
    ["PATCH", "/boxes/1/letters/1", { said: "1" }],
    ["PATCH", "/boxes/1/letters", [{ id: 1, said: "2" }]],
    ["POST", "/boxes/1/letters/1/seal", {}],
    ["PATCH", "/boxes/1/letters/1/lines/1", { said: "1" }],
  ] as const) {
    for (const replayed of [null, "true"]) {
      const headers = { "idempotency-key": `${method}-${path}` };
      const answered = await ask(method, path, { as: "ada", body, headers });
      assert.deepEqual([answered.status, answered.text, answered.headers.get("etag")], [204, "", null], path);
      assert.equal(answered.headers.get("idempotency-replayed"), replayed);
    }
    assert.equal((await ask(method, path, { as: "root", body })).status, 200, path);
  }
});

test("refuses the option `writers` without a parent, or with an unknown value", () => {
  assert.throws(
    () => mount(products, { permission: authenticated, writers: "readers" }),
    /writers is for nested resources/,
  );
  assert.throws(() => mount(reviews, { permission: authenticated, writers: "anyone" as "readers" }), /writers/);
});
