import assert from "node:assert/strict";
import { test } from "node:test";
import { assertProblem, factory, testLatchkey } from "latchkey/testing";
import config from "../latchkey.config.ts";
import { books } from "../resources/books.ts";

const book = factory(books);

test("lets every caller read a record of a user", async () => {
  await using api = await testLatchkey(config);
  const ann = await api.user();
  const draft = book.draft();

  const made = (await api.as(ann).post("/books", draft)).record(books);
  const read = await api.get(`/books/${made.id}`);

  assert.deepEqual(read.json, { id: made.id, ...draft, owner_id: ann.id });
});

test("refuses a new record of a caller who is not logged in", async () => {
  await using api = await testLatchkey(config);

  const refused = await api.post("/books", book.draft());

  assertProblem(refused, 403, "authentication_failed");
});

test("lets only the owner change a record", async () => {
  await using api = await testLatchkey(config);
  const [ann, ben] = [await api.user(), await api.user()];
  const { id } = (await api.as(ann).post("/books", book.draft())).record(books);

  const refused = await api.as(ben).patch(`/books/${id}`, { title: "Mine" });
  const changed = await api.as(ann).patch(`/books/${id}`, { title: "Mine" });

  // Every caller may read the record. A hidden one would be 404, as if it did not exist.
  assertProblem(refused, 403, "permission_denied");
  assert.equal(changed.record(books).title, "Mine");
});

test("refuses a record without a title, and names the field", async () => {
  await using api = await testLatchkey(config);
  const ann = await api.user();

  const refused = await api.as(ann).post("/books", { ...book.draft(), title: "" });

  assertProblem(refused, 400, "invalid", { "/title": "too_short" });
});
