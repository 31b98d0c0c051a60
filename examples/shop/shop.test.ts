import assert from "node:assert/strict";
import { test } from "node:test";
import { assertProblem, testLatchkey } from "latchkey/testing";
import config from "./latchkey.config.ts";

test("a customer reviews a product of the shop, and changes no review of others", async () => {
  await using api = await testLatchkey(config);
  const [seller, ann, ben] = [await api.user({ role: "admin" }), await api.user(), await api.user()];
  const { location } = Object.fromEntries(
    (await api.as(seller).post("/products", { name: "Lamp", price: "49.00" })).headers,
  );

  const review = await api.as(ann).post(`${location}/reviews`, { stars: 5 });

  assert.equal(review.status, 201);
  const at = String(review.headers.get("location"));
  assert.equal((await api.as(ben).patch(at, { stars: 1 })).status, 403);
  assert.equal((await api.as(ann).patch(at, { stars: 4 })).status, 200);
  assertProblem(await api.as(ann).patch(String(location), { price: "1.00" }), 403, "permission_denied");
});

test("an order is cancelled by its customer, until it is sent", async () => {
  await using api = await testLatchkey(config);
  const [seller, ann, ben] = [await api.user({ role: "admin" }), await api.user(), await api.user()];
  await api.as(seller).post("/products", { name: "Lamp", price: "49.00" });
  const order = String((await api.as(ann).post("/orders", { product_id: 1 })).headers.get("location"));

  assert.equal((await api.as(ben).post(`${order}/cancel`)).status, 404);
  assert.equal((await api.as(seller).post(`${order}/send`)).status, 200);
  assertProblem(await api.as(ann).post(`${order}/cancel`), 409, "conflict");
});

test("a clerk sees the customers and sends their orders, and customers see only themselves", async () => {
  await using api = await testLatchkey(config);
  const [seller, clerk, ann] = [await api.user({ role: "admin" }), await api.user({ role: "clerk" }), await api.user()];
  await api.as(seller).post("/products", { name: "Lamp", price: "49.00" });
  const order = String((await api.as(ann).post("/orders", { product_id: 1 })).headers.get("location"));

  assert.equal((await api.as(clerk).get(`/users/${ann.id}`)).status, 200);
  assert.equal((await api.as(ann).get(`/users/${clerk.id}`)).status, 403);
  assert.equal((await api.as(clerk).post(`${order}/send`)).status, 200);
  assertProblem(await api.as(clerk).patch("/products/1", { price: "1.00" }), 403, "permission_denied");
});
