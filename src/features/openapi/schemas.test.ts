import assert from "node:assert/strict";
import { test } from "node:test";
import { readDraft } from "../../resource/draft.ts";
import * as fields from "../../resource/kinds/fields.ts";
import { defineResource } from "../../resource/resource.ts";
import { exampleDraft, examplePatch, exampleRecord } from "./examples.ts";
import { draftSchema, patchSchema, recordSchema } from "./schemas.ts";

const shelf = defineResource({
  name: "shelf",
  description: "Where books stand.",
  fields: {
    label: fields.text({ maxLength: 20, example: "A1", description: "What is written on it." }),
    height: fields.integer({ minimum: 10, optional: true, default: 30 }),
    kind: fields.enumeration(["open", "closed"], { optional: true }),
    lit: fields.boolean(),
    price: fields.decimal({ scale: 2, maximum: "99.99", default: "1.00" }),
    contact: fields.email(),
    keeper_id: fields.reference("keepers"),
    notes: fields.json({ optional: true }),
    secret: fields.text({ minLength: 12, writeOnly: true }),
    proof: fields.text({ optional: true, writeOnly: true, transient: true }),
    made_at: fields.dateTime({ generated: ({ now }) => new Date(now).toISOString() }),
    owner: fields.text({ readOnly: true, default: () => "me" }),
  },
});

const shown = ["label", "height", "kind", "lit", "price", "contact", "keeper_id", "notes", "made_at", "owner"];

type Properties = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

test("describes every shown field in the schema of a record, and no write-only field", () => {
  const { properties, required, description, xml } = recordSchema(shelf) as { properties: Properties } & Record<
    string,
    unknown
  >;

  assert.deepEqual(Object.keys(properties), shown);
  assert.deepEqual(required, shown);
  assert.equal(description, "Where books stand.");
  assert.deepEqual(xml, { name: "shelf" });
  assert.equal(properties["made_at"]?.["readOnly"], true);
  assert.equal(properties["label"]?.["readOnly"], undefined);
});

test("marks the fields that may be null", () => {
  const { properties } = recordSchema(shelf) as { properties: Properties };

  assert.deepEqual(properties["height"]?.["type"], ["integer", "null"]);
  assert.deepEqual(properties["kind"], { type: ["string", "null"], enum: ["open", "closed", null] });
  assert.deepEqual(properties["notes"], {});
  assert.equal(properties["lit"]?.["type"], "boolean");
});

test("makes transient members optional, and never null", () => {
  const { properties } = draftSchema(shelf) as { properties: Properties };

  assert.equal(properties["proof"]?.["type"], "string");
});

test("describes required fields and defaults in a draft, but not in a patch", () => {
  const draft = draftSchema(shelf) as { properties: Properties } & Record<string, unknown>;
  const patch = patchSchema(shelf) as { properties: Properties } & Record<string, unknown>;

  assert.deepEqual(draft["required"], ["label", "lit", "contact", "keeper_id", "secret"]);
  assert.equal(draft["additionalProperties"], false);
  assert.equal(draft.properties["secret"]?.["writeOnly"], true);
  assert.equal(draft.properties["proof"]?.["writeOnly"], true);
  assert.equal(draft.properties["made_at"]?.["readOnly"], true);
  assert.equal(draft.properties["owner"]?.["default"], undefined);
  assert.equal(draft.properties["price"]?.["default"], "1.00");
  assert.equal(patch["required"], undefined);
  assert.equal(patch.properties["price"]?.["default"], undefined);
});

test("describes a field by its description and its example, or by the resource that it refers to", () => {
  const { label, keeper_id: keeper } = (recordSchema(shelf) as { properties: Properties }).properties;

  assert.equal(label?.["description"], "What is written on it.");
  assert.deepEqual(label?.["examples"], ["A1"]);
  assert.equal(keeper?.["description"], "The id of one of the keepers.");
});

test("gives a draft an example that the resource accepts", () => {
  const context = { identity: null, now: 0, requireIdentity: () => assert.fail("nobody is asked for") };

  const draft = readDraft(shelf, exampleDraft(shelf), { id: null, current: null, leavesAreText: false, context });

  assert.ok("values" in draft, JSON.stringify(draft));
  assert.deepEqual(examplePatch(shelf), { label: "A1" });
});

test("gives a record an example with every field of its schema", () => {
  assert.deepEqual(Object.keys(exampleRecord(shelf) ?? {}), shown);
});

test("gives no example if none can be generated", () => {
  const unguessable = fields.text({ pattern: { matches: /^\d{4}$/, detail: "Four digits are required." } });
  const pin = defineResource({ name: "pin", fields: { code: unguessable } });

  assert.equal(exampleRecord(pin), null);
  assert.equal(exampleDraft(pin), null);
  assert.equal(examplePatch(pin), null);
});
