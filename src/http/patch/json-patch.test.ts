import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Problem } from "../../core/problem/problem.ts";
import { applyJSONPatch, parseJSONPatch } from "./json-patch.ts";

const patch = (document: unknown, operations: unknown): Promise<unknown> =>
  applyJSONPatch(document, parseJSONPatch(operations));

async function refusal(document: unknown, operations: unknown): Promise<string> {
  try {
    await patch(document, operations);
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return `${error.code}: ${error.detail}`;
  }
  throw new assert.AssertionError({ message: `${JSON.stringify(operations).slice(0, 100)} was applied` });
}

for (const [title, document, operations, result] of [
  [
    "A.1 adding an object member",
    { foo: "bar" },
    [{ op: "add", path: "/baz", value: "qux" }],
    { baz: "qux", foo: "bar" },
  ],
  [
    "A.2 adding an array element",
    { foo: ["bar", "baz"] },
    [{ op: "add", path: "/foo/1", value: "qux" }],
    { foo: ["bar", "qux", "baz"] },
  ],
  ["A.3 removing an object member", { baz: "qux", foo: "bar" }, [{ op: "remove", path: "/baz" }], { foo: "bar" }],
  [
    "A.4 removing an array element",
    { foo: ["bar", "qux", "baz"] },
    [{ op: "remove", path: "/foo/1" }],
    { foo: ["bar", "baz"] },
  ],
  [
    "A.5 replacing a value",
    { baz: "qux", foo: "bar" },
    [{ op: "replace", path: "/baz", value: "boo" }],
    { baz: "boo", foo: "bar" },
  ],
  [
    "A.6 moving a value",
    { foo: { bar: "baz", waldo: "fred" }, qux: { corge: "grault" } },
    [{ op: "move", from: "/foo/waldo", path: "/qux/thud" }],
    { foo: { bar: "baz" }, qux: { corge: "grault", thud: "fred" } },
  ],
  [
    "A.7 moving an array element",
    { foo: ["all", "grass", "cows", "eat"] },
    [{ op: "move", from: "/foo/1", path: "/foo/3" }],
    { foo: ["all", "cows", "eat", "grass"] },
  ],
  [
    "A.8 testing a value: success",
    { baz: "qux", foo: ["a", 2, "c"] },
    [
      { op: "test", path: "/baz", value: "qux" },
      { op: "test", path: "/foo/1", value: 2 },
    ],
    { baz: "qux", foo: ["a", 2, "c"] },
  ],
  [
    "A.10 adding a nested member object",
    { foo: "bar" },
    [{ op: "add", path: "/child", value: { grandchild: {} } }],
    { foo: "bar", child: { grandchild: {} } },
  ],
  [
    "A.11 ignoring unrecognized elements",
    { foo: "bar" },
    [{ op: "add", path: "/baz", value: "qux", xyz: 123 }],
    { foo: "bar", baz: "qux" },
  ],
  ["A.14 ~ escape ordering", { "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: 10 }], { "/": 9, "~1": 10 }],
  [
    "A.16 adding an array value",
    { foo: ["bar"] },
    [{ op: "add", path: "/foo/-", value: ["abc", "def"] }],
    { foo: ["bar", ["abc", "def"]] },
  ],
  ["no operation", { a: 1 }, [], { a: 1 }],
  ["adding an existing member replaces it", { a: 1 }, [{ op: "add", path: "/a", value: 2 }], { a: 2 }],
  ["adding at the end of an array", [1], [{ op: "add", path: "/1", value: 2 }], [1, 2]],
  ["replacing the whole document", { a: 1 }, [{ op: "replace", path: "", value: [1] }], [1]],
  ["adding the whole document", { a: 1 }, [{ op: "add", path: "", value: 5 }], 5],
  [
    "copying",
    { a: { b: 1 } },
    [
      { op: "copy", from: "/a", path: "/c" },
      { op: "add", path: "/c/b", value: 2 },
    ],
    { a: { b: 1 }, c: { b: 2 } },
  ],
  ["copying the whole document into itself", { a: 1 }, [{ op: "copy", from: "", path: "/b" }], { a: 1, b: { a: 1 } }],
  [
    "moving onto itself",
    { a: 1 },
    [
      { op: "move", from: "/a", path: "/a" },
      { op: "move", from: "", path: "" },
    ],
    { a: 1 },
  ],
  ["moving a child over its parent", { a: { b: 1 } }, [{ op: "move", from: "/a/b", path: "/a" }], { a: 1 }],
  [
    "the empty name and names with escapes",
    { "": 1, "a/b": 2, "m~n": 3 },
    [
      { op: "remove", path: "/" },
      { op: "remove", path: "/a~1b" },
      { op: "test", path: "/m~0n", value: 3 },
    ],
    { "m~n": 3 },
  ],
  [
    "null is a value",
    { a: null },
    [
      { op: "test", path: "/a", value: null },
      { op: "replace", path: "/a", value: 1 },
    ],
    { a: 1 },
  ],
  [
    "objects are equal in any order",
    { a: { x: 1, y: [2] } },
    [{ op: "test", path: "/a", value: { y: [2], x: 1 } }],
    { a: { x: 1, y: [2] } },
  ],
  ["a number as the name of a member", { a: {} }, [{ op: "add", path: "/a/01", value: 1 }], { a: { "01": 1 } }],
] as const) {
  test(`applies a JSON Patch as in RFC 6902: ${title}`, async () => {
    const before = structuredClone(document);

    assert.deepEqual(await patch(document, operations), result);
    assert.deepEqual(document, before);
  });
}

for (const [title, document, operations, expected] of [
  [
    "A.9 testing a value: error",
    { baz: "qux" },
    [{ op: "test", path: "/baz", value: "bar" }],
    "patch_conflict: Operation 0: the value differs.",
  ],
  [
    "A.12 adding to a nonexistent target",
    { foo: "bar" },
    [{ op: "add", path: "/baz/bat", value: "qux" }],
    "patch_conflict: Operation 0: the parent of its path does not exist.",
  ],
  [
    "A.15 comparing strings and numbers",
    { "/": 9, "~1": 10 },
    [{ op: "test", path: "/~01", value: "10" }],
    "patch_conflict: Operation 0: the value differs.",
  ],
  [
    "testing a missing member",
    {},
    [{ op: "test", path: "/a", value: null }],
    "patch_conflict: Operation 0: there is nothing at its path.",
  ],
  [
    "removing a missing member",
    { a: 1 },
    [
      { op: "test", path: "/a", value: 1 },
      { op: "remove", path: "/b" },
    ],
    "patch_conflict: Operation 1: there is nothing at its path.",
  ],
  [
    "replacing a missing member",
    {},
    [{ op: "replace", path: "/b", value: 1 }],
    "patch_conflict: Operation 0: there is nothing at its path.",
  ],
  [
    "copying a missing member",
    {},
    [{ op: "copy", from: "/b", path: "/c" }],
    "patch_conflict: Operation 0: there is nothing at its from.",
  ],
  [
    "moving a missing member",
    {},
    [{ op: "move", from: "/b", path: "/c" }],
    "patch_conflict: Operation 0: there is nothing at its from.",
  ],
  [
    "removing the whole document",
    {},
    [{ op: "remove", path: "" }],
    "patch_conflict: Operation 0: the whole document cannot be removed.",
  ],
  [
    "an index beyond the end",
    [1],
    [{ op: "add", path: "/2", value: 1 }],
    "patch_conflict: Operation 0: its path is not an index of the array.",
  ],
  [
    "an index with a leading zero",
    [1, 2],
    [{ op: "add", path: "/01", value: 1 }],
    "patch_conflict: Operation 0: its path is not an index of the array.",
  ],
  [
    "an index with a sign",
    [1, 2],
    [{ op: "add", path: "/-1", value: 1 }],
    "patch_conflict: Operation 0: its path is not an index of the array.",
  ],
  [
    "an index that is no number",
    [1, 2],
    [{ op: "add", path: "/length", value: 1 }],
    "patch_conflict: Operation 0: its path is not an index of the array.",
  ],
  [
    "removing the length of an array",
    [1, 2],
    [{ op: "remove", path: "/length" }],
    "patch_conflict: Operation 0: there is nothing at its path.",
  ],
  [
    "replacing behind the end",
    [1, 2],
    [{ op: "replace", path: "/-", value: 1 }],
    "patch_conflict: Operation 0: there is nothing at its path.",
  ],
  [
    "testing behind the end",
    [1, 2],
    [{ op: "test", path: "/2", value: 1 }],
    "patch_conflict: Operation 0: there is nothing at its path.",
  ],
  [
    "copying a member of a text",
    { a: "abc" },
    [{ op: "copy", from: "/a/length", path: "/b" }],
    "patch_conflict: Operation 0: there is nothing at its from.",
  ],
  [
    "copying a member that every object inherits",
    {},
    [{ op: "copy", from: "/toString", path: "/b" }],
    "patch_conflict: Operation 0: there is nothing at its from.",
  ],
  [
    "a path through the prototype",
    {},
    [{ op: "add", path: "/__proto__/admin", value: true }],
    "patch_conflict: Operation 0: the parent of its path does not exist.",
  ],
  [
    "a path through the constructor",
    {},
    [{ op: "add", path: "/constructor/prototype/admin", value: true }],
    "patch_conflict: Operation 0: the parent of its path does not exist.",
  ],
  ["a patch that is no array", {}, {}, "invalid_patch: A JSON Patch is an array of operations."],
  ["an operation that is no object", {}, [1], "invalid_patch: Operation 0: it is not an object."],
  ["an array for an operation", {}, [[]], "invalid_patch: Operation 0: it is not an object."],
  [
    "an operation without op",
    {},
    [{ path: "" }],
    "invalid_patch: Operation 0: op is not one of add, remove, replace, move, copy and test.",
  ],
  [
    "an unknown op",
    {},
    [{ op: "ADD", path: "", value: 1 }],
    "invalid_patch: Operation 0: op is not one of add, remove, replace, move, copy and test.",
  ],
  [
    "an op with the name of an inherited member",
    {},
    [{ op: "toString", path: "" }],
    "invalid_patch: Operation 0: op is not one of add, remove, replace, move, copy and test.",
  ],
  ["an operation without path", {}, [{ op: "remove" }], "invalid_patch: Operation 0: path is missing."],
  [
    "an operation without value",
    { a: 1 },
    [
      { op: "test", path: "/a", value: 1 },
      { op: "add", path: "/a" },
    ],
    "invalid_patch: Operation 1: value is missing.",
  ],
  ["an operation without from", {}, [{ op: "move", path: "/a" }], "invalid_patch: Operation 0: from is missing."],
  [
    "a path that is no text",
    {},
    [{ op: "remove", path: 1 }],
    "invalid_patch: Operation 0: path is not a JSON Pointer (RFC 6901).",
  ],
  [
    "a path without a slash",
    {},
    [{ op: "remove", path: "a" }],
    "invalid_patch: Operation 0: path is not a JSON Pointer (RFC 6901).",
  ],
  [
    "a path with a wrong escape",
    {},
    [{ op: "remove", path: "/a~2" }],
    "invalid_patch: Operation 0: path is not a JSON Pointer (RFC 6901).",
  ],
  [
    "a from with a wrong escape",
    {},
    [{ op: "copy", from: "/~", path: "/a" }],
    "invalid_patch: Operation 0: from is not a JSON Pointer (RFC 6901).",
  ],
  [
    "moving a value into itself",
    { a: {} },
    [{ op: "move", from: "/a", path: "/a/b" }],
    "invalid_patch: Operation 0: a value cannot be moved into itself.",
  ],
  [
    "moving the whole document into itself",
    { a: {} },
    [{ op: "move", from: "", path: "/a" }],
    "invalid_patch: Operation 0: a value cannot be moved into itself.",
  ],
  [
    "too many operations",
    {},
    Array.from({ length: 1001 }, () => ({ op: "test", path: "", value: {} })),
    "invalid_patch: A JSON Patch has at most 1000 operations.",
  ],
] as const) {
  test(`refuses a JSON Patch and changes nothing: ${title}`, async () => {
    const before = structuredClone(document);

    assert.equal(await refusal(document, operations), expected);
    assert.deepEqual(document, before);
  });
}

test("adds __proto__ as a normal member", async () => {
  const result = (await patch({}, JSON.parse('[{"op":"add","path":"/__proto__","value":{"admin":true}}]'))) as Record<
    string,
    unknown
  >;

  assert.ok(Object.hasOwn(result, "__proto__"));
  assert.equal(result["admin"], undefined);
});

test("does not change operations, so that they can be applied again", async () => {
  const operations = parseJSONPatch([
    { op: "add", path: "/a", value: {} },
    { op: "add", path: "/a/b", value: 1 },
  ]);

  const first = await applyJSONPatch({}, operations);

  assert.deepEqual(await applyJSONPatch({}, operations), first);
  assert.deepEqual(first, { a: { b: 1 } });
});

test("applies an operation below 32 levels while an earlier move has made the document deeper", async () => {
  const levels = (count: number, inner: unknown): unknown =>
    Array.from({ length: count }).reduce((value) => ({ a: value }), inner);
  const outer = "/o" + "/a".repeat(19);
  const operations = [
    { op: "move", from: "/i", path: `${outer}/a` },
    { op: "replace", path: `${outer}/a${"/a".repeat(20)}`, value: 2 },
    { op: "move", from: `${outer}/a`, path: "/i" },
  ];

  const result = await patch({ o: levels(19, {}), i: levels(20, 1) }, operations);

  assert.deepEqual(result, { o: levels(19, {}), i: levels(20, 2) });
});

test("stops copies of copies before they fill the memory", async () => {
  const long = "x".repeat(500_000);
  const doubling = Array.from({ length: 1000 }, () => ({ op: "copy", from: "/a", path: "/a/-" }));
  const deepening = Array.from({ length: 1000 }, () => ({ op: "copy", from: "", path: "/a" }));
  const many = Array.from({ length: 1000 }, (_, at) => ({ op: "copy", from: "/a", path: `/b${at}` }));
  const moving = [
    ...Array.from({ length: 40 }, (_, at) => ({ op: "add", path: `/n${at}`, value: {} })),
    ...Array.from({ length: 39 }, (_, at) => ({ op: "move", from: `/n${at}`, path: `/n${at + 1}/x` })),
  ];

  assert.match(
    await refusal({ a: [1] }, doubling),
    /^invalid_patch: Operation \d+: the (patch adds more|result would have more)/,
  );
  assert.match(
    await refusal({ a: 1 }, deepening),
    /^invalid_patch: Operation \d+: the result would have more than 32 levels\.$/,
  );
  assert.equal(
    await refusal({ a: long }, many),
    "invalid_patch: Operation 2: the patch adds more than a body may hold.",
  );
  assert.equal(await refusal({}, moving), "invalid_patch: The result has more than 32 levels.");
  assert.equal(
    await refusal([], [{ op: "add", path: "/0".repeat(100_000), value: 1 }]),
    "patch_conflict: Operation 0: the parent of its path does not exist.",
  );
});

test("returns a document or a problem for any operations", async () => {
  const path = fc
    .array(fc.constantFrom("a", "b", "0", "1", "-", "__proto__", "~0", "~", ""))
    .map((tokens) => tokens.map((token) => `/${token}`).join(""));
  const operation = fc.record(
    {
      op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test", "x"),
      path,
      from: path,
      value: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: ["op"] },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue({ maxDepth: 3 }),
      fc.array(operation, { maxLength: 6 }),
      async (document, operations) => {
        const before = JSON.stringify(document);
        try {
          JSON.stringify(await patch(document, operations));
        } catch (error) {
          assert.ok(error instanceof Problem && (error.status === 400 || error.status === 409), String(error));
        }
        assert.equal(JSON.stringify(document), before);
      },
    ),
    { numRuns: 1000 },
  );
});
