import assert from "node:assert/strict";
import { test } from "node:test";
import { DeclarationError } from "../../core/checking/declaration-error.ts";
import { readBySchema } from "../kinds/standard-result.ts";
import { jsonSchema } from "./json-schema.ts";
import { typedLeaves } from "./leaves.ts";
import type { FromSchema, JSONSchema } from "./types.ts";

const login = {
  type: "object",
  properties: {
    pending: { type: "string", minLength: 2, maxLength: 5 },
    needs: { enum: ["factor", "enrolment"] },
    expires_at: { type: "string", format: "date-time" },
    tries: { type: ["integer", "null"], minimum: 0, exclusiveMaximum: 5 },
    factors: {
      type: "array",
      maxItems: 2,
      items: {
        oneOf: [
          {
            type: "object",
            properties: { kind: { const: "totp" }, digits: { type: "integer" } },
            required: ["kind", "digits"],
          },
          {
            type: "object",
            properties: { kind: { const: "passkey" }, ask: { type: "object" } },
            required: ["kind", "ask"],
            additionalProperties: false,
          },
        ],
      },
    },
  },
  required: ["needs"],
  additionalProperties: false,
} as const satisfies JSONSchema;

function collectIssues(schema: JSONSchema, value: unknown): readonly string[] {
  const read = readBySchema(jsonSchema(schema), value);
  return "parts" in read ? read.parts.map(({ pointer, code }) => `${pointer} ${code}`) : [];
}

const rows: readonly (readonly [schema: JSONSchema, value: unknown, issues: readonly string[]])[] = [
  [login, { needs: "factor" }, []],
  [
    login,
    {
      needs: "factor",
      pending: "abc",
      expires_at: "2026-01-31T09:30:00Z",
      tries: null,
      factors: [{ kind: "totp", digits: 6 }],
    },
    [],
  ],
  [login, [], [" invalid"]],
  [login, null, [" invalid"]],
  [login, {}, ["/needs required"]],
  [login, { needs: "other", extra: 1, "a/b": 1 }, ["/needs invalid", "/extra unknown_field", "/a~1b unknown_field"]],
  [login, { needs: "factor", pending: "a" }, ["/pending too_short"]],
  [login, { needs: "factor", pending: "👍👍👍👍👍" }, []],
  [login, { needs: "factor", pending: "abcdef" }, ["/pending too_long"]],
  [login, { needs: "factor", pending: 1 }, ["/pending invalid"]],
  [login, { needs: "factor", expires_at: "soon" }, ["/expires_at invalid"]],
  [login, { needs: "factor", tries: -1 }, ["/tries too_small"]],
  [login, { needs: "factor", tries: 5 }, ["/tries too_large"]],
  [login, { needs: "factor", tries: 1.5 }, ["/tries invalid"]],
  [login, { needs: "factor", factors: [{ kind: "totp" }] }, ["/factors/0/digits required"]],
  [login, { needs: "factor", factors: [{ kind: "passkey", ask: {}, more: 1 }] }, ["/factors/0/more unknown_field"]],
  [login, { needs: "factor", factors: [{ kind: "other" }] }, ["/factors/0 invalid"]],
  [
    login,
    { needs: "factor", factors: [{}, {}, {}] },
    ["/factors too_long", "/factors/0 invalid", "/factors/1 invalid", "/factors/2 invalid"],
  ],
  [
    { type: "array", uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [" repeated"],
  ],
  [{ type: "array", uniqueItems: true }, [1, "1"], []],
  [{ type: "array", minItems: 1 }, [], [" too_short"]],
  [{ type: "object", additionalProperties: { type: "integer" } }, { a: 1, b: "2" }, ["/b invalid"]],
  [{ type: "object", minProperties: 1, maxProperties: 2 }, {}, [" too_short"]],
  [{ type: "object", minProperties: 1, maxProperties: 2 }, { a: 1, b: 1, c: 1 }, [" too_long"]],
  [{ const: { a: [1] } }, { a: [1] }, []],
  [{ const: { a: [1] } }, { a: [2] }, [" invalid"]],
  [{ pattern: "^a+$" }, "aab", [" invalid"]],
  [{ pattern: "^a+$" }, 5, []],
  [{ minimum: 1, exclusiveMinimum: 1 }, 1, [" too_small"]],
  [{ maximum: 1 }, 2, [" too_large"]],
  [{ type: "number" }, 1.5, []],
  [{ anyOf: [{ type: "integer" }, { type: "number" }] }, 1, []],
  [{ oneOf: [{ type: "integer" }, { type: "number" }] }, 1, [" invalid"]],
  [{ allOf: [{ minLength: 2 }, { maxLength: 1 }] }, "a", [" too_short"]],
  [{ type: "boolean" }, "true", [" invalid"]],
  [{}, undefined, []],
  [{ type: "object", required: ["__proto__"] }, JSON.parse('{"__proto__":1}'), []],
  [{ type: "object", required: ["toString"] }, {}, ["/toString required"]],
];

for (const [schema, value, issues] of rows)
  test(`finds ${issues.length} mistakes in ${JSON.stringify(value)} with the schema ${JSON.stringify(schema).slice(0, 80)}`, () => {
    assert.deepEqual(collectIssues(schema, value), issues);
  });

test("reports at most a hundred mistakes", () => {
  assert.equal(collectIssues({ type: "array", items: { type: "integer" } }, Array<string>(1000).fill("a")).length, 100);
});

const mistaken: readonly (readonly [schema: unknown, said: RegExp])[] = [
  [null, /jsonSchema: it is null; it has to be a JSON Schema/],
  [[], /it is a list; it has to be a JSON Schema/],
  [{ type: "text" }, /type is 'text'; it has to be one of object, array/],
  [{ type: [] }, /type is a list; it has to be one of/],
  [{ requierd: ["a"] }, /requierd is not checked; did you mean required\?/],
  [{ patternProperties: {} }, /patternProperties is not checked.*; leave it out, or use a Standard Schema/],
  [{ properties: { a: { $ref: "#/b" } } }, /\/properties\/a: "?\$ref"? is not checked/],
  [{ properties: { "a/b": 5 } }, /\/properties\/a~1b: it is 5; it has to be a JSON Schema/],
  [{ properties: [] }, /properties is a list; it has to be an object of schemas/],
  [{ required: "a" }, /required is 'a'; it has to be a list of names/],
  [{ items: { format: "ipv4" } }, /\/items: format is 'ipv4'; it has to be one of date-time, date, email, uri, uuid/],
  [{ pattern: "(" }, /pattern is '\('; it has to be a regular expression/],
  [{ enum: [] }, /enum is a list; it has to be a list of one or more values/],
  [{ minLength: -1 }, /minLength is -1; it has to be a whole number of 0 or more/],
  [{ minimum: "1" }, /minimum is '1'; it has to be a number/],
  [{ anyOf: [] }, /anyOf is a list; it has to be a list of one or more schemas/],
  [{ oneOf: [{}, { type: "x" }] }, /\/oneOf\/1: type is 'x'/],
  [{ additionalProperties: 5 }, /\/additionalProperties: it is 5; it has to be a JSON Schema/],
];

for (const [schema, said] of mistaken)
  test(`refuses the schema ${JSON.stringify(schema)}`, () => {
    assert.throws(
      () => jsonSchema(schema as JSONSchema),
      (error: unknown) => error instanceof DeclarationError && said.test(error.message),
    );
  });

test("converts the text of XML and forms to the types of a schema", () => {
  const schema: JSONSchema = {
    type: "object",
    properties: {
      count: { type: ["integer", "null"] },
      price: { type: "number" },
      name: { type: ["string", "integer"] },
      done: { type: "boolean" },
      tags: { type: "array", items: { type: "integer" } },
      more: { type: "object", additionalProperties: { type: "integer" } },
    },
  };

  const read = typedLeaves(
    { count: "12", price: "1.5", name: "7", done: "true", tags: ["1", "x"], more: { a: "3" }, other: "4" },
    schema,
  );

  assert.deepEqual(read, { count: 12, price: 1.5, name: "7", done: true, tags: [1, "x"], more: { a: 3 }, other: "4" });
  assert.deepEqual(typedLeaves({ tags: "", more: " ", count: "", done: "yes" }, schema), {
    tags: [],
    more: {},
    count: "",
    done: "yes",
  });
});

test("derives the type of the accepted values from a schema", () => {
  type Login = FromSchema<typeof login>;
  const sample: Login = {
    needs: "factor",
    pending: "a",
    tries: null,
    factors: [
      { kind: "totp", digits: 6 },
      { kind: "passkey", ask: { rpId: "a" } },
    ],
  };
  const digits = sample.factors?.map((each) => (each.kind === "totp" ? each.digits : 0));
  const wrong: readonly Login[] = [
    // @ts-expect-error -- there is no such need
    { needs: "other" },
    // @ts-expect-error -- needs is missing
    {},
    // @ts-expect-error -- digits is a number
    { needs: "factor", factors: [{ kind: "totp", digits: "6" }] },
  ];
  const loose: FromSchema<JSONSchema> = 5;

  assert.deepEqual([digits, wrong.length, loose], [[6, 0], 3, 5]);
});
