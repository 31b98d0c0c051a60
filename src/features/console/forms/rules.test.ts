import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { boolean, decimal, enumeration, integer, json, text } from "../../../door/index.ts";
import { array, date, references, standardSchema, url, uuid, type Field } from "../../../door/resources.ts";
import { describeRule } from "./rules.ts";

test("describes the rule of every kind of field", () => {
  const rows: readonly (readonly [field: Field<never>, rule: string])[] = [
    [text({ maxLength: 2000 }), "1 to 2,000 characters"],
    [integer({ minimum: 1 }), "A whole number of at least 1"],
    [decimal({ scale: 2, maximum: "9" }), "A decimal number with at most 2 digits after the point"],
    [boolean({ default: false }), "true or false. Default: false"],
    [enumeration(["a", "b", "c"]), "a, b or c"],
    [date({ optional: true }), "A date, like 2026-01-31. May be left out"],
    [url(), "A web address, like https://example.org/. At most 2,048 characters"],
    [uuid(), "A UUID, like 01890a5d-ac96-774b-bcce-b302099a8057"],
    [json({ default: {} }), "Any JSON value. Default: {}"],
    [
      array(text({ maxLength: 30 }), { default: [] }),
      "A JSON array of 0 to 100 values, each: 1 to 30 characters. Default: []",
    ],
    [array(boolean(), { minItems: 1, maxItems: 3 }), "A JSON array of 1 to 3 values, each: true or false"],
    [references("tags", { default: [] }), "Default: []. Ids of the tags"],
    [text({ default: "", minLength: 0, maxLength: 9 }), '0 to 9 characters. Default: ""'],
    [standardSchema(z.string().max(9), { column: "text" }), "0 to 9 characters"],
    [standardSchema(z.number().min(0).max(1)), "A number from 0 to 1"],
  ] as never;

  for (const [field, rule] of rows) assert.equal(describeRule(field), rule);
});
