import assert from "node:assert/strict";
import { test } from "node:test";
import { documentation } from "../../src/door/features.ts";
import {
  anyone,
  boolean,
  dateTime,
  decimal,
  defineResource,
  email,
  enumeration,
  integer,
  json,
  mount,
  text,
} from "../../src/door/index.ts";
import { array, date, number, references, url, uuid, type Field } from "../../src/door/resources.ts";
import { ownService } from "../harness/own-service.ts";

// Nightly on PostgreSQL: the document describes the declarations, not the records.

const tags = defineResource({ name: "tag", fields: { label: text() } });
const kinds: Readonly<Record<string, Field>> = {
  text: text({ minLength: 9 }),
  integer: integer({ minimum: 3 }),
  number: number(),
  decimal: decimal({ scale: 2, maximum: "99.99" }),
  boolean: boolean(),
  date: date(),
  date_time: dateTime(),
  email: email(),
  url: url(),
  uuid: uuid(),
  enumeration: enumeration(["open", "sent"]),
  json: json(),
  array: array(date()),
  references: references(tags),
};

for (const [name, field] of Object.entries(kinds))
  test(`gives a valid example for a required field of the kind ${name}`, async (t) => {
    const thing = defineResource({ name: "thing", fields: { value: field } });
    const { ask, get } = await ownService(t, {
      features: [documentation({ title: "Things", version: "1" })],
      mounts: [mount(thing, { permission: anyone }), mount(tags, { permission: anyone })],
    });
    const { paths } = (await get("/openapi.json")).json;

    const { example, examples } = paths["/things"].post.requestBody.content["application/json"];
    const body = example ?? Object.values<{ value: unknown }>(examples ?? {})[0]?.value;

    assert.ok(body !== undefined, name);
    const made = await ask("POST", "/things", { body });
    assert.equal(made.status, 201, `${JSON.stringify(body)}: ${made.text}`);
  });
