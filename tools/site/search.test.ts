import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import MiniSearch from "minisearch";
import { miniSearch } from "./search.ts";

// `npm run verify -- docs` builds the site before it runs this file.

const docs = path.join(import.meta.dirname, "../../docs");
const [file = ""] = globSync("generated/site/assets/chunks/@localSearchIndexroot.*.js", { cwd: import.meta.dirname });
const chunk = (await import(path.join(import.meta.dirname, file))) as { readonly default: string };
const index = MiniSearch.loadJSON(chunk.default, {
  storeFields: ["title", "titles"],
  ...miniSearch.options,
  searchOptions: miniSearch.searchOptions,
});

/** The most pages that the site shows, if each of its results is another page. */
const MOST_SHOWN = 16;

/** The questions of a new user, and the pages that answer them. */
const questions: readonly (readonly [question: string, ...pages: readonly string[]])[] = [
  ["reset a password", "sign-up-and-passwords", "users"],
  ["SMTP", "mail"],
  ["add a field later", "migrations"],
  ["a team sees a row", "guides/teams", "tenants"],
  ["time passing in tests", "testing"],
  ["nginx", "proxies"],
  ["React", "guides/react"],
  ["mobile app", "logins"],
  ["412", "errors", "resources/writing"],
  ["upgrade", "operation/versions-and-secrets"],
];

/** Returns the pages that the search shows, each once, in their order. */
function searchPages(question: string): readonly string[] {
  return [...new Set(index.search(question).map(({ id }) => String(id).replace(/^\/(?:docs\/)?|\.html.*$/g, "")))];
}

for (const [question, ...pages] of questions)
  test(`shows the right page first for "${question}"`, () => {
    const [first = ""] = searchPages(question);
    assert.ok(pages.includes(first), `${first} is first, ${searchPages(question).slice(0, 5).join(", ")}`);
  });

test("links every page that answers a question in the index of the docs, or from a page there", () => {
  const readLinks = (page: string): readonly string[] =>
    [...readFileSync(path.join(docs, `${page}.md`), "utf8").matchAll(/\]\(([^):#]+)\.md/g)].map(([, link = ""]) =>
      path.posix.join(path.posix.dirname(page), link),
    );
  const near = new Set(readLinks("README"));
  for (const [question, ...pages] of questions)
    assert.ok(
      pages.some((page) => near.has(page)),
      question,
    );
});

test("shows decisions, ASVS, assurance and names after every other page that is shown", () => {
  for (const question of ["password", "migration", "session", "limit", "token"]) {
    const pages = searchPages(question);
    const isLast = (page: string): boolean => /^(?:decisions\/|asvs|assurance|names|[A-Z])/.test(page);
    const early = pages.slice(0, MOST_SHOWN).findIndex(isLast);
    assert.ok(early === -1 || pages.slice(early).every(isLast), `${question}: ${pages[early]} is number ${early}`);
  }
});
