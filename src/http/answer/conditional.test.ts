import assert from "node:assert/strict";
import { test } from "node:test";
import { Call } from "../../core/call/call.ts";
import { Problem } from "../../core/problem/problem.ts";
import { checkPreconditions } from "./conditional.ts";

function callWith(method: string, ...rawHeaders: string[]): Call {
  return new Call(
    {
      method,
      target: "/users/1",
      rawHeaders,
      peer: "127.0.0.1",
      encrypted: false,
      readBody: async () => new Uint8Array(),
    },
    {
      now: () => 0,
      about: { name: "api", allowedOrigins: "allowedOrigins" },
      makeRequestId: () => "r-1",
      readClient: () => ({
        address: "127.0.0.1",
        encrypted: false,
        loopback: true,
        viaTrustedProxy: false,
        origin: null,
      }),
    },
  );
}

for (const [method, headers, current, expected] of [
  ["GET", [], '"1"', "proceed"],
  ["PUT", [], null, "proceed"],
  ["PUT", ["If-Match", '"1"'], '"1"', "proceed"],
  ["PUT", ["If-Match", '"2"'], '"1"', "failed"],
  ["PUT", ["If-Match", '"2", "1"'], '"1"', "proceed"],
  ["PUT", ["If-Match", '"2"', "if-match", '"1"'], '"1"', "proceed"],
  ["PUT", ["If-Match", 'W/"1"'], '"1"', "failed"],
  ["PUT", ["If-Match", "*"], '"1"', "proceed"],
  ["PUT", ["If-Match", "*"], null, "failed"],
  ["PUT", ["If-Match", '"1"'], null, "failed"],
  ["GET", ["If-Match", '"2"'], '"1"', "failed"],
  ["GET", ["If-Match", '"2"', "If-None-Match", '"1"'], '"1"', "failed"],
  ["PUT", ["If-None-Match", "*"], null, "proceed"],
  ["PUT", ["If-None-Match", "*"], '"1"', "failed"],
  ["PUT", ["If-None-Match", '"1"'], '"1"', "failed"],
  ["PUT", ["If-None-Match", '"2"'], '"1"', "proceed"],
  ["GET", ["If-None-Match", '"1"'], '"1"', "not_modified"],
  ["HEAD", ["If-None-Match", 'W/"1"'], '"1"', "not_modified"],
  ["GET", ["If-None-Match", "*"], '"1"', "not_modified"],
  ["GET", ["If-None-Match", '"1-xml"'], '"1"', "proceed"],
  ["GET", ["If-Match", '"1"', "If-None-Match", '"1"'], '"1"', "not_modified"],
  ["GET", ["If-Modified-Since", "Fri, 31 Dec 9999 23:59:59 GMT"], '"1"', "proceed"],
  ["PUT", ["If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"], '"1"', "proceed"],
] as const) {
  test(`returns "${expected}" for ${method} with ${headers.join(" ") || "no condition"} if the ETag is ${current ?? "missing"}`, () => {
    assert.equal(checkPreconditions(callWith(method, ...headers), current === null ? null : [current]).kind, expected);
  });
}

for (const headers of [
  ["If-Match", "1"],
  ["If-None-Match", ""],
  ["If-None-Match", '*, "1"'],
  ["If-Match", '"1"', "If-Match", "*"],
]) {
  test(`rejects ${headers.join(" ")} as malformed`, () => {
    assert.throws(
      () => checkPreconditions(callWith("PUT", ...headers), ['"1"']),
      (error) => error instanceof Problem && error.code === "malformed",
    );
  });
}

test("matches any of the current ETags, and returns the matched ETag for a 304", () => {
  const present = ['"1"', '"1-gzip"'];

  const outcome = checkPreconditions(callWith("GET", "If-None-Match", 'W/"1-gzip", "0"'), present);

  assert.deepEqual(outcome, { kind: "not_modified", tag: '"1-gzip"' });
  assert.equal(checkPreconditions(callWith("PUT", "If-Match", '"1-gzip"'), present).kind, "proceed");
  assert.equal(checkPreconditions(callWith("PUT", "If-None-Match", '"1-gzip"'), present).kind, "failed");
});

test("matches a state without a tag only with *", () => {
  for (const [headers, expected] of [
    [["If-Match", "*"], "proceed"],
    [["If-Match", '"1"'], "failed"],
    [["If-None-Match", "*"], "failed"],
    [["If-None-Match", '"1"'], "proceed"],
  ] as const) {
    assert.equal(checkPreconditions(callWith("POST", ...headers), []).kind, expected, headers.join());
  }
});
