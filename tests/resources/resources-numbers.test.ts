import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyone, decimal, defineResource, integer, mount } from "../../src/door/index.ts";
import { number } from "../../src/door/resources.ts";
import type { Change, Collection, WrittenValues } from "../../src/door/stores.ts";
import { onBoth } from "../harness/existing.ts";
import { readLinks } from "../harness/own-service.ts";

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

onBoth("returns a number as it was sent, in lists and in single records", "SELECT 1", async ({ serve }) => {
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

/**
 * Doubles that Node and the databases may spell differently: small ones, large ones, some on the border between two
 * spellings, and decimals halfway between two doubles.
 */
const borders = [
  0,
  -9007199254740991,
  1.5e-7,
  1e-6,
  9.9e-7,
  1.2345e-10,
  1e-100,
  123.45e-8,
  1e15,
  1e16,
  123456789012345680000,
  1e20,
  1e21,
  1.5e21,
  1e22,
  1e23,
  -1e23,
  2 ** 53,
  2 ** 54,
  18014398509481992,
  2 ** 63,
  2 ** 64,
  2 ** 70,
  1.7976931348623157e308,
  1e300,
  1e308,
];
const spelled = [
  ...odd,
  ...borders,
  ...fc.sample(fc.double({ noNaN: true, noDefaultInfinity: true }), { numRuns: 300, seed: 7 }),
  ...fc.sample(fc.double({ noNaN: true, min: 2 ** 53, max: 1e25 }), { numRuns: 300, seed: 8 }),
  ...fc.sample(fc.double({ noNaN: true, min: -1e-3, max: 1e-3 }), { numRuns: 200, seed: 9 }),
].map((at) => (at === 0 ? 0 : at));

onBoth(
  "writes numbers in lists, previous pages and expanded records as in single records",
  "SELECT 1",
  async ({ serve }) => {
    const visit = defineResource({ name: "visit", within: place, fields: { rate: number() } });
    const visits = mount(visit, { permission: anyone });
    const places = mount(place, { permission: anyone, expand: { visits } });
    const api = await serve(places, visits);
    const records = spelled.map((at, index) => ({ id: index + 1, at, low: null }));
    // Written directly to the store, because a request may not contain all of these values.
    const insert = (collection: Collection, values: WrittenValues): Change => ({ kind: "insert", collection, values });
    const { store } = api.service;
    await store.write({ changes: spelled.map((at) => insert(places.collection, { at })) });
    await store.write({
      changes: spelled.slice(0, 90).map((rate) => insert(visits.collection, { place_id: 1, rate })),
    });

    const whole = await api.get("/places?limit=1000");
    assert.equal(whole.text, JSON.stringify(records));
    const first = await api.get("/places?limit=40");
    const second = await api.get(readLinks(first)["next"]!);
    const back = await api.get(readLinks(second)["prev"]!);
    assert.deepEqual(
      [first.text, second.text],
      [JSON.stringify(records.slice(0, 40)), JSON.stringify(records.slice(40, 80))],
    );
    assert.deepEqual([back.text, back.headers.get("etag")], [first.text, first.headers.get("etag")]);
    for (const [at, record] of records.slice(0, 60).entries())
      assert.equal((await api.get(`/places/${at + 1}`)).text, JSON.stringify(record));
    const [expanded] = JSON.parse(
      (await api.get("/places?limit=1&expand=visits")).text.replaceAll(/"rate":([^}]*)/g, '"rate":"$1"'),
    ) as [{ visits: { rate: string }[] }];
    assert.deepEqual(
      expanded.visits.map(({ rate }) => rate),
      spelled.slice(0, 90).map((rate) => JSON.stringify(rate)),
    );
  },
);

onBoth("refuses a value that is not a number, and names its pointer", "SELECT 1", async ({ serve }) => {
  const api = await serve(...mounts);

  for (const at of ['"1"', "null", "true", "1e400", "[1]"])
    assert.equal((await api.ask("POST", "/places", { body: `{"at":${at}}` })).status, 400, at);
  const wide = await api.ask("POST", "/places", { body: { at: 1, low: 1.6 } });
  assert.deepEqual(wide.json.errors, [
    { pointer: "/low", code: "too_large", detail: "The number must be 1.5 or less." },
  ]);
  for (const text of ["NaN", "Infinity", "1e999", "0x10", "1.", "+1", ""])
    assert.equal((await api.get(`/places?at=${encodeURIComponent(text)}`)).status, 400, text);
  const answer = await api.ask("QUERY", "/places", { body: { where: { at: { eq: "1" } } } });
  assert.deepEqual(answer.json.errors, [{ pointer: "/where/at/eq", code: "invalid", detail: "A number is required." }]);
  assert.equal((await api.ask("POST", "/places", { body: '{"at":-0.0}' })).text, '{"id":1,"at":0,"low":null}');
});

onBoth(
  "shows the numbers of an existing table unchanged, and answers 500 to a stored value that JSON cannot contain",
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

const canMigrate = /To convert it from \S+ to \S+, run: latchkey db migrate/;
const cannotConvert = /cannot convert some existing values .* 1 does not fit \(id 1\)/;
for (const [what, before, after, values, reason] of [
  ["an integer", integer(), number(), [1, -9007199254740991], canMigrate],
  ["a decimal", decimal({ scale: 2, maximum: "999.99" }), number(), ["12.50", "0.10"], canMigrate],
  ["a number with whole values", number(), integer(), [3, -7], canMigrate],
  ["a number with few digits", number(), decimal({ scale: 2, maximum: "999.99" }), [0.1, 12.34], canMigrate],
  ["a number with many digits", number(), decimal({ scale: 2, maximum: "999.99" }), [0.125], cannotConvert],
] as const)
  onBoth(`refuses to start if the kind of ${what} changes without a migration`, "SELECT 1", async ({ serve }) => {
    const first = await serve(
      mount(defineResource({ name: "thing", fields: { n: before as never } }), { permission: anyone, arrays: true }),
    );
    const made = await first.ask("POST", "/things", { body: values.map((n) => ({ n })) });
    assert.equal(made.status, 201, made.text);
    await first.service.close();

    const second = mount(defineResource({ name: "thing", fields: { n: after as never } }), { permission: anyone });
    // A start changes tables only in ways that the previous version of the service still accepts. A change of a type
    // needs a migration.
    await assert.rejects(serve(second), reason);
  });

test("parses each number in a text to the same double as JSON does", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const read = fields.at.kind.parseText(JSON.stringify(value));
      assert.ok(Object.is(read, value === 0 ? 0 : value));
    }),
  );
});
