import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyone, decimal, defineResource, integer, mount } from "../../src/door/index.ts";
import { number } from "../../src/door/resources.ts";
import { onBoth } from "../harness/existing.ts";

const fields = { at: number(), low: number({ minimum: -1.5, maximum: 1.5, optional: true }) };
const place = defineResource({
  name: "place",
  fields,
  filters: { at: ["eq", "in", "lt", "gte"], low: ["null", "eq"] },
  sorts: ["at"],
  scans: true,
});
const mounts = [mount(place, { permission: anyone, arrays: true })];
const odd = [0.1 + 0.2, 5e-324, 2.2250738585072014e-308, -1 / 3, 9007199254740991, 123456789.12345679, 5, -0.5];

onBoth("a number comes back as it was sent, in lists and alone", "SELECT 1", async ({ serve }) => {
  const api = await serve(...mounts);

  const made = await api.ask("POST", "/places", { body: odd.map((at) => ({ at })) });

  assert.equal(made.status, 201, made.text);
  assert.deepEqual((await api.get("/places")).json, made.json);
  assert.deepEqual(
    made.json.map(({ at }: { at: number }) => at),
    odd,
  );
  assert.equal((await api.get("/places/1")).text, '{"id":1,"at":0.30000000000000004,"low":null}');
  for (const at of odd) {
    const found = await api.get(`/places?at=${at}`);
    assert.deepEqual(
      found.json.map((each: { at: number }) => each.at),
      [at],
      found.text,
    );
  }
  const sorted = await api.get("/places?sort=at&limit=3");
  assert.deepEqual(
    sorted.json.map(({ at }: { at: number }) => at),
    odd.toSorted((a, b) => a - b).slice(0, 3),
  );
  const next = /<([^>]+)>; rel="next"/.exec(sorted.headers.get("link")!)![1]!;
  assert.deepEqual(
    (await api.get(next)).json.map(({ at }: { at: number }) => at),
    odd.toSorted((a, b) => a - b).slice(3, 6),
  );
  assert.deepEqual((await api.get("/places?at[in]=5,-5e-1")).json.length, 2);
  assert.deepEqual((await api.ask("QUERY", "/places", { body: { where: { not: { at: { lt: 1 } } } } })).json.length, 3);
});

onBoth("what is no number is refused with its place", "SELECT 1", async ({ serve }) => {
  const api = await serve(...mounts);

  for (const at of ['"1"', "null", "true", "1e400", "[1]"])
    assert.equal((await api.ask("POST", "/places", { body: `{"at":${at}}` })).status, 400, at);
  const wide = await api.ask("POST", "/places", { body: { at: 1, low: 1.6 } });
  assert.deepEqual(wide.json.errors, [
    { pointer: "/low", code: "too_large", detail: "The number must be 1.5 or less." },
  ]);
  for (const text of ["NaN", "Infinity", "1e999", "0x10", "1.", "+1", ""])
    assert.equal((await api.get(`/places?at=${encodeURIComponent(text)}`)).status, 400, text);
  const asked = await api.ask("QUERY", "/places", { body: { where: { at: { eq: "1" } } } });
  assert.deepEqual(asked.json.errors, [{ pointer: "/where/at/eq", code: "invalid", detail: "A number is required." }]);
  assert.equal((await api.ask("POST", "/places", { body: '{"at":-0.0}' })).text, '{"id":1,"at":0,"low":null}');
});

onBoth(
  "numbers of tables that were there before are shown as they are, and NaN is a fault",
  {
    sqlite:
      "CREATE TABLE reading (id integer PRIMARY KEY, at double, low real); INSERT INTO reading VALUES (1, 0.1, 0.1), (2, 3, -2.5)",
    postgres:
      "CREATE TABLE reading (id serial PRIMARY KEY, at double precision, low real); INSERT INTO reading VALUES (1, 0.1, 0.1), (2, 3, -2.5)",
  },
  async ({ serve, sql, engine }) => {
    const reading = defineResource({
      name: "reading",
      table: "reading",
      writes: ["create", "update"],
      fields: { at: number(), low: number({ optional: true }) },
      filters: { at: ["eq"], low: ["eq", "gt"] },
      sorts: ["low"],
      scans: true,
    });
    const api = await serve(mount(reading, { permission: anyone }));

    assert.deepEqual((await api.get("/readings")).json, [
      { id: 1, at: 0.1, low: 0.1 },
      { id: 2, at: 3, low: -2.5 },
    ]);
    assert.equal((await api.get("/readings?low=0.1")).json.length, 1);
    assert.equal((await api.get("/readings?low[gt]=1e300")).json.length, 0);
    assert.equal((await api.get("/readings?sort=-low")).json[0].id, 1);
    const changed = await api.ask("PATCH", "/readings/1", { body: { low: 0.7, at: 1 / 3 } });
    assert.deepEqual(changed.json, { id: 1, at: 1 / 3, low: 0.7 });
    if (engine === "postgres")
      assert.equal((await api.ask("PATCH", "/readings/1", { body: { low: 1e300 } })).status, 400);

    for (const bad of engine === "postgres"
      ? ["'NaN'", "'Infinity'", "'-Infinity'"]
      : ["9e999", "-9e999", "'text'", "9007199254740993"]) {
      await sql(`UPDATE reading SET low = ${bad} WHERE id = 2`);
      if (bad === "9007199254740993") continue;
      assert.equal((await api.get("/readings/2")).status, 500, bad);
      assert.equal((await api.get("/readings")).status, 500, bad);
    }
  },
);

for (const [what, before, after, values, isKept] of [
  ["an integer", integer(), number(), [1, -9007199254740991], true],
  ["a decimal", decimal({ scale: 2, maximum: "999.99" }), number(), ["12.50", "0.10"], true],
  ["a number with whole values", number(), integer(), [3, -7], true],
  ["a number with few digits", number(), decimal({ scale: 2, maximum: "999.99" }), [0.1, 12.34], true],
  ["a number with many digits", number(), decimal({ scale: 2, maximum: "999.99" }), [0.125], false],
] as const)
  onBoth(`${what} becomes the other kind where nothing is lost`, "SELECT 1", async ({ serve, makeStore }) => {
    const first = await serve(
      mount(defineResource({ name: "thing", fields: { n: before as never } }), { permission: anyone, arrays: true }),
    );
    const made = await first.ask("POST", "/things", { body: values.map((n) => ({ n })) });
    assert.equal(made.status, 201, made.text);
    await first.service.close();
    void makeStore;

    const second = mount(defineResource({ name: "thing", fields: { n: after as never } }), { permission: anyone });
    // What a start does is what the program before can live with: types wait for a migration.
    await assert.rejects(serve(second), isKept ? /migrat/i : /./);
  });

test("every number that is sent as text is read as JSON reads it", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const read = fields.at.kind.parseText(JSON.stringify(value));
      assert.ok(Object.is(read, value === 0 ? 0 : value));
    }),
  );
});
