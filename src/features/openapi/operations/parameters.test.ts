import assert from "node:assert/strict";
import { test } from "node:test";
import * as fields from "../../../resource/kinds/fields.ts";
import { readListRequest } from "../../../resource/query.ts";
import { defineResource } from "../../../resource/resource.ts";
import { listParameters, parameters, pathParameters } from "./parameters.ts";

const shelf = defineResource({
  name: "shelf",
  fields: {
    label: fields.text({ maxLength: 50 }),
    height: fields.integer({ optional: true }),
    kind: fields.enumeration(["open", "closed"], { optional: true }),
    lit: fields.boolean(),
    price: fields.decimal({ scale: 2, maximum: "99.99" }),
    keeper_id: fields.reference("keepers"),
    made_at: fields.dateTime(),
  },
  filters: {
    id: ["eq", "in", "gt"],
    label: ["eq", "ne", "starts", "contains", "in"],
    height: ["eq", "lte", "null"],
    kind: ["eq", "in", "starts"],
    lit: ["eq"],
    price: ["gte", "lt", "in"],
    keeper_id: ["eq"],
    made_at: ["gte"],
  },
  sorts: ["label", "made_at"],
});

interface ShownParameter {
  readonly name: string;
  readonly schema: Value & { readonly items?: Value };
}

interface Value {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
}

test("shows only parameters that lists accept, each with a value of the right type", () => {
  const shown = listParameters(shelf) as unknown as readonly ShownParameter[];

  for (const { name, schema } of shown) {
    const value = chooseSample(schema.items ?? schema);
    assert.ok(!Array.isArray(readListRequest(shelf, [[name, value]])), `${name}=${value}`);
  }
  const operators = [...shelf.filters.values()].flat();
  assert.equal(shown.length, operators.length + 2);
});

function chooseSample({ type, format, enum: words }: Value): string {
  if (words !== undefined) return words[0]!;
  if (format === "date-time") return "2026-01-31T09:30:00Z";
  return type === "boolean" ? "true" : "5";
}

test("shows the default and the bounds of `limit` that lists enforce", () => {
  const { minimum, maximum, default: fallback } = parameters.limit.schema;
  const read = (limit: number) => readListRequest(shelf, [["limit", String(limit)]]);

  assert.deepEqual(readListRequest(shelf, []), read(fallback));
  for (const within of [minimum, maximum]) assert.ok(!Array.isArray(read(within)));
  for (const beyond of [minimum - 1, maximum + 1]) assert.ok(Array.isArray(read(beyond)));
});

test("describes a path parameter as an id, or as a text segment if it is declared as one", () => {
  assert.deepEqual(pathParameters("/a/{order_id}/b/{name:text}"), [
    { name: "order_id", in: "path", required: true, schema: { type: "integer", minimum: 1, maximum: 2 ** 53 - 1 } },
    { name: "name", in: "path", required: true, schema: { type: "string", minLength: 1, maxLength: 200 } },
  ]);
});
