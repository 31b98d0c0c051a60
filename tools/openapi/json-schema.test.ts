import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { jsonSchema } from "../../src/door/resources.ts";

// Compares how Latchkey and ajv check values against JSON Schemas.

type Schema = Parameters<typeof jsonSchema>[0];

const word = fc.constantFrom("a", "b", "c", "ab", "", "1", "👍");
/** ajv 8 does not notice that a required member with the empty name is missing. */
const requiredName = word.filter((name) => name !== "");
const count = fc.integer({ min: 0, max: 3 });
const scalar = fc.oneof(word, fc.integer({ min: -3, max: 3 }), fc.constantFrom(0.5, true, false, null));

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(word, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const type = fc.constantFrom("object", "array", "string", "integer", "number", "boolean", "null");

const { schema } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    fc.constant({}),
    fc
      .record(
        {
          type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
          enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }),
          const: value,
          properties: fc.dictionary(word, tie("schema"), { maxKeys: 3, noNullPrototype: true }),
          required: fc.uniqueArray(requiredName, { maxLength: 2 }),
          additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
          items: tie("schema"),
          minItems: count,
          maxItems: count,
          uniqueItems: fc.boolean(),
          minLength: count,
          maxLength: count,
          pattern: fc.constantFrom("^a", "b$", "^.$"),
          minimum: count,
          maximum: count,
          exclusiveMinimum: count,
          exclusiveMaximum: count,
          minProperties: count,
          maxProperties: count,
          anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
          oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
          allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        },
        { requiredKeys: [], noNullPrototype: true },
      )
      .map((all) => Object.fromEntries(Object.entries(all).slice(0, 4))),
  ),
}));

test("agrees with ajv on 5,000 schemas and values", () => {
  const ajv = new Ajv2020({ strict: false, logger: false });

  let valid = 0;
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 1, maxLength: 5 }), (drawn, values) => {
      const ours = jsonSchema(drawn)["~standard"];
      const theirs = ajv.compile(drawn);
      for (const each of values) {
        const isValid = !("issues" in (ours.validate(each) as object));
        if (isValid) valid++;
        assert.equal(isValid, theirs(each), JSON.stringify({ drawn, each }));
      }
      ajv.removeSchema(drawn);
    }),
    { numRuns: 5000 },
  );

  // The comparison shows little if most values are invalid.
  assert.ok(valid > 1000, String(valid));
});
