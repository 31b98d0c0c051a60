import assert from "node:assert/strict";
import test from "node:test";
import { visible, visibleLines } from "./visible.ts";

/** All characters that control a terminal or change the direction of text. */
const controls = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter((each) =>
  /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(each),
);

test("escapes all control characters and all bidi controls, and nothing else", () => {
  assert.equal(controls.length, 65 + 12 + 2);
  for (const each of controls)
    assert.equal(visible(`a${each}b`), `a\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}b`);
  const others = "Zoë 王芳 😀 é \u00a0\u00ad\u200b\u200d\ufeff \\u001b";
  assert.equal(visible(others), others);
});

test("keeps line ends and tabs of a text with several lines, but no carriage return", () => {
  const retained = controls.filter((each) => visibleLines(each) === each);

  assert.deepEqual(retained, ["\t", "\n"]);
  assert.equal(visibleLines("a\r\n\tb\u001b[31m"), "a\\u000d\n\tb\\u001b[31m");
});

test("does not change the value of JSON", () => {
  const value = { [controls.join("")]: controls };

  assert.deepEqual(JSON.parse(visible(JSON.stringify(value))), value);
});
