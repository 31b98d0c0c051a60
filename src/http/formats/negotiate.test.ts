import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { json } from "./json.ts";
import { negotiate, negotiateProblem } from "./negotiate.ts";
import { xml } from "./xml.ts";

const formats = [json, xml];

for (const [accept, expected] of [
  [undefined, json],
  ["", json],
  [" , ", json],
  ["*/*", json],
  ["application/json", json],
  ["application/xml", xml],
  ["APPLICATION/XML", xml],
  ["application/*", json],
  ["application/json; charset=utf-8", json],
  ["application/json;indent=4", json],
  ["application/xml, application/json;q=0.9", xml],
  ["application/json;q=0.5, application/xml;q=0.6", xml],
  ["application/xml;q=0.5, */*;q=0.1", xml],
  ["application/xml, */*", xml],
  ["application/xml, application/json", xml],
  ["application/json, application/xml", json],
  ["application/json;q=0, */*", xml],
  ["application/json;q=0.1, application/*;q=0.9", xml],
  ["application/*;q=0, */*", null],
  ["application/json;q=0, application/xml;q=0.000", null],
  ["*/*;q=0", null],
  ["text/html", null],
  ["text/xml", null],
  ["text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", json],
  ["text/*, image/png", null],
  ["application/problem+json", null],
  ["nonsense", null],
  ["*", null],
  ["application/json;q=abc", null],
  ["application/json;q=1.5", null],
  ["application/json;q=-1, application/xml;q=0.1", xml],
  ['text/plain;x="a, application/xml", application/json;q=0.2', json],
  ["application/xml;q=0.001", xml],
] as const) {
  test(`chooses ${expected?.mediaType ?? "no format"} for Accept: ${accept}`, () => {
    assert.equal(negotiate(accept, formats), expected);
  });
}

for (const [accept, expected] of [
  ["text/html", json],
  ["application/problem+json", json],
  ["application/problem+xml", xml],
  ["application/problem+xml, application/json", xml],
  ["application/problem+json, application/xml;q=0.5", json],
  ["application/xml", xml],
  ["*/*;q=0", json],
  [undefined, json],
] as const) {
  test(`chooses ${expected.problemMediaType} for a problem with Accept: ${accept}`, () => {
    assert.equal(negotiateProblem(accept, formats), expected);
  });
}

test("negotiates every header without an exception", () => {
  const piece = fc.constantFrom(
    "application/json",
    "application/xml",
    "*/*",
    "/",
    "*",
    ";",
    ",",
    "q=",
    "0.5",
    '"',
    "\\",
    " ",
    "=",
    "__proto__",
    "text",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((pieces) => pieces.join("")),
      ),
      (accept) => {
        negotiate(accept, formats);
        assert.ok(formats.some((each) => each === negotiateProblem(accept, formats)));
      },
    ),
  );
});
