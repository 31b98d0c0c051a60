import assert from "node:assert/strict";
import { test } from "node:test";
import { getTable, sqlite } from "../sqlite/dialect.ts";
import type { Collection, Where } from "../store.ts";
import { createParameters } from "./language/dialect.ts";
import { compileWhere } from "./where.ts";

const things: Collection = {
  name: "things",
  key: "integer",
  columns: [
    { name: "owner_id", type: "integer" },
    { name: "code", type: "text" },
    { name: "name", type: "text", folded: true },
    { name: "done", type: "boolean" },
  ],
};
const others: Collection = { ...things, name: "others" };
const isOne: Where = { column: "owner_id", operator: "eq", value: 1 };
const compile = (where: unknown): string => compileWhere(getTable(things), where as Where, createParameters(sqlite));
const among = (column: string, select: string): Where => ({
  column,
  among: { collection: others, select, where: isOne },
});

test("compiles a condition on the values of other rows, if both columns are keys or references of one type", () => {
  assert.equal(compile(among("owner_id", "id")), `"owner_id" IN (SELECT "id" FROM "others" WHERE "owner_id" = ?)`);
  assert.equal(compile(among("code", "code")), `"code" IN (SELECT "code" FROM "others" WHERE "owner_id" = ?)`);
  for (const [column, select] of [
    ["owner_id", "code"],
    ["code", "id"],
  ] as const)
    assert.throws(() => compile(among(column, select)), /cannot be among values of/);
  for (const [column, select] of [
    ["done", "done"],
    ["name", "name"],
    ["code", "name"],
    ["name", "code"],
  ] as const)
    assert.throws(() => compile(among(column, select)), /only keys and references are compared/);
});

test("refuses a condition on other rows with a missing, wrong or further member", () => {
  const right = { collection: others, select: "id", where: isOne };
  const wrong: readonly unknown[] = [
    { column: "owner_id", among: right, operator: "eq" },
    { column: 1, among: right },
    { among: right },
    null,
    1,
    "abc",
    {},
    { ...right, more: 1 },
    { collection: others, select: "id" },
    { ...right, collection: 1 },
    { ...right, select: 1 },
    { ...right, where: 1 },
    { ...right, where: [] },
  ].map((each, at) => (at < 3 ? each : { column: "owner_id", among: each }));

  for (const where of wrong) assert.throws(() => compile(where), /a condition is \{ column, operator, value \}/);
});
