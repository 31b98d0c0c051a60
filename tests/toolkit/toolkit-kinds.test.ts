import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { openapiDocument } from "../../src/door/features.ts";
import { anyone, defineResource, mount, text, type RecordOf } from "../../src/door/index.ts";
import {
  DeclarationError,
  defineField,
  Flaw,
  standardSchema,
  type Field,
  type Kind,
  type StandardSchema,
} from "../../src/door/resources.ts";
import { ownService } from "../harness/own-service.ts";

const point = z.object({ lat: z.number().min(-90).max(90), lon: z.number(), tags: z.array(z.string()).optional() });

const phone: Kind<string> = {
  name: "phone",
  parse: (value) =>
    typeof value === "string" && /^\+[1-9]\d{6,14}$/.test(value)
      ? value
      : new Flaw("invalid", "A number with its country is required, like +4930123456."),
  parseText: (value) => phone.parse(value),
  schema: { type: "string", pattern: "^\\+[1-9]\\d{6,14}$" },
  column: { type: "text" },
};

const places = defineResource({
  name: "place",
  fields: {
    at: standardSchema(point, { example: { lat: 52.5, lon: 13.4 } }),
    slug: standardSchema(v.pipe(v.string(), v.regex(/^[a-z-]+$/)), { column: "text", jsonSchema: { type: "string" } }),
    seats: standardSchema(type("1 <= number.integer <= 500"), { column: "integer", optional: true }),
    open: standardSchema(z.boolean(), { column: "boolean", default: true }),
    since: standardSchema(z.iso.datetime({ offset: true }), { column: "date-time", optional: true }),
    note: standardSchema(toStandardJsonSchema(v.object({ by: v.pipe(v.string(), v.minLength(2)) })), {
      optional: true,
    }),
    phone: defineField(phone, { optional: true }),
  },
  filters: { slug: ["eq", "starts"], seats: ["gte"], open: ["eq"], phone: ["eq"] },
});

test("uses a schema of zod, valibot or arktype as a kind of field, with its types", async (t) => {
  const { ask, get } = await ownService(t, { mounts: [mount(places, { permission: anyone })] });
  const typed: Pick<RecordOf<typeof places>, "at" | "seats" | "open"> = {
    at: { lat: 1, lon: 2 },
    seats: null,
    open: true,
  };
  const body = {
    ...typed,
    slug: "old-mill",
    seats: 12,
    since: "2026-01-31T10:30:00+01:00",
    note: { by: "Ann" },
    phone: "+4930123456",
  };

  const made = await ask("POST", "/places", { body });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.json, { id: 1, ...body, since: "2026-01-31T09:30:00.000Z" });
  assert.equal((await ask("PATCH", "/places/1", { body: { seats: null } })).json.seats, null);
  assert.equal((await get("/places?slug[starts]=old&open=true&phone=%2B4930123456")).json.length, 1);
  const xml = `<place><at>{"lat":1,"lon":2}</at><slug>b</slug><seats>7</seats><open>false</open></place>`;
  const read = await ask("POST", "/places", { body: xml, headers: { "content-type": "application/xml" } });
  assert.equal(read.status, 201, read.text);
  assert.deepEqual([read.json.at, read.json.seats, read.json.open], [{ lat: 1, lon: 2 }, 7, false]);
});

test("reports the mistakes that a schema finds, each with its pointer", async (t) => {
  const { ask } = await ownService(t, { mounts: [mount(places, { permission: anyone })] });
  const body = {
    at: { lat: 91, tags: ["a", 1] },
    slug: "Old Mill",
    seats: 0.5,
    note: { by: "A" },
    phone: "110",
    open: "yes",
  };

  const { status, json } = await ask("POST", "/places", { body });

  assert.equal(status, 400);
  const issues: readonly { pointer: string; code: string; detail: string }[] = json.errors;
  assert.deepEqual(issues.map(({ pointer }) => pointer).toSorted(), [
    "/at/lat",
    "/at/lon",
    "/at/tags/1",
    "/note/by",
    "/open",
    "/phone",
    "/seats",
    "/slug",
  ]);
  for (const each of issues) {
    assert.equal(each.code, "invalid");
    assert.ok(each.detail.length > 5, each.pointer);
    assert.deepEqual(Object.keys(each).toSorted(), ["code", "detail", "pointer"]);
  }
});

// oxlint-disable-next-line typescript/no-explicit-any -- read into, and asserted
type Described = Readonly<Record<string, any>>;

test("describes a field with the JSON Schema of the library, of the option `jsonSchema`, or of the kind", async () => {
  const document = await openapiDocument({
    title: "Places",
    version: "1",
    mounts: [mount(places, { permission: anyone })],
    schemes: [],
  });
  const { components } = document as { components: { schemas: { Place: { properties: Described } } } };
  const { properties } = components.schemas.Place;

  assert.equal(properties.at.properties.lat.maximum, 90);
  assert.deepEqual(properties.at.examples, [{ lat: 52.5, lon: 13.4 }]);
  assert.equal(properties.slug.type, "string");
  assert.equal(properties.seats.maximum, 500);
  assert.deepEqual(properties.note.type, ["object", "null"]);
  assert.equal(properties.phone.pattern, phone.schema["pattern"]);
  assert.doesNotMatch(JSON.stringify(document), /\$schema/);
});

/** Makes a schema that may break the rules of Standard Schema. */
function hostile(validate: (value: unknown) => unknown, jsonSchema?: object): StandardSchema<never> {
  return {
    "~standard": { version: 1, vendor: "hostile", validate, ...(jsonSchema === undefined ? {} : { jsonSchema }) },
  } as StandardSchema<never>;
}

function collectMistakes(make: () => unknown): readonly string[] {
  try {
    make();
    return [];
  } catch (error) {
    assert.ok(error instanceof DeclarationError, String(error));
    return error.mistakes;
  }
}

test("does not start with a schema that cannot be a field, and explains why", () => {
  const rows: readonly (readonly [make: () => Field, told: RegExp])[] = [
    [() => standardSchema({} as StandardSchema), /it is no Standard Schema of version 1/],
    [() => standardSchema(null as unknown as StandardSchema), /it is no Standard Schema/],
    [
      () =>
        standardSchema({ "~standard": { version: 2, vendor: "x", validate: () => ({}) } } as unknown as StandardSchema),
      /version 1/,
    ],
    [
      () =>
        standardSchema(
          v.pipeAsync(
            v.string(),
            v.checkAsync(async () => true),
          ) as StandardSchema<never>,
        ),
      /gives a promise/,
    ],
    [() => standardSchema(hostile(async () => Promise.reject(new Error("late")))), /gives a promise/],
    [() => standardSchema(hostile(() => runInNewContext("Promise.resolve(1)"))), /gives a promise/],
    [
      () =>
        standardSchema(
          hostile(() => assert.fail("no")),
          { column: "text" },
        ),
      /the schema throws: no/,
    ],
    [
      () => standardSchema(z.string(), { colum: "text" } as object),
      /standard: there is no option colum; did you mean column\?/,
    ],
    [
      () => standardSchema(z.string(), { column: "txt" } as object),
      /one of text, integer, boolean, date-time, json; did you mean text\?/,
    ],
    [
      () => standardSchema(z.date() as unknown as StandardSchema<string>),
      /no JSON Schema that the API's description can hold; give jsonSchema/,
    ],
    [
      () =>
        standardSchema(
          z.string().transform((value) => `${value}!`),
          { column: "text", jsonSchema: {}, example: "a" },
        ),
      /does not accept its own output/,
    ],
  ];
  for (const [make, pattern] of rows)
    assert.match(collectMistakes(() => defineResource({ name: "a", fields: { b: make() } })).join("\n"), pattern);
  // A recursive schema refers to the root of its document, but in the OpenAPI document the schema is not the root.
  const tree: z.ZodType = z.lazy(() => z.object({ parts: z.array(tree) }));
  assert.match(
    collectMistakes(() => defineResource({ name: "a", fields: { b: standardSchema(tree) } })).join(),
    /give jsonSchema/,
  );
});

test("reports a fault if a schema throws or returns an impossible result, and stores nothing", async (t) => {
  let answer: (value: unknown) => unknown = (value) => ({ value });
  const field = (column: "text" | "json"): Field =>
    standardSchema(
      hostile((value) => answer(value)),
      { column, optional: true },
    );
  const things = defineResource({
    name: "thing",
    fields: { one: field("json"), word: field("text"), name: text({ optional: true }) },
  });
  const { ask, get, observed } = await ownService(t, { mounts: [mount(things, { permission: anyone })] });
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const faults: readonly ((value: unknown) => unknown)[] = [
    () => assert.fail("thrown"),
    async () => Promise.reject(new Error("late")),
    () => undefined,
    () => "yes",
    () => ({ issues: "none" }),
    () => ({ value: undefined }),
    () => ({ value: null }),
    () => ({ value: new Date() }),
    () => ({ value: Number.NaN }),
    () => ({ value: { at: new Date() } }),
    () => ({ value: cyclic }),
    () => ({ value: () => 1 }),
    () => ({ value: 1n }),
  ];
  for (answer of faults) {
    const { status, text: shown } = await ask("POST", "/things", { body: { one: { a: 1 } } });
    assert.equal(status, 500, String(answer));
    assert.doesNotMatch(shown, /hostile|thrown|late/);
  }
  answer = () => ({ value: 7 });
  assert.equal((await ask("POST", "/things", { body: { word: "a" } })).status, 500);
  assert.equal(observed.filter(({ kind }) => kind === "fault").length, faults.length + 1);
  assert.deepEqual((await get("/things")).json, []);

  answer = (value) => {
    if (typeof value === "object") Object.assign(value!, { added: true });
    return { value: "kept" };
  };
  assert.deepEqual((await ask("POST", "/things", { body: { one: { a: 1 }, name: "n" } })).json, {
    id: 1,
    one: "kept",
    word: null,
    name: "n",
  });
  answer = () => ({ value: "a\u0000b" });
  assert.equal((await ask("POST", "/things", { body: { word: "a" } })).status, 400);
  answer = () => ({
    issues: Array.from({ length: 100_000 }, () => ({
      message: "\u0000\ufffe".repeat(10_000),
      path: [{ key: "a/b~c" }, Symbol("s"), 3],
    })),
  });
  const many = await ask("POST", "/things", { body: { one: 1 }, headers: { accept: "application/xml" } });
  assert.equal(many.status, 400);
  assert.ok(many.text.length < 100_000, String(many.text.length));
  assert.match(many.text, /\/one\/a~1b~0c\/Symbol\(s\)\/3/);
});

test("refuses to declare a field whose custom kind has wrong members", () => {
  const rows: readonly (readonly [kind: object, told: RegExp])[] = [
    [{ ...phone, colum: 1 }, /field one: its kind: there is no option colum; did you mean column\?/],
    [{ ...phone, name: "Phone Number" }, /its kind: name is 'Phone Number'; it has to be lower case with hyphens/],
    [{ ...phone, parse: null }, /its kind: parse is null; it has to be a function/],
    [{ ...phone, column: "text" }, /its kind: column is 'text'; it has to be a column, like \{ type: "text" \}/],
    [
      { ...phone, column: { type: "txt" } },
      /its kind: column is an object; type is 'txt'; it has to be one of .*did you mean text\?/,
    ],
    [{ ...phone, schema: undefined }, /its kind: schema is missing; it has to be an object/],
  ];
  for (const [kind, pattern] of rows) {
    const one = defineField(kind as Kind<string>, {});
    assert.match(collectMistakes(() => defineResource({ name: "thing", fields: { one } })).join("\n"), pattern);
  }
  const own: Kind<string> = {
    ...phone,
    options: { country: (value) => (value === undefined || value === "de" ? null : "it has to be de") },
  };
  const declareField = (options: object): Field => defineField(own, options);
  assert.deepEqual(
    collectMistakes(() => defineResource({ name: "thing", fields: { one: declareField({ country: "de" }) } })),
    [],
  );
  assert.match(
    collectMistakes(() => defineResource({ name: "thing", fields: { one: declareField({ county: "de" }) } })).join(),
    /phone: there is no option county; did you mean country\?/,
  );
  assert.match(
    collectMistakes(() => defineResource({ name: "thing", fields: { one: declareField({ country: "fr" }) } })).join(),
    /phone: country is a text; it has to be de/,
  );
});
