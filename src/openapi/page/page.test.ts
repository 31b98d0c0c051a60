import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { Script } from "node:vm";
import { docsPage } from "./page.ts";

const { html, policy } = docsPage();

test("the policy lets the page's own script and style through, and data from here alone", () => {
  assert.deepEqual(policy.split("; "), [
    "default-src 'none'",
    `script-src '${hashOf("script")}'`,
    `style-src '${hashOf("style")}'`,
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
});

test("nothing comes from elsewhere, and nothing stands where the policy would stop it", () => {
  assert.doesNotMatch(html, /https?:|\bsrc=|@import|url\(|\sstyle=|\son\w+=/);
});

test("the script is whole and never reads data as HTML", () => {
  assert.doesNotThrow(() => new Script(inline("script")));
  assert.doesNotMatch(inline("script"), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function/);
});

test("the page has a language, a viewport, landmarks and a way without script", () => {
  for (const part of [
    '<html lang="en">',
    'name="viewport"',
    "<nav aria-label=",
    "<main",
    'href="#main"',
    "<noscript>",
  ]) {
    assert.ok(html.includes(part), part);
  }
});

function inline(element: "script" | "style"): string {
  const parts = [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))];
  assert.equal(parts.length, 1);
  return parts[0]![1]!;
}

function hashOf(element: "script" | "style"): string {
  return `sha256-${createHash("sha256").update(inline(element)).digest("base64")}`;
}
