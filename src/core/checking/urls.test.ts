import assert from "node:assert/strict";
import test from "node:test";
import { sentenceWithoutCredentials, withoutCredentials } from "./urls.ts";

test("leaves out user, password and parameters of a URL, even of a malformed one", () => {
  const rows = [
    ["postgres://app:hunter2@db/x", "postgres://…@db/x"],
    ["postgres://app:hunter2-/#@x@db.example/shop?password=y", "postgres://…@db.example/shop…"],
    ["postgres://app:pass word?@db/x", "postgres://…@db/x"],
    ["https://example.org/a?token=x", "https://example.org/a…"],
    ["https://example.org/a", "https://example.org/a"],
    ["no URL: ann@example.com?", "no URL: ann@example.com?"],
  ] as const;

  for (const [text, shown] of rows) assert.equal(withoutCredentials(text), shown);
});

test("leaves out user, password and parameters of each URL in a sentence", () => {
  const sentence = "sorts names postgres://a:b@c/d?e, and ann@example.com asks\nhttps://x.example/?y to end";

  assert.equal(
    sentenceWithoutCredentials(sentence),
    "sorts names postgres://…@c/d… and ann@example.com asks\nhttps://x.example/… to end",
  );
});
