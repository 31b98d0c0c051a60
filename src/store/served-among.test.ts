import assert from "node:assert/strict";
import { test } from "node:test";
import { hasNoKnownIndex, isFoundByIndex, isIndexed, isServed } from "./served.ts";
import type { Collection, Where } from "./store.ts";

// Lists by other rows: an index has to find the other rows.

const memberships: Collection = {
  name: "memberships",
  key: "integer",
  columns: [
    { name: "user_id", type: "integer" },
    { name: "project_id", type: "integer" },
    { name: "role", type: "text" },
    { name: "code", type: "text", unique: true },
  ],
  indexes: [["project_id", "id"]],
  uniques: [["user_id", "project_id", "role"]],
};
const tasks: Collection = { name: "tasks", key: "integer", columns: [{ name: "project_id", type: "integer" }] };

const is = (column: string, operator: "eq" | "in" | "gt" = "eq"): Where => ({
  column,
  operator,
  value: operator === "in" ? [1] : 1,
});
const among = (where: Where, column = "project_id"): Where => ({
  column,
  among: { collection: memberships, select: "project_id", where },
});
const found = among(is("user_id"));
const scanned = among(is("role"));

test("serves a list by other rows, if an index finds all of these rows", () => {
  const served = (where: Where): boolean => isServed({ collection: tasks, where, sort: [{ column: "id" }] });

  for (const where of [
    found,
    { all: [found, found] },
    { any: [found, is("project_id")] },
    { not: found },
    { any: [{ all: [found, is("project_id")] }, { not: { any: [found] } }] },
    among({ all: [is("user_id"), found] }),
  ])
    assert.equal(served(where), true, JSON.stringify(where));
  for (const where of [
    scanned,
    { all: [found, scanned] },
    { any: [found, scanned] },
    { not: scanned },
    { any: [{ all: [found, scanned] }, found] },
    { not: { any: [scanned] } },
    among({ all: [is("user_id"), scanned] }),
  ])
    assert.equal(served(where), false, JSON.stringify(where));
});

test("finds rows by an index of a compared column, or of a column with values of other rows", () => {
  for (const where of [
    is("user_id"),
    is("project_id", "in"),
    { all: [is("role"), is("user_id")] },
    { any: [is("user_id"), is("project_id", "in")] },
    found,
  ])
    assert.equal(isFoundByIndex(memberships, where), true, JSON.stringify(where));
  for (const where of [
    is("role"),
    is("role", "in"),
    is("user_id", "gt"),
    { all: [is("role"), is("user_id", "gt")] },
    { any: [is("user_id"), is("role")] },
    { not: is("user_id") },
    scanned,
    among(is("user_id"), "role"),
  ])
    assert.equal(isFoundByIndex(memberships, where), false, JSON.stringify(where));
});

test("knows the indexes that begin with some columns, in any order", () => {
  for (const names of [["id"], ["code"], ["project_id"], ["user_id"], ["project_id", "user_id"], ["id", "project_id"]])
    assert.equal(isIndexed(memberships, names), true, names.join());
  for (const names of [["role"], ["user_id", "role"], ["code", "role"], ["project_id", "role"]])
    assert.equal(isIndexed(memberships, names), false, names.join());
  assert.equal(isIndexed(tasks, ["project_id"]), false);
});

test("knows an index of an existing table only if it orders the values as the service compares them", () => {
  const existing = { table: "member", names: {}, writes: [], revision: "digest" } as const;
  const { indexes: _, ...bare } = memberships;
  const theirs: Collection = { ...memberships, existing };
  const columns = memberships.columns.map((each) => ({ ...each, served: "nothing" as const }));

  assert.equal(isIndexed(theirs, ["project_id"]), true);
  assert.equal(isIndexed({ ...theirs, columns }, ["project_id"]), false);
  assert.equal(hasNoKnownIndex(theirs), false);
  assert.equal(hasNoKnownIndex({ ...theirs, indexes: [] }), true);
  assert.equal(hasNoKnownIndex({ ...bare, existing }), true);
});
