import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { applyMergePatch } from "./merge-patch.ts";

// RFC 7396 appendix A, in the order of the RFC.
for (const [original, patch, result] of [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
] as const) {
  test(`merges ${JSON.stringify(original)} with ${JSON.stringify(patch)} into ${JSON.stringify(result)}`, () => {
    assert.deepEqual(applyMergePatch(original, patch), result);
  });
}

test("merges the document of RFC 7396 §3", () => {
  const target = {
    title: "Goodbye!",
    author: { givenName: "John", familyName: "Doe" },
    tags: ["example", "sample"],
    content: "This will be unchanged",
  };
  const patch = { title: "Hello!", phoneNumber: "+01-123-456-7890", author: { familyName: null }, tags: ["example"] };

  assert.deepEqual(applyMergePatch(target, patch), {
    title: "Hello!",
    author: { givenName: "John" },
    tags: ["example"],
    content: "This will be unchanged",
    phoneNumber: "+01-123-456-7890",
  });
});

test("keeps the order of the target's members, and appends new members", () => {
  assert.deepEqual(Object.keys(applyMergePatch({ a: 1, b: 2, c: 3 }, { d: 4, b: 5 }) as object), ["a", "b", "c", "d"]);
});

test("changes neither the target nor the patch, and changes nothing if the same patch is applied to the result", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (target, patch) => {
      const before = JSON.stringify([target, patch]);

      const once = applyMergePatch(target, patch);

      assert.equal(JSON.stringify([target, patch]), before);
      assert.equal(JSON.stringify(applyMergePatch(once, patch)), JSON.stringify(once));
    }),
  );
});

test("treats __proto__ as a normal member, and does not change a prototype", () => {
  const result = applyMergePatch(
    { a: 1 },
    JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}'),
  ) as Record<string, unknown>;

  assert.equal(Object.getPrototypeOf(result), Object.prototype);
  assert.ok(Object.hasOwn(result, "__proto__"));
  assert.equal(({} as Record<string, unknown>)["admin"], undefined);
});
