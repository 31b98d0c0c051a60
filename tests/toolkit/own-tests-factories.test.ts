import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import * as v from "valibot";
import {
  anyone,
  boolean,
  caller,
  dateTime,
  decimal,
  defineResource,
  email,
  enumeration,
  integer,
  json,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import { array, date, defineField, Flaw, standardSchema, updatedAt, url, uuid } from "../../src/door/resources.ts";
import { factory, testService } from "../../src/testing/testing.ts";

const parsePlate = (value: unknown) =>
  typeof value === "string" && /^[A-Z]{2}-\d{3}$/.test(value) ? value : new Flaw("invalid", "A plate is required.");
const plate = {
  name: "plate",
  parse: parsePlate,
  parseText: parsePlate,
  schema: { type: "string" },
  column: { type: "text" },
} as const;

const everything = defineResource({
  name: "thing",
  id: "uuid",
  fields: {
    title: text({ minLength: 3, maxLength: 12 }),
    code: text({ pattern: { matches: /^[A-Z]{3}$/, detail: "Three capitals." }, example: "ABC" }),
    plate: defineField(plate, { example: "AB-123" }),
    mail: email({ unique: "case-insensitive" }),
    pages: integer({ minimum: -5, maximum: 5 }),
    price: decimal({ scale: 2, minimum: "0.05", maximum: "99.99" }),
    draft: boolean(),
    state: enumeration(["new", "old"]),
    at: dateTime(),
    day: date(),
    home: url(),
    key: uuid(),
    tags: array(text({ maxLength: 10 }), { minItems: 1, maxItems: 3 }),
    extra: json(),
    size: standardSchema(v.object({ width: v.number(), unit: v.picklist(["cm", "in"]) }), {
      jsonSchema: {
        type: "object",
        properties: { width: { type: "number" }, unit: { enum: ["cm", "in"] } },
        required: ["width", "unit"],
      },
    }),
    note: text({ optional: true }),
    other_id: reference("things", { id: "uuid", optional: true }),
    rank: integer({ default: 3 }),
    secret: text({ writeOnly: true }),
    changed_at: updatedAt(),
  },
  check: ({ pages, day }) =>
    pages > 4 && day < "2020" ? [{ pointer: "/pages", code: "invalid", detail: "Too many then." }] : [],
});

test("generates values for every kind of field, which the service accepts and shows unchanged", async () => {
  await using api = await testService({ mounts: [mount(everything, { permission: anyone })] });
  const thing = factory(everything, { seed: "every kind" });

  for (const draft of thing.drafts(100)) {
    const made = await api.post("/things", draft);
    assert.equal(made.status, 201, `${made.text} ${JSON.stringify(draft)}`);
    const { secret: _, ...shown } = draft;
    assert.partialDeepStrictEqual(made.json, shown);
  }
});

test("generates records with exactly the fields that a response shows", async () => {
  await using api = await testService({ mounts: [mount(everything, { permission: anyone })] });
  const thing = factory(everything, { seed: 1 });
  const { json: shown } = await api.post("/things", thing.draft());

  const record = thing.record();

  assert.deepEqual(Object.keys(record), Object.keys(shown as object));
  assert.match(record.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
});

test("generates the same values from the same seed, and different values from another seed", () => {
  const draw = (seed: number) => factory(everything, { seed }).drafts(20);

  assert.deepEqual(draw(1), draw(1));
  assert.notDeepEqual(draw(1), draw(2));
});

test("also generates the limits of ranges, null, and texts with characters outside ASCII", () => {
  const drawn = factory(everything, { seed: "ends" }).drafts(300);

  assert.ok(drawn.some(({ pages }) => pages === -5) && drawn.some(({ pages }) => pages === 5));
  assert.ok(drawn.some(({ note }) => note === null) && drawn.some(({ note }) => typeof note === "string"));
  assert.ok(drawn.some(({ title }) => /[^\u0020-\u007e]/.test(title)));
  assert.ok(drawn.some(({ title }) => title.length === 12));
});

test("uses the values that a test gives, even if they are invalid", () => {
  const thing = factory(everything, { seed: 1 });

  assert.equal(thing.draft({ title: "" }).title, "");
  assert.equal(thing.draft({ pages: 5, day: "2001-01-01" }).pages, 5);
  assert.equal(thing.record({ rank: 9 }).rank, 9);
});

test("leaves fields with a default out of a draft", () => {
  const owned = defineResource({ name: "owned", fields: { body: text(), owner_id: integer({ default: caller }) } });

  assert.deepEqual(Object.keys(factory(owned).draft()), ["body"]);
  assert.deepEqual(Object.keys(factory(owned).record()), ["id", "body", "owner_id"]);
});

test("names a field for which the factory can generate no value, and says how to fix the test", () => {
  const fields = { author_id: reference("authors") };
  const patterned = { code: text({ pattern: { matches: /^[A-Z]{9}$/, detail: "Nine capitals." } }) };
  const few = { state: enumeration(["new", "old"], { unique: true }) };
  const never = { check: () => [{ pointer: "/body", code: "invalid", detail: "Never." }] };

  assert.throws(() => factory(defineResource({ name: "book", fields })).draft(), /draft\(\{ author_id: … \}\)/);
  assert.equal(factory(defineResource({ name: "book", fields })).draft({ author_id: 3 }).author_id, 3);
  assert.throws(() => factory(defineResource({ name: "book", fields: patterned })).draft(), /Declare an example/);
  assert.throws(() => factory(defineResource({ name: "book", fields: few })).drafts(3), /and that no other record has/);
  const isbn = text({ pattern: { matches: /^\d{13}$/, detail: "Digits." }, unique: true, example: "9780141439518" });
  assert.throws(
    () => factory(defineResource({ name: "book", fields: { isbn } })).drafts(2),
    /book\.isbn is unique, and another record already has its example\. Give each further record a value: draft\(\{ isbn: … \}\)/,
  );
  assert.throws(
    () => factory(defineResource({ name: "book", fields: { body: text() }, ...never })).draft(),
    /The factory generated no book that its check accepts: \/body Never\./,
  );
});

test("prints the seed of a failed test, so that the next run can generate the same values", () => {
  const script = `
    import { factory } from "./src/testing/factories/factory.ts";
    import { defineResource } from "./src/resource/resource.ts";
    import { text } from "./src/resource/kinds/fields.ts";
    console.log(JSON.stringify(factory(defineResource({ name: "book", fields: { title: text() } })).drafts(3)));
    process.exitCode = Number(process.argv[1]);
  `;
  const run = (status: number, seed = "") =>
    spawnSync(process.execPath, ["--input-type=module", "-e", script, String(status)], {
      cwd: path.join(import.meta.dirname, "../.."),
      env: { ...process.env, TEST_SEED: seed },
      encoding: "utf8",
    });

  const failed = run(1);
  const seed = /TEST_SEED=(\d+)/.exec(failed.stderr)?.[1];
  const again = run(0, seed);

  assert.ok(seed !== undefined, failed.stderr);
  assert.equal(again.stdout, failed.stdout);
  assert.equal(again.stderr, "");
});
