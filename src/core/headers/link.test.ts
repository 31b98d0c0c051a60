import assert from "node:assert/strict";
import { test } from "node:test";
import { formatLink } from "./link.ts";

test("writes the target and the relation of a link", () => {
  assert.equal(formatLink("/users?limit=2&cursor=abc", "next"), '</users?limit=2&cursor=abc>; rel="next"');
});

test("encodes a target, so that it cannot end the link or the header field early", () => {
  assert.equal(
    formatLink('/a>; rel="x"\r\nSet-Cookie: a', "next"),
    '</a%3E;%20rel=%22x%22%0D%0ASet-Cookie:%20a>; rel="next"',
  );
  assert.equal(formatLink("/é😀\ud800", "next"), '</%C3%A9%F0%9F%98%80%EF%BF%BD>; rel="next"');
});
