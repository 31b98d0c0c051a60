import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Problem } from "../problem/problem.ts";
import { parseAuthorization } from "./authorization.ts";
import { parseETags } from "./etag.ts";
import { parseIdempotencyKey } from "./idempotency-key.ts";
import { formatLink } from "./link.ts";
import { parseMediaType } from "./media-type.ts";
import { parsePrefer } from "./prefer.ts";
import { parseQuery } from "./query.ts";

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  parseAuthorization,
  parseETags,
  parseIdempotencyKey,
  parseMediaType,
  parsePrefer,
  formatLink: (text) => formatLink(text, "next"),
};

for (const [name, parse] of Object.entries(parsers)) {
  test(`throws no error in ${name}, for any text`, () => {
    const piece = fc.constantFrom(
      '"',
      "\\",
      ",",
      ";",
      "=",
      " ",
      "\t",
      "W/",
      "*",
      "a",
      "basic",
      "charset",
      "utf-8",
      "q",
      "/",
      "\0",
      "é",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(piece).map((pieces) => pieces.join("")),
        ),
        (text) => void parse(text),
      ),
    );
  });
}

test("throws no error except invalid_query in parseQuery", () => {
  const piece = fc.constantFrom("%", "%2", "%41", "%ff", "%c3%a9", "+", "&", "=", "a", "é", "[", "\ud800");
  fc.assert(
    fc.property(
      fc.array(piece).map((pieces) => pieces.join("")),
      (text) => {
        try {
          parseQuery(text);
        } catch (error) {
          assert.ok(error instanceof Problem && error.code === "invalid_query", String(error));
        }
      },
    ),
  );
});

test("parses in parseQuery every query that URLSearchParams writes", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(
          fc.string({ unit: "grapheme" }).filter((name) => name !== ""),
          fc.string({ unit: "grapheme" }),
        ),
      ),
      (pairs) => {
        const wellFormed = pairs.map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]);
        assert.deepEqual(parseQuery(new URLSearchParams(wellFormed).toString()), wellFormed);
      },
    ),
  );
});
