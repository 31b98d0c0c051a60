import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { refusedJSON } from "../../../tests/harness/long-bodies.ts";
import { Problem } from "../../core/problem/problem.ts";
import { json, readJSON } from "./json.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const read = (text: string): unknown => readJSON(bytes(text));
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

function expectRefusal(body: string | Uint8Array): string {
  try {
    readJSON(typeof body === "string" ? bytes(body) : body);
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, "malformed");
    return error.detail;
  }
  throw new assert.AssertionError({ message: `${String(body).slice(0, 80)} was accepted` });
}

test("reads the same value as JSON.parse from each text that it accepts", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      const expected: unknown = JSON.parse(text, (_name, value: unknown) => (Object.is(value, -0) ? 0 : value));
      let value: unknown;
      try {
        value = read(text);
      } catch {
        return; // The reader refuses some numbers and characters that JSON.parse accepts. Other tests check them.
      }
      assert.deepEqual(value, expected);
    }),
  );
});

test("refuses all texts that JSON.parse refuses, with a 4xx problem", () => {
  const piece = fc.constantFrom(
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "a",
    "1",
    "0",
    "-",
    ".",
    "e",
    "true",
    "null",
    " ",
    "\n",
    "\u0000",
    "\\u12",
    "\ufeff",
    "é",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      let expected = true;
      try {
        JSON.parse(text);
      } catch {
        expected = false;
      }
      try {
        read(text);
        assert.ok(expected, `accepted ${JSON.stringify(text)}`);
      } catch (error) {
        assert.ok(error instanceof Problem && error.status === 400, String(error));
      }
    }),
    { numRuns: 3000 },
  );
});

test("returns a value or throws a problem for any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (body) => {
      try {
        readJSON(body);
      } catch (error) {
        assert.ok(error instanceof Problem && error.status === 400, String(error));
      }
    }),
  );
});

test("reads the records that it has written", () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string({ unit: "grapheme" }),
        fc.oneof(fc.string({ unit: "grapheme" }), fc.maxSafeInteger(), fc.boolean(), fc.constant(null)),
      ),
      (record) => {
        assert.deepEqual(
          read(String(json.write({ value: record, element: "user" }))),
          JSON.parse(JSON.stringify(record)),
        );
      },
    ),
  );
});

for (const [body, detail] of [
  ["", "The body is empty."],
  ["  ", "Expected a value, but the body ends (line 1, column 3)."],
  ["\ufeff{}", "Expected a value (line 1, column 1)."],
  ['{\n  "a": x}', "Expected a value (line 2, column 8)."],
  ['{"a":1,"a":2}', 'The member "a" is given twice (line 1, column 8).'],
  ['{"a":1,"\\u0061":2}', 'The member "a" is given twice (line 1, column 8).'],
  ['{"a":{"__proto__":1,"__proto__":2}}', 'The member "__proto__" is given twice (line 1, column 21).'],
  ['{"a":1,}', "Expected the name of a member after the comma (line 1, column 8)."],
  ["[1,]", "Expected a value after the comma (line 1, column 4)."],
  ["[1 2]", "Expected ',' or ']' (line 1, column 4)."],
  ['{"a" 1}', "Expected ':' (line 1, column 6)."],
  ['{"a":1 "b":2}', "Expected ',' or '}' (line 1, column 8)."],
  ["{} {}", "Expected the end of the body (line 1, column 4)."],
  ['"abc', "A text has no end (line 1, column 1)."],
  ['"a\nb"', "A text has an unescaped control character (line 1, column 3)."],
  ['"\\x41"', "A text has an unknown escape (line 1, column 1)."],
  ['"\\ud800"', "A text has one half of a surrogate pair (line 1, column 1)."],
  ['{"\\udc00":1}', "A text has one half of a surrogate pair (line 1, column 2)."],
  ["9007199254740992", "A number is too large to be kept exactly (line 1, column 1)."],
  ["-9007199254740992", "A number is too large to be kept exactly (line 1, column 1)."],
  ["1e20", "A number is too large to be kept exactly (line 1, column 1)."],
  ["1e400", "A number is too large to be kept exactly (line 1, column 1)."],
  ["0.10000000000000000001", "A number has too many digits to be kept exactly (line 1, column 1)."],
  ["[0.123456789012345678]", "A number has too many digits to be kept exactly (line 1, column 2)."],
  ["9".repeat(500), "A number is too large to be kept exactly (line 1, column 1)."],
  ["01", "Expected the end of the body (line 1, column 2)."],
  ["+1", "Expected a value (line 1, column 1)."],
  [".5", "Expected a value (line 1, column 1)."],
  ["NaN", "Expected a value (line 1, column 1)."],
  ["truth", "Expected a value (line 1, column 1)."],
  ["// no", "Expected a value (line 1, column 1)."],
  [nested(33), "There are more than 32 levels (line 1, column 33)."],
] as const) {
  test(`refuses ${JSON.stringify(body).slice(0, 50)} and names the place`, () => {
    assert.equal(expectRefusal(body), detail);
  });
}

test("refuses bytes that are not UTF-8", () => {
  for (const body of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc0, 0xaf, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0xff, 0xfe, 0x7b, 0x00],
  ]) {
    assert.equal(expectRefusal(Uint8Array.from(body)), "The body is not valid UTF-8.");
  }
});

test("never repeats the sent text in a refusal", () => {
  assert.ok(!expectRefusal('{"password": hunter2secret}').includes("hunter2"));
});

test("accepts 32 levels, exact integers and surrogate pairs", () => {
  assert.equal(JSON.stringify(read(nested(32))), nested(32));
  assert.deepEqual(
    read("[9007199254740991,-9007199254740991,1.5,1e3,-0]"),
    [9007199254740991, -9007199254740991, 1.5, 1000, 0],
  );
  assert.equal(read('"\\ud83d\\ude00\\n\\u0000"'), "😀\n\0");
});

test("reads __proto__ as an ordinary member", () => {
  const value = read('{"__proto__":{"admin":true},"constructor":1}') as Record<string, unknown>;

  assert.ok(Object.hasOwn(value, "__proto__"));
  assert.equal(value["admin"], undefined);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

test("refuses long bodies that are not valid, nest too deeply or have too many names", () => {
  for (const body of refusedJSON) expectRefusal(body);
  read(`[${"1,".repeat(500_000)}1]`);
  read(`"${"\\u0041".repeat(170_000)}"`);
});

test("passes JSON from the database unchanged", () => {
  assert.equal(json.writeJSON?.('[{"id":1}]'), '[{"id":1}]');
});

for (const text of [
  "1.0000000000000000000001",
  "0.99999999999999999999999",
  "1e-400",
  "9007199254740991.1",
  "10.1e-999",
])
  test(`refuses ${text}, because reading would round it to an integer`, () => {
    assert.throws(() => readJSON(Buffer.from(text)), /fraction that is too small/);
  });

for (const [text, value] of [
  ["1.0", 1],
  ["1.000000000000000000000000", 1],
  ["1e2", 100],
  ["120e-1", 12],
  ["1.5e1", 15],
  ["0.0e-400", 0],
  ["0.1", 0.1],
  ["0.10000000000000001", 0.1],
] as const)
  test(`reads ${text} as ${value}`, () => {
    assert.equal(readJSON(Buffer.from(text)), value);
  });

test("refuses a body with more than 10,000 different names, before it reads the end of the body", () => {
  const members = Array.from({ length: 10_001 }, (_, at) => `"m${at}":1`);

  assert.throws(() => readJSON(Buffer.from(`{${members.join(",")},`)), /more than 10000 different names/);
});

test("refuses a body with more than 100,000 arrays, before it reads the end of the body, and counts an object as four arrays", () => {
  const arrays = (count: number): string => Array.from({ length: count }, () => "[]").join(",");
  const objects = (count: number): string => Array.from({ length: count }, () => "{}").join(",");
  const refused = /more than 100000 arrays, where an object counts as 4/;

  assert.equal((readJSON(Buffer.from(`[${arrays(99_999)}]`)) as []).length, 99_999);
  assert.equal((readJSON(Buffer.from(`[${objects(24_000)},${arrays(3999)}]`)) as []).length, 27_999);
  assert.throws(() => readJSON(Buffer.from(`[${arrays(100_000)},`)), refused);
  assert.throws(() => readJSON(Buffer.from(`[${objects(24_000)},${arrays(4000)},`)), refused);
});

test("writes arrays as JSON.stringify does, and long arrays in pieces", async () => {
  const long = Array.from({ length: 3000 }, (_, id) => ({ id, name: `ü "${id}"`.repeat(10) }));
  for (const value of [[], [undefined, null, 1, "a"], long]) {
    const written = await json.write({ value, element: "users" });

    assert.equal(Buffer.from(written).toString(), JSON.stringify(value));
  }
  assert.equal(typeof json.write({ value: long.slice(0, 10), element: "users" }), "string");
  assert.ok(json.write({ value: long, element: "users" }) instanceof Promise);
});
