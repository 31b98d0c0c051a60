import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { consolePages, documentation } from "../src/door/features.ts";
import {
  administrator,
  anyOf,
  anyone,
  caller,
  defineResource,
  enumeration,
  integer,
  mount,
  owner,
  reference,
  text,
} from "../src/door/index.ts";
import { sqliteStore } from "../src/door/stores.ts";
import type { Store } from "../src/store/store.ts";
import { ownService, type OwnAnswer } from "./own-service.ts";

const books = defineResource({ name: "book", fields: { title: text(), owner_id: integer({ default: caller }) } });
const shelves = defineResource({
  name: "shelf",
  plural: "shelves",
  fields: {
    book_id: reference(books),
    next_id: reference(books, { optional: true }),
    state: enumeration(["full", "empty", "lost"], { tones: { full: "good", lost: "bad" } }),
  },
});
const own = anyOf(administrator, owner("owner_id"));
const browser = { headers: { accept: "text/html" } };

/** A library in which each book is its owner's alone, and how often the store was asked for records by their ids. */
async function library(t: TestContext) {
  const asked = { times: 0 };
  const inner = sqliteStore({ path: ":memory:" });
  const store: Store = new Proxy(inner, {
    get(target, name: keyof Store) {
      if (name === "listRelated") asked.times += 1;
      const found = target[name];
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
  const service = await ownService(t, {
    store,
    mounts: [mount(books, { permission: own }), mount(shelves, { permission: anyone })],
    features: [consolePages({ title: "Library" })],
  });
  for (const [as, title] of [
    ["ada", "Emma <b>"],
    ["ben", "Ulysses"],
  ] as const)
    await service.ask("POST", "/books", { as, body: { title } });
  for (const book_id of [1, 2, 1]) await service.ask("POST", "/shelves", { body: { book_id, state: "full" } });
  await service.ask("POST", "/shelves", { body: { book_id: 2, next_id: 1, state: "empty" } });
  asked.times = 0;
  return { ...service, asked };
}

const cells = ({ text: page }: OwnAnswer): readonly string[] =>
  [...page.matchAll(/<td class="clip"><span>(.*?)<\/span><\/td>/g)].map(([, cell = ""]) => cell);
const known = '<span class="mono dim">1</span> <a href="/books/1" dir="auto">Emma &lt;b&gt;</a>';
const hidden = '<span class="mono">2</span>';

test("beside an id stands what its record is called, for those who may read that, by one question a page", async (t) => {
  const { get, asked } = await library(t);

  const list = await get("/shelves", { as: "ada", ...browser });

  const none = '<span class="dim">null</span>';
  const references = cells(list).filter((cell) => !cell.includes("tag"));
  assert.deepEqual(references, [known, none, hidden, none, known, none, hidden, known]);
  assert.equal(asked.times, 1);
  assert.match((await get("/shelves/1", { as: "ada", ...browser })).text, new RegExp(`<dd>${known}</dd>`));
  assert.doesNotMatch((await get("/shelves", browser)).text, /Emma|Ulysses|href="\/books\/\d/);
  assert.match((await get("/shelves", { as: "root", ...browser })).text, /Emma[^]*Ulysses/);
});

test("the words of an enumeration are shown in their tones", async (t) => {
  const { get } = await library(t);

  const page = (await get("/shelves", browser)).text;

  assert.match(page, /<span class="tag good">full<\/span>/);
  assert.match(page, /<span class="tag ?">empty<\/span>/);
  const slip = enumeration(["full"], { tones: { ful: "good" } as never });
  assert.throws(
    () => defineResource({ name: "a", fields: { b: slip } }),
    /tones .* no option ful; did you mean full\?/,
  );
});

test("the pages of the docs and of problems look as the others do", async (t) => {
  const { get } = await ownService(t, {
    features: [
      consolePages({ title: "Bookshop", logo: "/logo.svg", colors: { accent: "#8a2c0d" } }),
      documentation({ title: "The API", version: "1" }),
    ],
  });

  for (const path of ["/", "/docs", "/docs/getDocs", "/problems", "/problems/taken"]) {
    const page = (await get(path, browser)).text;
    assert.match(page, /<a class="brand" href="\/"><img src="\/logo.svg" alt="" height="20" ?\/> Bookshop<\/a>/, path);
    const [, style = ""] = /rel="stylesheet" href="([^"]*)"/.exec(page)!;
    assert.match((await get(style)).text, /--accent: #8a2c0d;/, path);
  }
});
