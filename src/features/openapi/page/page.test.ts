import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { anyone } from "../../../access/permission/permission.ts";
import { mount } from "../../../http/declarations/mount.ts";
import { integer, text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import { buildDocs, openapiDocument } from "../on-demand.ts";
import { collectOperations } from "./description.ts";
import type { DocsParts } from "./page.ts";

const hostile = `<script>alert(1)</script>"><img src=x>`;
const books = defineResource({
  name: "book",
  fields: {
    title: text({ maxLength: 100, description: hostile, example: "O'Hara's" }),
    pages: integer({ optional: true }),
  },
  filters: { title: ["eq"] },
  description: "What can be read, and `taken`.",
});
const document = await openapiDocument({
  title: "Library",
  version: "1",
  mounts: [
    mount(books, {
      permission: anyone,
      actions: { lend: { permission: anyone, body: { to: text() }, handle: () => undefined } },
    }),
  ],
});
const parts: DocsParts = { document, basePath: "/api", session: "/api/session/", who: "/" };
const operations = collectOperations(document);
const docs = await buildDocs(parts);
const pages = [docs.list(), ...operations.map(({ id }) => docs.operation(id)!)];

test("allows only content from this service, and contains nothing that the policy blocks", () => {
  for (const { html, policy } of pages) {
    assert.equal(
      policy,
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    assert.doesNotMatch(
      html,
      /\bsrc="(?!\/api\/)|href="(?!\/api\/|#|data:)|@import|url\(|<style|<script>|\sstyle=|\son\w+=/,
    );
  }
});

test("escapes HTML in the descriptions of authors", () => {
  for (const { html } of pages) assert.doesNotMatch(html, /<img|alert\(1\)<\/script>"?>?</);
  assert.ok(docs.operation("createBook")!.html.includes("&lt;script&gt;alert(1)&lt;/script&gt;"));
});

test("has a page for each operation, which works without a script and has all inputs filled in", () => {
  for (const { id, method, path } of operations) {
    const { html } = docs.operation(id)!;
    assert.match(html, new RegExp(`data-template="/api${path.replaceAll(/[{}]/g, "\\$&")}"`), id);
    assert.match(html, new RegExp(`curl(?: -X ${method})? &#39;/api${path.replaceAll(/\{\w+\}/g, "1")}`), id);
    assert.match(html, /<html lang="en">[\s\S]*<main[\s\S]*<h1>[\s\S]*<noscript>/);
    assert.ok(docs.list().html.includes(`href="/api/docs/${id}"`), id);
    assert.ok(brotliCompressSync(html).length < 40_000);
  }
  assert.match(docs.operation("createBook")!.html, /-d &#39;\{\n {2}&quot;title&quot;: &quot;O&#39;\\&#39;&#39;Hara/);
  assert.equal(docs.operation("nothing"), null);
});

test("links the codes of problems to their pages", () => {
  assert.match(docs.operation("createBook")!.html, /<a href="\/api\/problems\/invalid"><code>invalid<\/code><\/a>/);
});
