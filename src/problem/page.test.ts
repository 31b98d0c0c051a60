import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { catalogue, type ProblemCode } from "./catalogue.ts";
import { escapeHTML, problemIndexPage, problemPage, type Page } from "./page.ts";

const codes = Object.keys(catalogue) as ProblemCode[];

test("every code has a page that says what happened, why, and what to do", () => {
  for (const code of codes) {
    const { html } = problemPage(code, catalogue[code]);

    const { status, title, detail, why, cure } = catalogue[code];
    for (const text of [`>${status}<`, title, detail, why, cure, code]) {
      assert.ok(html.includes(text.startsWith(">") ? text : escapeHTML(text)), `${code}: ${text}`);
    }
    assert.match(html, /<html lang="en">/);
    assert.equal(html.match(/<h1>/g)?.length, 1);
  }
});

test("the index leads to every page", () => {
  const { html } = problemIndexPage(catalogue);

  for (const code of codes) assert.ok(html.includes(`href="/problems/${code}"`), code);
});

test("the policy lets the page's own style through and nothing else", () => {
  for (const page of [...codes.map((code) => problemPage(code, catalogue[code])), problemIndexPage(catalogue)]) {
    assert.deepEqual(directivesOf(page.policy), {
      "default-src": "'none'",
      "style-src": hashesOf(page, "style"),
      "base-uri": "'none'",
      "form-action": "'none'",
      "frame-ancestors": "'none'",
    });
    assert.doesNotMatch(page.html, /<script|style=|\son\w+=/);
  }
});

test("no text can leave the place where it stands", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const escaped = escapeHTML(text);

      assert.doesNotMatch(escaped, /[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
      assert.equal(unescape(escaped), text);
    }),
  );
});

function unescape(html: string): string {
  const characters: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return html.replaceAll(/&([^;]+);/g, (_, name: string) => characters[name] ?? "?");
}

function directivesOf(policy: string): Record<string, string> {
  return Object.fromEntries(policy.split("; ").map((each) => each.split(/ (.*)/s).slice(0, 2) as [string, string]));
}

function hashesOf({ html }: Page, element: string): string {
  const inline = [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))];
  return inline.map(([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`).join(" ");
}
