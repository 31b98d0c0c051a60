import assert from "node:assert/strict";
import { anyone, defineResource, email, integer, mount, text } from "../../src/door/index.ts";
import { onBoth } from "../harness/existing.ts";

// An operator has made unique indexes on a table of a resource, which the declaration of the resource does not contain.

const book = defineResource({
  name: "book",
  fields: {
    title: text(),
    order: integer({ optional: true }),
    shelf: text({ optional: true }),
    place: integer({ optional: true }),
    code: text({ optional: true }),
    contact: email({ optional: true, unique: true }),
  },
});
const indexes = [
  'CREATE UNIQUE INDEX by_order ON books ("order")',
  "CREATE UNIQUE INDEX by_place ON books (shelf, place)",
  "CREATE UNIQUE INDEX by_code ON books (code) WHERE place > 5",
  "CREATE UNIQUE INDEX by_title ON books (lower(title), place)",
];

onBoth("answers 409 if a unique index that the operator has made refuses a value", "SELECT 1", async (database) => {
  const api = await database.serve(mount(book, { permission: anyone, arrays: true }));
  for (const index of indexes) await database.sql(index);
  const create = (body: unknown) => api.ask("POST", "/books", { body });
  const first = { title: "Emma", order: 300, shelf: "A", place: 6, code: "e", contact: "emma@example.com" };
  assert.equal((await create(first)).status, 201);

  const refusals = [];
  for (const body of [
    { title: "B", order: 300 },
    { title: "B", shelf: "A", place: 6 },
    { title: "B", place: 7, code: "e" },
    { title: "EMMA", place: 6 },
    { title: "B", contact: "emma@example.com" },
    [{ title: "B" }, { title: "C", order: 300 }],
    [{ title: "B" }, { title: "EMMA", place: 6 }],
  ]) {
    const { status, json } = await create(body);
    const pointers = json.errors?.map(({ pointer, code }: Record<string, unknown>) => [pointer, code]);
    refusals.push([status, json.code, pointers]);
  }
  const second = await create({ title: "B", place: 1, code: "e" });
  const changed = await api.ask("PATCH", `/books/${second.json.id}`, { body: { place: 8 } });

  assert.deepEqual(refusals, [
    [409, "taken", [["/order", "taken"]]],
    [409, "taken", [["/shelf", "taken"]]],
    [409, "taken", [["/code", "taken"]]],
    [409, "taken", undefined],
    [409, "taken", [["/contact", "taken"]]],
    [409, "taken", [["/1/order", "taken"]]],
    [409, "taken", [["/1", "taken"]]],
  ]);
  assert.deepEqual([changed.status, changed.json.errors?.[0].pointer], [409, "/code"], changed.text);
  // PostgreSQL uses an id for each try of an insert. A small id proves that the service tried each request only a few
  // times.
  assert.ok(second.json.id < 20, `id ${second.json.id}`);
  assert.deepEqual(
    api.observed.filter(({ kind }) => kind !== "request"),
    [],
  );
});
