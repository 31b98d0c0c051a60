import assert from "node:assert/strict";
import { test } from "node:test";
import { hasAmong, listCollections, nameInner, replaceCollections, splitConditions } from "./inner-collections.ts";
import type { Collection, Where } from "./store.ts";

const outer: Collection = { name: "outer", key: "integer", columns: [{ name: "size", type: "integer" }] };
const inner: Collection = { ...outer, name: "inner" };
const leaf: Where = { column: "size", operator: "eq", value: 1 };
const other: Where = { column: "size", operator: "gt", value: 2 };
const among = (collection: Collection, where: Where = leaf): Where => ({
  column: "id",
  among: { collection, select: "size", where },
});
const link = (collection: Collection): Where => ({ link: collection, record: "id", linked: "size", values: [1] });

/** Conditions with a collection, at every place. */
const naming: readonly ((collection: Collection) => Where)[] = [
  among,
  link,
  (collection) => among(outer, among(collection)),
  (collection) => among(collection, link(outer)),
  (collection) => ({ all: [leaf, among(collection), other] }),
  (collection) => ({ any: [leaf, link(collection), other] }),
  (collection) => ({ not: among(collection) }),
  (collection) => ({ all: [{ any: [{ not: { all: [among(outer), link(collection)] } }] }] }),
];

test("replaces the collections that a condition names, and nothing else", () => {
  const changed: Collection = { ...inner, name: "changed" };

  for (const make of naming) {
    const replaced = replaceCollections(make(inner), (each) => (each === inner ? changed : each));
    assert.deepEqual(replaced, make(changed));
  }
});

test("returns the same condition if no collection is replaced", () => {
  for (const where of [leaf, { word: "a" }, { all: [] }, ...naming.map((make) => make(inner))])
    assert.equal(
      replaceCollections(where, (each) => each),
      where,
    );
});

test("leaves invalid conditions as they are", () => {
  const invalid: readonly unknown[] = [
    null,
    1,
    "all",
    { all: 1 },
    { any: null },
    { not: 1 },
    { column: "id", among: 1 },
    { column: "id", among: null },
    { column: "id", among: { collection: 1, select: "size", where: leaf } },
  ];

  for (const where of invalid)
    assert.equal(
      replaceCollections(where as Where, () => outer),
      where,
    );
});

test("lists the collections that a condition names, and names them for another thread", () => {
  assert.deepEqual(listCollections(null), []);
  assert.deepEqual(listCollections(leaf), []);
  assert.deepEqual(listCollections({ all: [among(inner, link(outer)), leaf] }), [inner, outer]);
  assert.equal(nameInner(null), null);
  assert.deepEqual(nameInner(among(inner)), among({ name: "inner", key: "integer", columns: [] }));
});

test("finds conditions on other rows at any depth, and splits a condition by them", () => {
  const isMember = among(inner);
  const either: Where = { any: [leaf, isMember] };
  const notMember: Where = { not: { not: isMember } };

  for (const where of [isMember, either, notMember, { all: [leaf, { any: [notMember] }] }])
    assert.equal(hasAmong(where), true);
  for (const where of [leaf, link(inner), { any: [leaf] }, { not: leaf }, { all: [{ any: [{ not: other }] }] }])
    assert.equal(hasAmong(where), false);
  assert.deepEqual(splitConditions(null), { narrowing: [], rest: [] });
  assert.deepEqual(splitConditions(isMember), { narrowing: [isMember], rest: [] });
  assert.deepEqual(splitConditions({ all: [leaf, { all: [isMember, other] }, either, { any: [other] }, notMember] }), {
    narrowing: [isMember, either, notMember],
    rest: [leaf, other, { any: [other] }],
  });
});
