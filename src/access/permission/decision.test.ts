import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import type { Resource } from "../../resource/resource.ts";
import type { Collection } from "../../store/store.ts";
import { decideOn, requireDecision } from "./decision.ts";
import { allOf, anyOf, anyone, not, type Permission } from "./permission.ts";

const request = { identity: null, action: "call", params: {}, now: 0 } as const;
const books: Collection = {
  name: "books",
  key: "integer",
  columns: [
    { name: "owner_id", type: "integer" },
    { name: "title", type: "text" },
    { name: "lent", type: "boolean" },
    { name: "meta", type: "json" },
  ],
};

function giving(decision: unknown): Permission {
  return { name: "giving", decide: () => decision as "allow" };
}

const own = { column: "owner_id", operator: "eq", value: 2 };
const cyclic: { any: unknown[] } = { any: [] };
cyclic.any.push(cyclic, cyclic);

const undecided: readonly unknown[] = [
  undefined,
  null,
  true,
  false,
  1,
  "",
  "Allow",
  "allow ",
  "allowed",
  ["allow"],
  new String("allow"),
  {},
  () => "allow",
  Promise.resolve("allow"),
  Promise.resolve("deny"),
  runInNewContext('Promise.resolve("allow")'),
  runInNewContext('({ then: (told) => told("allow") })'),
  { allow: true },
  { only: undefined },
  { only: null },
  { only: 1 },
  { only: [] },
  { only: {} },
  { only: own, deny: true },
  { only: { ...own, operator: "like" } },
  { only: { ...own, operator: "constructor" } },
  { only: { ...own, value: undefined } },
  { only: { ...own, operator: "ne", value: null } },
  { only: { ...own, operator: "ne", value: Number.NaN } },
  ...["lt", "lte", "gt", "gte"].map((operator) => ({ only: { column: "lent", operator, value: true } })),
  { only: { not: { column: "lent", operator: "lt", value: false } } },
  { only: { ...own, operator: "in", value: 2 } },
  { only: { ...own, operator: "in", value: [2, undefined] } },
  { only: { ...own, operator: "null", value: "false" } },
  { only: { column: "owner_id", operator: "eq" } },
  { only: { operator: "eq", value: 2 } },
  { only: { all: own } },
  { only: { all: [own, undefined] } },
  { only: { all: [own], any: [own] } },
  { only: { any: [own, "deny"] } },
  { only: { not: undefined } },
  { only: { not: [own] } },
  { only: { not: "deny" } },
  { only: { not: own, all: [] } },
  { only: Promise.resolve(own) },
  { only: cyclic },
];

test("throws a fault for a value that is no decision, also within combined permissions", () => {
  for (const each of undecided) {
    for (const permission of [giving(each), anyOf(giving(each)), allOf(anyone, giving(each)), not(giving(each))])
      assert.throws(() => requireDecision(permission, request), TypeError);
  }
});

test("names the operators that do not take a boolean, because booleans have no order", () => {
  const only = { column: "lent", operator: "gte", value: true };

  assert.throws(() => requireDecision(giving({ only }), request), /lt, lte, gt, gte do not take a boolean/);
});

test("keeps the process alive if a returned promise rejects later", async () => {
  const late: Permission = { name: "late", decide: (async () => Promise.reject(new Error("late"))) as never };

  assert.throws(() => requireDecision(late, request), /late gave a promise/);
  await new Promise((resolve) => setImmediate(resolve));
});

test("copies a decision, so that a later change of the returned object has no effect", () => {
  const answer = { only: { any: [{ ...own }] } };
  const decision = requireDecision(giving(answer), request);
  answer.only.any[0]!.value = 3;

  assert.deepEqual(decision, { only: { any: [own] } });
});

test("refuses to narrow by an unknown column, by a value of another type, or at an endpoint without rows", () => {
  const wrong: readonly object[] = [
    { ...own, column: "ownr_id" },
    { column: "constructor", operator: "null", value: true },
    { ...own, value: "2" },
    { ...own, value: 2.5 },
    { ...own, operator: "in", value: [2, "3"] },
    { ...own, operator: "contains", value: "2" },
    { column: "id", operator: "eq", value: "1" },
    { column: "title", operator: "eq", value: 1 },
    { column: "lent", operator: "ne", value: "true" },
    { column: "lent", operator: "gt", value: "true" },
    { column: "lent", operator: "lte", value: 1 },
    { column: "meta", operator: "eq", value: "{}" },
    { all: [own, { any: [{ ...own, column: "ownr_id" }] }] },
    { not: { ...own, column: "ownr_id" } },
  ];
  for (const only of wrong)
    assert.throws(() => decideOn(giving({ only }), request, { collection: books }), /narrows books by/);
  const right: readonly object[] = [
    own,
    { column: "id", operator: "in", value: [] },
    { column: "meta", operator: "null", value: false },
    { all: [] },
    { not: own },
    { any: [own, { column: "title", operator: "starts", value: "" }] },
  ];
  for (const only of right) assert.deepEqual(decideOn(giving({ only }), request, { collection: books }), { only });
  assert.throws(() => decideOn(giving({ only: own }), request, null), /but this endpoint has no rows/);
});

test("narrows by memberships that the permission names, that are mounted, and whose column can be compared", () => {
  const loans: Collection = {
    name: "loans",
    key: "integer",
    columns: [
      { name: "user_id", type: "integer" },
      { name: "book_id", type: "integer" },
      { name: "title", type: "text" },
      { name: "lent", type: "boolean" },
    ],
  };
  const loan = { path: "/loans" } as Resource;
  const ofUser = { column: "user_id", operator: "eq", value: 2 };
  const rows = { column: "id", memberships: loan, select: "book_id", where: ofUser };
  const decide = (only: object, memberships = [loan], mounted = new Map([[loan, loans]])): unknown =>
    decideOn({ ...giving({ only }), memberships }, request, { collection: books, memberships: mounted });
  const among = { collection: loans, select: "book_id", where: ofUser };

  assert.deepEqual(decide(rows), { only: { column: "id", among } });
  assert.deepEqual(decide({ ...rows, column: "title", select: "title" }), {
    only: { column: "title", among: { ...among, select: "title" } },
  });
  assert.deepEqual(decide({ any: [own, { all: [{ ...rows, select: "id" }] }] }), {
    only: { any: [own, { all: [{ column: "id", among: { ...among, select: "id" } }] }] },
  });
  for (const [column, select] of [
    ["title", "book_id"],
    ["id", "title"],
    ["lent", "lent"],
    ["ownr_id", "book_id"],
    ["id", "bok_id"],
    ["ownr_id", "bok_id"],
  ])
    assert.throws(
      () => decide({ ...rows, column, select }),
      (error: Error) => error.message.endsWith(`The columns ${column} and ${select} cannot be compared.`),
    );
  for (const only of [{ not: rows }, { not: { any: [own, rows] } }, { not: { all: [{ not: rows }] } }])
    assert.throws(() => decide(only), /narrows books by memberships\. They cannot be within not/);
  assert.throws(() => decide(rows, []), /It does not name their resource in its memberships/);
  assert.throws(() => decide(rows, [loan], new Map()), /\/loans is not mounted in this service/);
  assert.throws(() => decide({ ...rows, where: { ...ofUser, column: "usr_id" } }), /narrows loans by usr_id eq/);
});
