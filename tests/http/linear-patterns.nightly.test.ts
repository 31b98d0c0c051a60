import assert from "node:assert/strict";
import { test } from "node:test";
import { hostileTexts, isSlow, usePattern } from "../harness/hostile-text.ts";

test("recognizes known slow patterns, so that the tests of linear patterns can fail", () => {
  const texts = hostileTexts();

  for (const regex of [/0+$/, /^[ \t]+|[ \t]+$/g, /[ \t]*=[ \t]*x/])
    assert.ok(
      texts.some((text) => isSlow((length) => usePattern(regex, text(length)))),
      String(regex),
    );
});
