import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseBasicCredentials } from "./credentials.ts";

const base64 = (text: string | Uint8Array) => Buffer.from(text as string).toString("base64");

test("parses the username and the password of every well-formed credential", () => {
  // The example of RFC 7617 §2.1.
  assert.deepEqual(parseBasicCredentials("dGVzdDoxMjPCow=="), { username: "test", password: "123£" });
  assert.deepEqual(parseBasicCredentials(base64("ada:a:b:")), { username: "ada", password: "a:b:" });
  assert.deepEqual(parseBasicCredentials(base64(":")), { username: "", password: "" });
  const text = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(text, text, (name, password) => {
      const credentials = { username: name.replaceAll(":", ""), password };
      assert.deepEqual(parseBasicCredentials(base64(`${credentials.username}:${password}`)), credentials);
    }),
  );
});

const malformed: Record<string, string> = {
  "no colon": base64("ada"),
  "padding left out": "dGVzdDoxMjPCow",
  "too much padding": "dGVzdDoxMjPCow===",
  "the URL alphabet": base64("ada:>>>???").replaceAll("+", "-").replaceAll("/", "_"),
  "a space within": "dGVz dDoxMjPCow==",
  "stray bits": "dGVzdDoxMjPCox==",
  "Latin-1": base64(Buffer.from("ada:caf\xe9", "latin1")),
  "an overlong form": base64(new Uint8Array([0x61, 0x3a, 0xc0, 0xaf])),
  "a line break": base64("ada:x\ny"),
  "a NUL": base64("ada\0:x"),
  "a C1 control": base64("ada:x\u0085"),
  nothing: "",
};

for (const [what, credential] of Object.entries(malformed)) {
  test(`rejects a malformed credential: ${what}`, () => assert.equal(parseBasicCredentials(credential), null));
}

test("never throws, for any input", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.uint8Array().map(base64)), (text) => void parseBasicCredentials(text)),
  );
});
