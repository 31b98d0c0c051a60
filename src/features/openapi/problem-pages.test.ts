import assert from "node:assert/strict";
import { test } from "node:test";
import { pageStyle } from "../../core/html/look.ts";
import { html } from "../../core/html/markup.ts";
import { catalogue, type ProblemCode } from "../../core/problem/catalogue.ts";
import { problemIndexPage, problemPage } from "./problem-pages.ts";

const codes = Object.keys(catalogue) as ProblemCode[];
const service = { title: "Library", basePath: "", root: true, style: pageStyle() };

test("has a page for every code, with what happened, why, and what to do", () => {
  for (const code of codes) {
    const page = problemPage(code, catalogue[code], service).html;

    const { status, title, detail, why, cure } = catalogue[code];
    for (const text of [status, title, detail, why, cure, code])
      assert.ok(page.includes(html`>${text}<`.toString()), `${code}: ${text}`);
    assert.match(page, /<html lang="en">/);
    assert.ok(page.includes(html`<title>${title} · Library</title>`.toString()));
    assert.equal(page.match(/<h1>/g)?.length, 1);
  }
});

test("links every page from the index, also below the base path", () => {
  for (const basePath of ["", "/api/v1"]) {
    const page = problemIndexPage(catalogue, { ...service, basePath }).html;

    for (const code of codes) assert.ok(page.includes(`href="${basePath}/problems/${code}"`), code);
  }
});

test("allows only the style sheet of the pages, and has no inline content", () => {
  for (const page of [
    ...codes.map((code) => problemPage(code, catalogue[code], service)),
    problemIndexPage(catalogue, service),
  ]) {
    assert.deepEqual(parseDirectives(page.policy), {
      "default-src": "'none'",
      "style-src": "'self'",
      "img-src": "'self' data:",
      "base-uri": "'none'",
      "form-action": "'none'",
      "frame-ancestors": "'none'",
    });
    assert.doesNotMatch(page.html, /<script|<style|style=|\son\w+=/);
  }
});

function parseDirectives(policy: string): Record<string, string> {
  return Object.fromEntries(policy.split("; ").map((each) => each.split(/ (.*)/s).slice(0, 2) as [string, string]));
}
