// Rules of fields in older shapes: a field of an older shape has the rules of the newer field, under any name.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { administrator, anyone, defineResource, integer, mount, text } from "../../src/door/index.ts";
import { olderShape } from "../../src/door/resources.ts";
import { ownService, type Own } from "../harness/own-service.ts";

const book = defineResource({
  name: "book",
  fields: {
    title: text({ maxLength: 40 }),
    price: integer({ optional: true, read: administrator, write: administrator }),
    cost: integer({ optional: true, read: administrator }),
    rank: integer({ default: 1, write: administrator }),
    stock: integer({ default: 0, readOnly: true }),
  },
  check: ({ price, cost }) =>
    (price ?? 0) + (cost ?? 0) > 50 ? [{ pointer: "/cost", code: "too_large", detail: "At most 50 together." }] : [],
  filters: { title: ["eq"], price: ["eq"], cost: ["eq"], rank: ["eq", "in"] },
});

async function startBooks(t: TestContext): Promise<Own> {
  const books = mount(book, { permission: anyone, arrays: true });
  const converted = { as: text({ maxLength: 9 }), show: String, read: Number } as const;
  const mounts = [
    books,
    olderShape(books, {
      prefix: "/v2",
      fields: {
        name: "title",
        fee: { from: "price", ...converted },
        charge: { from: "cost", ...converted },
        level: { from: "rank", ...converted },
      },
    }),
    olderShape(books, {
      prefix: "/v1",
      fields: { name: "title" },
      defaults: { price: 5, cost: 6, rank: 7, stock: 8 },
    }),
  ];
  const own = await ownService(t, { mounts });
  const made = await own.ask("POST", "/books", { as: "root", body: { title: "one", price: 2, cost: 3, rank: 4 } });
  assert.equal(made.status, 201, made.text);
  return own;
}

test("hides a converted field from a caller who may not read the newer field", async (t) => {
  const { ask, get } = await startBooks(t);

  assert.deepEqual((await get("/v2/books/1", { as: "ada" })).json, { id: 1, name: "one", level: "4" });
  assert.deepEqual((await get("/v2/books", { as: "ada" })).json, [{ id: 1, name: "one", level: "4" }]);
  const whole = { id: 1, name: "one", fee: "2", charge: "3", level: "4" };
  assert.deepEqual((await get("/v2/books/1", { as: "root" })).json, whole);
  for (const query of ["fields=fee", "fields=charge", "fee=2", "charge=3", "fee=9"]) {
    assert.equal((await get(`/v2/books?${query}`, { as: "ada" })).status, 400, query);
    assert.equal((await get(`/v2/books?${query}`, { as: "root" })).status, 200, query);
  }
  for (const [query, count] of [
    ["level=4", 1],
    ["level=5", 0],
    ["level[in]=4,5", 1],
  ] as const)
    for (const as of ["ada", "root"])
      assert.equal((await get(`/v2/books?${query}`, { as })).json.length, count, `${query} of ${as}`);
  for (const [body, issue] of [
    [{ fee: "5" }, "/fee unknown_field"],
    [{ level: "5" }, "/level read_only"],
  ] as const) {
    const { status, json } = await ask("PATCH", "/v2/books/1", { as: "ada", body });
    assert.deepEqual([status, `${json.errors[0].pointer} ${json.errors[0].code}`], [400, issue]);
  }
  const blind = await ask("PATCH", "/v2/books/1", { as: "ada", body: { charge: "8" } });
  assert.deepEqual([blind.status, blind.json], [200, { id: 1, name: "one", level: "4" }]);
  assert.deepEqual((await get("/v2/books/1", { as: "root" })).json, { ...whole, charge: "8" });
});

test("gives new records the defaults of their older shape, also for fields that the caller may not send", async (t) => {
  const { ask, get } = await startBooks(t);
  for (const as of ["ada", "root"]) {
    const { status, json } = await ask("POST", "/v1/books", { as, body: { name: "new" } });
    assert.deepEqual([status, json.name], [201, "new"], as);
    const whole = await get(`/books/${json.id}`, { as: "root" });
    assert.deepEqual(whole.json, { id: json.id, title: "new", price: 5, cost: 6, rank: 7, stock: 8 }, as);
  }
});

test("moves no tag of an older shape without the ruled fields, if only a hidden value of the record changes", async (t) => {
  const { ask, get } = await startBooks(t);
  const tagFor = async (as: string) => (await get("/v1/books/1", { as })).headers.get("etag");
  const [before, whole] = [await tagFor("ada"), await tagFor("root")];

  assert.equal((await ask("PATCH", "/books/1", { as: "root", body: { price: 9, cost: 9 } })).status, 200);

  assert.equal(await tagFor("ada"), before);
  assert.notEqual(await tagFor("root"), whole);
  assert.equal((await ask("PATCH", "/books/1", { as: "root", body: { rank: 9 } })).status, 200);
  assert.notEqual(await tagFor("ada"), before, "ada may read the rank in the newer shape");
  const tag = await tagFor("ada");
  const body = [{ id: 1, name: "two", if_match: tag }];
  assert.equal((await ask("PATCH", "/v1/books", { as: "ada", body })).status, 200);
  assert.equal((await ask("PATCH", "/v1/books", { as: "ada", body })).status, 412);
});

test("checks a whole record that is written in an older shape, and names no hidden field", async (t) => {
  const { ask } = await startBooks(t);
  const charge = (as: string) => ask("PATCH", "/v2/books/1", { as, body: { charge: "49" } });

  const hidden = await charge("ada");
  assert.deepEqual([hidden.status, hidden.json.code, hidden.json.errors], [409, "conflict", undefined]);
  const known = await charge("root");
  assert.deepEqual([known.status, known.json.errors?.[0].pointer], [400, "/charge"]);
  assert.equal((await ask("PATCH", "/v2/books/1", { as: "ada", body: { charge: "48" } })).status, 200);
});

test("computes no field for a caller who may not read it, under any name", async (t) => {
  const computed: number[] = [];
  const sum = defineResource({
    name: "sum",
    fields: { title: text({ maxLength: 40 }), left: integer({ default: 1 }) },
    computed: {
      doubled: {
        as: integer({ read: administrator }),
        from({ left }) {
          computed.push(left);
          return 2 * left;
        },
      },
    },
  });
  const sums = mount(sum, { permission: anyone });
  const older = olderShape(sums, { prefix: "/v1", fields: { name: "title", twice: "doubled" } });
  const { ask, get } = await ownService(t, { mounts: [sums, older] });
  assert.equal((await ask("POST", "/sums", { as: "root", body: { title: "x" } })).status, 201);
  for (const path of ["/sums", "/sums/1", "/v1/sums", "/v1/sums/1"]) {
    computed.length = 0;
    const { text: body } = await get(path, { as: "ada" });
    assert.doesNotMatch(body, /doubled|twice/, path);
    assert.deepEqual(computed, [], path);
    assert.match((await get(path, { as: "root" })).text, /"(?:doubled|twice)":2/);
    assert.deepEqual(computed, [1], path);
  }
});
