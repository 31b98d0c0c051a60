import assert from "node:assert/strict";
import { test } from "node:test";
import { enumeration, integer, reference, text } from "./kinds/fields.ts";
import { findLabelField } from "./record-labels.ts";
import { defineResource } from "./resource.ts";

const member = defineResource({ name: "member", id: "uuid", fields: { name: text() } });

const fields = {
  pages: integer(),
  kind: enumeration(["novel", "poem"]),
  summary: text({ multiline: true }),
  secret: text({ writeOnly: true }),
  owner_id: reference("users"),
  friend_id: reference(member),
  place: text({ multiline: false }),
  title: text(),
};

test("names a record by its declared field, and by no field that answers do not show", () => {
  assert.equal(findLabelField({ labelField: "title", fields }), "title");
  assert.equal(findLabelField({ labelField: "summary", fields }), "summary");
  assert.equal(findLabelField({ labelField: "secret", fields }), null);
  assert.equal(findLabelField({ labelField: "missing", fields }), null);
});

test("names a record by its first text of one line, if no field is declared", () => {
  assert.equal(findLabelField({ labelField: null, fields }), "place");
  const { place: _, ...others } = fields;
  assert.equal(findLabelField({ labelField: null, fields: others }), "title");
  const { title: __, ...without } = others;
  assert.equal(findLabelField({ labelField: null, fields: without }), null);
});
