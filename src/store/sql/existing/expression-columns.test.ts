import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsIn, indexedExpressions } from "./expression-columns.ts";

const names = ["name", "Name two", 'a"b', "low", "text", "gone"];

for (const [expressions, columns] of [
  ["lower(name)", ["name"]],
  ["lower(NAME)", ["name"]],
  ["lower((name)::text)", ["name"]],
  [`coalesce("Name two", 'low')`, ["Name two"]],
  [`lower("a""b")`, ['a"b']],
  ["lower([Name two])", ["Name two"]],
  ["lower(`Name two`), gone", ["Name two", "gone"]],
  ["'it''s low' || name", ["name"]],
  ["low (name)", ["name"]],
  ["1 + 1", []],
  [`lower("name`, []],
] as const)
  test(`finds ${columns.length === 0 ? "no column" : columns.join(" and ")} in ${expressions}`, () => {
    assert.deepEqual(columnsIn(expressions, names), columns);
  });

test("finds the expressions of an index whose name contains parentheses", () => {
  const statement = `CREATE UNIQUE INDEX "by (name)" ON "t (x)" (lower(name), low) WHERE (gone = 0)`;

  assert.equal(indexedExpressions(statement), "lower(name), low");
  assert.equal(indexedExpressions("CREATE INDEX i ON t"), "");
});
