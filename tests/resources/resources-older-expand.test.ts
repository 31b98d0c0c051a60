import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, defineResource, integer, mount, owner, reference, text } from "../../src/door/index.ts";
import { olderShape } from "../../src/door/resources.ts";
import { ownService } from "../harness/own-service.ts";

const shop = defineResource({ name: "shop", fields: { title: text(), secret: text(), owner_id: integer() } });
const order = defineResource({
  name: "order",
  fields: { state: text(), shop_id: reference("shops"), hidden_id: reference("shops", { optional: true }) },
});
const item = defineResource({
  name: "item",
  within: order,
  fields: { amount: integer(), note: text({ default: "n" }) },
});
const all = { list: anyone, read: anyone, create: anyone };
const shops = mount(shop, { permission: { ...all, list: owner("owner_id"), read: owner("owner_id") } });
const items = mount(item, { permission: all, writers: "readers" });
const orders = mount(order, { permission: all, expand: { shop: "shop_id", hidden: "hidden_id", items } });
const older = [
  olderShape(orders, { prefix: "/v1", fields: { status: "state", shop_id: "shop_id" } }),
  olderShape(items, { prefix: "/v1", fields: { count: "amount" } }),
  olderShape(shops, { prefix: "/v1", fields: { name: "title", owner_id: "owner_id" }, defaults: { secret: "-" } }),
  olderShape(orders, { prefix: "/v0", fields: { status: "state", shop_id: "shop_id" } }),
];

test("expands the related records of an older shape in the shapes of the same prefix", async (t) => {
  const api = await ownService(t, { mounts: [shops, orders, items, ...older] });
  const make = (path: string, body: unknown) => api.ask("POST", path, { body, as: "ada" });
  await make("/shops", { title: "Mine", secret: "s", owner_id: 2 });
  await make("/shops", { title: "Theirs", secret: "s", owner_id: 3 });
  await make("/orders", { state: "open", shop_id: 1, hidden_id: 1 });
  await make("/orders", { state: "paid", shop_id: 2 });
  for (let amount = 1; amount <= 101; amount++) await make("/orders/1/items", { amount });

  const list = await api.get("/v1/orders?expand=shop,items", { as: "ada" });

  assert.equal(list.status, 200, list.text);
  const [mine, theirs] = list.json;
  assert.deepEqual(Object.keys(mine), ["id", "status", "shop_id", "shop", "items", "items_next"]);
  assert.deepEqual(mine.shop, { id: 1, name: "Mine", owner_id: 2 });
  assert.deepEqual(mine.items[100 - 1], { id: 100, count: 100 });
  assert.equal(theirs.shop, null);
  assert.deepEqual(theirs.items, []);
  const next = await api.get(mine.items_next, { as: "ada" });
  assert.match(mine.items_next, /^\/v1\/orders\/1\/items\?/);
  assert.deepEqual(next.json, [{ id: 101, count: 101 }]);
  const one = await api.get("/v1/orders/1?expand=shop&fields=status", { as: "ada" });
  assert.deepEqual(one.json, { status: "open", shop: mine.shop });
  assert.equal((await api.get("/v1/orders?expand=hidden", { as: "ada" })).status, 400);
  // Shops have no shape under /v0, so the shop has its present shape.
  const before = await api.get("/v0/orders/1?expand=shop", { as: "ada" });
  assert.deepEqual(before.json.shop, { id: 1, title: "Mine", secret: "s", owner_id: 2 });
});
