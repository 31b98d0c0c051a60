import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyone,
  boolean,
  decimal,
  defineResource,
  enumeration,
  integer,
  mount,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { olderShape } from "../../src/door/resources.ts";
import { onBoth } from "../harness/existing.ts";

const line = defineResource({
  name: "line",
  fields: {
    product: text(),
    count: integer(),
    price: decimal({ scale: 2, maximum: "9999999.99" }),
    rate: decimal({ scale: 4, maximum: "1", json: "number", default: 0 }),
    secret: text({ writeOnly: true, optional: true }),
  },
  computed: {
    sum: { as: decimal({ scale: 2, maximum: "99999999999.99" }), sql: '"count" * "price"' },
    taxed: { as: decimal({ scale: 2, maximum: "99999999999.99" }), sql: '"count" * "price" * (1 + "rate")' },
    large: { as: boolean(), sql: '"count" > 10' },
    label: { as: text(), sql: `"product" || ' × ' || "count"` },
    size: {
      as: enumeration(["few", "many"], { optional: true }),
      sql: `CASE WHEN "count" = 0 THEN NULL WHEN "count" < 5 THEN 'few' ELSE 'many' END`,
    },
    twice: { as: text(), from: ({ product }) => product + product },
  },
  filters: { count: ["gte"] },
  sorts: ["count"],
});
const lines = mount(line, { permission: anyone, arrays: true });
const body = { product: "Key", count: 3, price: "12.55", rate: 0.1, secret: "s" };
const shown = {
  id: 1,
  product: "Key",
  count: 3,
  price: "12.55",
  rate: 0.1,
  sum: "37.65",
  taxed: "41.42",
  large: false,
  label: "Key × 3",
  size: "few",
  twice: "KeyKey",
};

onBoth("shows fields computed by SQL in every response with the record", "SELECT 1", async ({ serve }) => {
  const old = olderShape(lines, {
    prefix: "/v1",
    fields: { total: "sum", product: "product", count: "count" },
    defaults: { price: "1.00" },
  });
  const api = await serve(lines, old);
  const ask = (method: string, path: string, sent?: unknown, headers = {}) =>
    api.ask(method, path, { body: sent, headers });

  const made = await ask("POST", "/lines", body, { "idempotency-key": "12345678" });

  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.json, shown);
  assert.deepEqual((await ask("POST", "/lines", body, { "idempotency-key": "12345678" })).json, shown);
  const one = await api.get("/lines/1");
  assert.deepEqual(one.json, shown);
  assert.deepEqual((await api.get("/lines")).json, [shown]);
  assert.deepEqual((await api.get("/lines?fields=sum,size&count[gte]=1&sort=-count")).json, [
    { sum: "37.65", size: "few" },
  ]);
  assert.deepEqual((await ask("QUERY", "/lines", { where: { not: { count: { gte: 9 } } } })).json, [shown]);
  assert.deepEqual((await api.get("/v1/lines")).json, [{ id: 1, total: "37.65", product: "Key", count: 3 }]);
  const changed = await ask("PATCH", "/lines/1", { count: 20 }, { "if-match": one.headers.get("etag")! });
  assert.deepEqual([changed.json.sum, changed.json.large, changed.json.size], ["251.00", true, "many"]);
  assert.equal(changed.headers.get("etag"), (await api.get("/lines/1")).headers.get("etag"));
  const repeated = await ask("PUT", "/lines/1", changed.json);
  assert.equal(repeated.status, 200, repeated.text);
  assert.deepEqual((await ask("PATCH", "/lines/1", { sum: "1.00" })).json.errors[0], {
    pointer: "/sum",
    code: "read_only",
    detail: "This field cannot be set.",
  });
  const several = await ask("POST", "/lines", [{ ...body, count: 0 }, body]);
  assert.deepEqual(
    several.json.map(({ sum, size }: typeof shown) => [sum, size]),
    [
      ["0.00", null],
      ["37.65", "few"],
    ],
  );
  assert.equal((await ask("DELETE", "/lines/1")).status, 204);
});

onBoth(
  "computes fields of an existing table with SQL that uses the declared names of the columns",
  {
    sqlite:
      "CREATE TABLE sale (nr integer PRIMARY KEY, n integer NOT NULL, p decimal(8,2)); INSERT INTO sale VALUES (1, 3, 1.1), (2, 1, NULL)",
    postgres:
      "CREATE TABLE sale (nr integer PRIMARY KEY, n integer NOT NULL, p numeric(8,2)); INSERT INTO sale VALUES (1, 3, 1.1), (2, 1, NULL)",
  },
  async ({ serve }) => {
    const sale = defineResource({
      name: "sale",
      table: "sale",
      columns: { id: "nr", count: "n", price: "p" },
      writes: ["update"],
      fields: { count: integer(), price: decimal({ scale: 2, maximum: "999.99", optional: true }) },
      computed: { sum: { as: decimal({ scale: 2, maximum: "9999.99", optional: true }), sql: '"count" * "price"' } },
    });
    const api = await serve(mount(sale, { permission: anyone }));

    assert.deepEqual(
      (await api.get("/sales")).json.map(({ sum }: { sum: string }) => sum),
      ["3.30", null],
    );
    assert.equal((await api.ask("PATCH", "/sales/1", { body: { count: 4 } })).json.sum, "4.40");
  },
);

for (const [what, sql, as, pattern] of [
  ["invalid SQL", '"count" +', integer(), /the database refuses/],
  ["an unknown column", '"nothing"', integer(), /the database refuses/],
  ["a random value", "CAST(random() AS INTEGER)", integer(), /the database refuses/],
  ["a query of a table", '(SELECT count(*) FROM "lines")', integer(), /the database refuses/],
  ["a value of a wrong type", `"count" || ''`, integer(), /is not integer|is of type text/],
  ["no value for a required field", 'CASE WHEN "count" > 5 THEN "count" END', integer(), /in the rows 1/],
] as const)
  onBoth(`stops the start for a computed field with ${what}`, "SELECT 1", async ({ serve }) => {
    const fields = { count: integer() };
    const before = await serve(mount(defineResource({ name: "line", fields }), { permission: anyone }));
    await before.ask("POST", "/lines", { body: { count: 1 } });
    const after = defineResource({
      name: "line",
      fields,
      computed: { made: { as, sql } },
    });

    await assert.rejects(serve(mount(after, { permission: anyone })), pattern);
  });

test("requires either `from` or `sql` for a computed field, and refuses a sort by a field that SQL computes", () => {
  const fields = { count: integer() };
  const as = integer();

  assert.throws(
    () => defineResource({ name: "line", fields, computed: { made: { as } as never } }),
    /from is missing; or write sql/,
  );
  const both = { as, sql: "1", from: () => 1 };
  assert.throws(() => defineResource({ name: "line", fields, computed: { made: both } }), /one of the two/);
  assert.throws(
    () => defineResource({ name: "line", fields, computed: { made: { as, sql: "1" } }, sorts: ["made" as never] }),
    /no index contains it/,
  );
  assert.throws(
    () => defineResource({ name: "line", fields, computed: { made: { as, sql: " " } } }),
    /not an expression/,
  );
});

onBoth("shows computed fields of related records only to callers who may read them", "SELECT 1", async ({ serve }) => {
  const order = defineResource({
    name: "order",
    fields: { title: text(), owner_id: integer() },
    computed: { shout: { as: text(), sql: 'upper("title")' } },
  });
  const item = defineResource({
    name: "item",
    within: order,
    fields: { count: integer(), order: reference("orders", { optional: true }) },
    computed: { twice: { as: integer(), sql: '"count" * 2' } },
  });
  const mine = owner("owner_id");
  const permission = { list: mine, read: mine, create: anyone };
  const items = mount(item, {
    permission: { list: anyone, read: anyone, create: anyone },
    expand: { other: "order" },
    writers: "readers",
  });
  const api = await serve(mount(order, { permission, expand: { items } }), items);
  await api.ask("POST", "/orders", { as: "ada", body: { title: "a", owner_id: 2 } });
  await api.ask("POST", "/orders", { as: "ben", body: { title: "b", owner_id: 3 } });
  for (const order of [1, 2]) await api.ask("POST", "/orders/1/items", { as: "ada", body: { count: order, order } });

  const seen = await api.get("/orders?expand=items.other", { as: "ada" });

  assert.equal(seen.status, 200, seen.text);
  const one = { id: 1, title: "a", owner_id: 2, shout: "A" };
  assert.deepEqual(seen.json, [
    {
      ...one,
      items: [
        { id: 1, count: 1, order: 1, other: one, twice: 2 },
        { id: 2, count: 2, order: 2, other: null, twice: 4 },
      ],
    },
  ]);
  assert.deepEqual((await api.get("/orders/1?expand=items&fields=shout", { as: "ada" })).json.shout, "A");
});

onBoth(
  "answers 500 to a write whose computed value does not fit its field, and reports a fault",
  "SELECT 1",
  async (made) => {
    const calc = defineResource({
      name: "calc",
      fields: { i: integer(), t: text({ optional: true }) },
      computed: { isx: { as: boolean(), sql: `"t" = 'x'` } },
    });
    const { ask, get, observed } = await made.serve(mount(calc, { permission: anyone, arrays: true }));
    await ask("POST", "/calcs", { body: { i: 1, t: "x" } });

    const answers = [
      await ask("POST", "/calcs", { body: { i: 0 } }),
      await ask("POST", "/calcs", { body: [{ i: 0, t: "x" }, { i: 0 }] }),
      await ask("POST", "/calcs", { as: "ada", body: { i: 0 }, headers: { "idempotency-key": "12345678" } }),
      await ask("PATCH", "/calcs/1", { body: { t: null } }),
      await ask("PATCH", "/calcs", { body: [{ id: 1, t: null }] }),
      await ask("PUT", "/calcs/1", { body: { i: 0 } }),
      await ask("PUT", "/calcs/9", { body: { i: 0 } }),
    ];

    const faults = observed.flatMap((each) => (each.kind === "fault" ? [String(each.error)] : []));
    assert.deepEqual(
      answers.map(({ status }) => status),
      answers.map(() => 500),
    );
    assert.equal(faults.length, answers.length);
    for (const fault of faults)
      assert.match(fault, /the value computed by SQL of the row \d+ is not a value of the field calcs\.isx/);
    assert.deepEqual((await get("/calcs")).json, [{ id: 1, i: 1, t: "x", isx: true }]);
  },
);

onBoth(
  "answers 500 if the default or trigger of an existing table stores an invalid value, and reports a fault",
  {
    sqlite: `CREATE TABLE lamp (id integer PRIMARY KEY, name text, level integer NOT NULL DEFAULT 'high');
      INSERT INTO lamp (name, level) VALUES ('one', 1);
      CREATE TRIGGER bright AFTER UPDATE OF name ON lamp BEGIN UPDATE lamp SET level = 'high' WHERE id = new.id; END;`,
    postgres: `CREATE TABLE lamp (id serial PRIMARY KEY, name text, level bigint NOT NULL DEFAULT 9007199254740993);
      INSERT INTO lamp (name, level) VALUES ('one', 1);
      CREATE FUNCTION bright() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN new.level = 9007199254740993; RETURN new; END $f$;
      CREATE TRIGGER bright BEFORE UPDATE ON lamp FOR EACH ROW EXECUTE FUNCTION bright();`,
  },
  async (made) => {
    const lamp = defineResource({
      name: "lamp",
      table: "lamp",
      writes: ["create", "update"],
      fields: { name: text(), level: integer({ readOnly: true, filled: true }) },
    });
    const { ask, get, observed } = await made.serve(mount(lamp, { permission: anyone }));

    const answers = [
      await ask("POST", "/lamps", { body: { name: "two" } }),
      await ask("PATCH", "/lamps/1", { body: { name: "three" } }),
    ];

    const faults = observed.flatMap((each) => (each.kind === "fault" ? [String(each.error)] : []));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [500, 500],
    );
    for (const fault of faults) assert.match(fault, /of the row \d+ is not a value of the field lamps?\.level/);
    assert.equal(faults.length, 2);
    assert.deepEqual((await get("/lamps")).json, [{ id: 1, name: "one", level: 1 }]);
  },
);
