import assert from "node:assert/strict";
import { test } from "node:test";
import { createParameters } from "../../sql/language/dialect.ts";
import { requireColumn } from "../../sql/schema/table.ts";
import { compareValues } from "../../sql/where.ts";
import type { Collection, ListQuery, Where } from "../../store.ts";
import { getTable, postgres } from "../dialect.ts";
import { planNarrowed } from "./semi-joins.ts";

// The rows of a list do not show which plan found them, so these tests look at the plan.

const memberships: Collection = {
  name: "memberships",
  key: "integer",
  columns: [
    { name: "user_id", type: "integer" },
    { name: "project_id", type: "integer" },
  ],
  uniques: [["user_id", "project_id"]],
};

const tasks: Collection = {
  name: "tasks",
  key: "integer",
  columns: [
    { name: "project_id", type: "integer" },
    { name: "room_id", type: "integer" },
    { name: "rank", type: "integer" },
  ],
  indexes: [
    ["project_id", "id"],
    ["rank", "id"],
  ],
};

const ofUser = (value: number): Where => ({ column: "user_id", operator: "eq", value });
const isMember = (column: string, user = 7): Where => ({
  column,
  among: { collection: memberships, select: "project_id", where: ofUser(user) },
});
const isFirst: Where = { column: "rank", operator: "eq", value: 1 };
const list = (where: Where | null, sort = "id"): ListQuery => ({
  collection: tasks,
  where,
  sort: [{ column: sort }, ...(sort === "id" ? [] : [{ column: "id" }])],
  limit: 3,
});

/** Returns how often the keys of a planned list are looked for among memberships. Null: the list has no plan. */
function countLookups(query: ListQuery): number | null {
  const keys = planNarrowed(query).keys?.(createParameters(postgres), query);
  return keys === undefined ? null : keys.split(`FROM "memberships"`).length - 1;
}

test("reads the first rows of each value, if an index has the rows of a value in the order of the list", () => {
  assert.equal(countLookups(list(isMember("project_id"))), 2);
  assert.equal(countLookups(list({ all: [{ all: [isMember("project_id")] }] })), 2);
  // The other condition is checked with both plans.
  for (const where of [
    { all: [isMember("room_id"), isMember("project_id")] },
    { all: [isMember("project_id"), { any: [isMember("room_id"), isFirst] }] },
  ])
    assert.equal(countLookups(list(where)), 4);
});

test("leaves a list as it is, if no index has the rows of a value in its order", () => {
  for (const query of [
    list(null),
    list(isFirst),
    list(isMember("project_id"), "rank"),
    list(isMember("room_id")),
    list({ any: [isMember("project_id"), isFirst] }),
    list({ not: isMember("project_id") }),
    list({ all: [{ column: "id", operator: "eq", value: 1 }, { any: [isMember("project_id"), isFirst] }] }),
    // A key has one row.
    list(isMember("id")),
  ])
    assert.equal(planNarrowed(query), query);
});

test("compares a column as an index has it, and converts only values that cannot fail", () => {
  const found = (storage: string, words?: readonly string[]) => ({
    storage,
    nullable: false,
    filled: false,
    generated: false,
    ...(words === undefined ? {} : { words }),
  });
  const places: Collection = {
    name: "places",
    key: "integer",
    columns: [
      { name: "group_id", type: "text", rule: { format: "uuid" } },
      { name: "color", type: "text", rule: { enum: ["red", "blue"] } },
      { name: "code", type: "text" },
      { name: "size", type: "integer" },
    ],
    existing: {
      table: "place",
      names: {},
      writes: [],
      revision: "digest",
      found: {
        id: found("integer"),
        group_id: found("uuid"),
        color: found("color", ["red", "blue"]),
        code: found("character(3)"),
        size: found("smallint"),
      },
    },
  };
  const compare = (collection: Collection, name: string): readonly string[] => {
    const table = getTable(collection);
    const { compared, convert } = compareValues(table, requireColumn(table, name));
    return [compared, convert("v")];
  };

  assert.deepEqual(compare(tasks, "project_id"), ['"project_id"', "v"]);
  assert.deepEqual(compare(places, "size"), ['"size"', "v::bigint"]);
  const [uuid, converted] = compare(places, "group_id");
  assert.equal(uuid, '"group_id"');
  assert.match(converted!, /^CASE WHEN v ~ '.*' THEN v::uuid END$/);
  // A value that is no word of the type cannot be converted to it.
  assert.deepEqual(compare(places, "color"), ['"color"::text', "v"]);
  assert.deepEqual(compare(places, "code"), ['"code"::text COLLATE "C"', "v"]);
});
