import assert from "node:assert/strict";
import { test } from "node:test";
import { followable } from "./banner.ts";

test("what listens on all addresses is asked at the one of this machine", () => {
  assert.equal(followable("http://0.0.0.0:8000/api"), "http://127.0.0.1:8000/api");
  assert.equal(followable("https://[::]:8000"), "https://[::1]:8000");
  assert.equal(followable("http://192.0.2.7:8000/0.0.0.0:1"), "http://192.0.2.7:8000/0.0.0.0:1");
});
