import assert from "node:assert/strict";
import { test } from "node:test";
import { formatClearedCookie, formatSetCookie } from "./set-cookie.ts";

test("writes the age, the path and the attributes of a cookie", () => {
  assert.equal(
    formatSetCookie({
      name: "refresh_token",
      value: "a.b-c_d",
      path: "/api/token/",
      secure: true,
      sameSite: "strict",
      maxAgeSeconds: 60,
    }),
    "refresh_token=a.b-c_d; Max-Age=60; Path=/api/token/; HttpOnly; Secure; SameSite=Strict",
  );
});

test("writes a cookie without an age for the session of the browser", () => {
  assert.equal(
    formatSetCookie({ name: "session", value: "x", path: "/", secure: false, sameSite: "lax" }),
    "session=x; Path=/; HttpOnly; SameSite=Lax",
  );
});

test("clears a cookie with the same name, path and attributes", () => {
  assert.equal(
    formatClearedCookie({ name: "__Host-session", path: "/", secure: true, sameSite: "lax" }),
    "__Host-session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax",
  );
});

test("encodes a value, so that it cannot add attributes", () => {
  assert.equal(
    formatSetCookie({ name: "a", value: "x; Domain=evil\r\n", path: "/", secure: true, sameSite: "lax" }),
    "a=x%3B%20Domain%3Devil%0D%0A; Path=/; HttpOnly; Secure; SameSite=Lax",
  );
});
