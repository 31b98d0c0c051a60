import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { copyOfJSON, ExactNumber, isExactNumber, parseJSON, valueOfJSON } from "./exact-numbers.ts";

for (const text of [
  "12345678901234567890",
  "9007199254740993",
  "-9007199254740993",
  "1e400",
  "-1E400",
  "1e-400",
  "0.10000000000000000001",
  "1.00000000000000000001",
  "0.1234567890123456789",
  "1e99999999999",
])
  test(`keeps the spelling of ${text}`, () => {
    for (const json of [text, `[${text}]`, `{"a":${text}}`, `{"a": [1, ${text}]}`, `[1,\n${text} ]`]) {
      const read = valueOfJSON(json);

      assert.equal(JSON.stringify(read), json.replaceAll(/\s/g, ""));
      assert.equal(JSON.stringify(copyOfJSON(read)), JSON.stringify(read));
      assert.ok(isDeepStrictEqual(valueOfJSON(json), read));
    }
    const number = valueOfJSON(text);
    assert.ok(number instanceof ExactNumber && isExactNumber(number));
    assert.deepEqual([Number(number), String(number)], [Number(text), text]);
  });

for (const text of [
  "0",
  "-0",
  "0.0",
  "0e5",
  "1.0",
  "1.50",
  "1e2",
  "1E+2",
  "100000000000000000000",
  "12345678901234567000",
  "9007199254740992",
  "0.30000000000000004",
  "5e-324",
  "1.7976931348623157e308",
  "0.00000000000000000000000000001",
  '"12345678901234567890"',
  '",1e400"',
  '{":1e400":true}',
])
  test(`reads ${text} as JSON.parse does`, () => {
    assert.deepEqual(valueOfJSON(text), JSON.parse(text));
  });

for (const json of [
  '{"1e999":1,"a\\"":[",12345678901234567890"],"b":1e400}',
  '["\\\\",1e400,"\\\\\\",1e999,\\"",2]',
  '[1e-300,1,12345678901234567890,"x"]',
])
  test(`keeps as text only the numbers of ${json} that a double cannot hold`, () => {
    const read = valueOfJSON(json);

    assert.equal(JSON.stringify(read), json);
    assert.notEqual(JSON.stringify(JSON.parse(json)), json);
  });

test("reads the output of JSON.stringify like JSON.parse", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      assert.ok(isDeepStrictEqual(valueOfJSON(text), JSON.parse(text)));
    }),
  );
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      assert.equal(typeof valueOfJSON(JSON.stringify(value)), "number");
    }),
  );
});

test("reads any number as an exact number or as a finite double", () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt({ min: 0n }), fc.integer({ min: -500, max: 500 }), (whole, rest, exponent) => {
      const text = `${whole}.${rest}e${exponent}`;
      const read = valueOfJSON(text);

      assert.ok(isExactNumber(read) ? read.text === text : typeof read === "number" && Number.isFinite(read));
    }),
  );
});

test("copies JSON so that changes to the copy do not affect the original", () => {
  const value = { list: [{ a: 1 }], number: new ExactNumber("1e400"), at: new Date(0) };

  const copy = copyOfJSON(value);

  assert.deepEqual(copy, value);
  assert.notEqual(copy.list[0], value.list[0]);
  assert.notEqual(copy.at, value.at);
});

test("copies a member named __proto__, and an object that contains itself", () => {
  const named = valueOfJSON('{"__proto__":[1]}');
  const round: { self?: unknown } = {};
  round.self = round;

  assert.equal(JSON.stringify(copyOfJSON(named)), '{"__proto__":[1]}');
  const copy = copyOfJSON(round);
  assert.ok(copy.self === copy && copy !== round);
});

test("reads names with escapes as they are written, whatever it has read before", () => {
  for (const number of ["1", "1e400"]) {
    const isRead = (members: string, names: readonly string[]): void => {
      const read = valueOfJSON(`{"before":${number},${members}}`) as Readonly<Record<string, unknown>>;
      assert.deepEqual(Object.keys(read), ["before", ...names], members);
      assert.equal(String(read["before"]), number === "1" ? "1" : "1e400");
    };
    isRead(String.raw`"size 5\\":1`, ["size 5\\"]);
    isRead(String.raw`"size 5\"":1`, ['size 5"']);
    isRead(String.raw`"size 5\n" : 1`, ["size 5\n"]);
    isRead(String.raw`"size 5\u00e9":1`, ["size 5é"]);
    isRead(String.raw`"size 5\ud800":1`, ["size 5\ud800"]);
    isRead(String.raw`"size 5\/":{"size 5\"":"\":\\"}`, ["size 5/"]);
    isRead(String.raw`"\u0061":1,"a":2,"\"":3,"\u0022":4,"b":5`, ["a", '"', "b"]);
    isRead(String.raw`"\uf8ff0":1,"\"":2`, ["\uf8ff0", '"']);
    isRead(String.raw`"0":"\uf8ff","\"":2`.replace('"0"', '"\uf8ff0"'), ["\uf8ff0", '"']);
  }
  const members = valueOfJSON(String.raw`{"\u005f_proto__":[{"\"":1,"\u0022":2}],"\u0061":1,"a":2,"\u0061":3}`);
  assert.equal(JSON.stringify(members), String.raw`{"__proto__":[{"\"":2}],"a":3}`);
  for (const text of [String.raw`{"\x":1}`, String.raw`{"\":1}`, String.raw`{"a\"":1`, String.raw`"a\"`])
    assert.throws(() => valueOfJSON(text), SyntaxError, text);
});

test("reads members with escaped names as they are after a similar object, and rounds numbers", () => {
  for (const [earlier, text, names] of [
    [String.raw`"\\":2`, String.raw`"\n":2`, ["\n"]],
    [String.raw`"\\n\\r":2`, String.raw`"\n\r\t":2`, ["\n\r\t"]],
    [String.raw`"\\u00":2`, String.raw`"\u0074ype":2`, ["type"]],
    [String.raw`"\"\"":2`, String.raw`"\\\"":2`, ['\\"']],
  ] as const) {
    parseJSON(`{"type":1,${earlier}}`);
    JSON.parse(`{"type":1,${earlier}}`);

    const read = parseJSON(`{"exp":1e400,"type":1,${text}}`) as Readonly<Record<string, unknown>>;
    const alone = parseJSON(`{"type":1,${text}}`) as Readonly<Record<string, unknown>>;

    assert.deepEqual(Object.keys(read), [...new Set(["exp", "type", ...names])], text);
    assert.deepEqual(Object.keys(alone), [...new Set(["type", ...names])], text);
    assert.equal(read["exp"], Infinity);
  }
  assert.throws(() => parseJSON(String.raw`{"\n":}`), SyntaxError);
});

test("throws a SyntaxError for a text that is not JSON", () => {
  for (const text of ["", "{", "[1e400", "1e400 1", "01e400"]) assert.throws(() => valueOfJSON(text), SyntaxError);
});
