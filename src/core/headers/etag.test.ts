import assert from "node:assert/strict";
import { test } from "node:test";
import { parseETags, sameStrong, sameWeak } from "./etag.ts";

for (const [header, expected] of [
  ["*", "*"],
  [" * ", "*"],
  ['"7"', [{ weak: false, quoted: '"7"' }]],
  ['W/"7"', [{ weak: true, quoted: '"7"' }]],
  ['""', [{ weak: false, quoted: '""' }]],
  [
    '"a", W/"b" ,,"c"',
    [
      { weak: false, quoted: '"a"' },
      { weak: true, quoted: '"b"' },
      { weak: false, quoted: '"c"' },
    ],
  ],
  ['"a,b"', [{ weak: false, quoted: '"a,b"' }]],
  ["", null],
  [",", null],
  ["7", null],
  ['"7', null],
  ['7"', null],
  ['w/"7"', null],
  ['W/ "7"', null],
  ['"a" "b"', null],
  ['*, "a"', null],
  ['"a b"', null],
  ['"a\0"', null],
] as const) {
  test(`decides that ${JSON.stringify(header)} ${expected === null ? "is no list of tags" : "is a list of tags"}`, () => {
    assert.deepEqual(parseETags(header), expected);
  });
}

test("matches a weak tag only weakly (RFC 9110 §8.8.3.2)", () => {
  assert.equal(sameStrong({ weak: true, quoted: '"1"' }, '"1"'), false);
  assert.equal(sameStrong({ weak: false, quoted: '"1"' }, '"1"'), true);
  assert.equal(sameWeak({ weak: true, quoted: '"1"' }, '"1"'), true);
  assert.equal(sameWeak({ weak: true, quoted: '"2"' }, '"1"'), false);
});
