import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { consolePages, documentation } from "../../src/door/features.ts";
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
} from "../../src/door/index.ts";
import { olderShape, references, uuid } from "../../src/door/resources.ts";
import { findLabelField } from "../../src/resource/record-labels.ts";
import type { Store } from "../../src/store/store.ts";
import { ownService, type OwnAnswer } from "../harness/own-service.ts";
import { emptyStore } from "../harness/test-store.ts";

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

/** Creates a store that counts how often the names of related records are read. */
async function countingStore() {
  const reads = { times: 0 };
  const inner = await emptyStore();
  const store: Store = new Proxy(inner, {
    get(target, name: keyof Store) {
      if (name === "listRelated") reads.times += 1;
      const found = target[name];
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
  return { asked: reads, store };
}

/** Creates a library in which each book is visible only to its owner. */
async function library(t: TestContext) {
  const { asked: reads, store } = await countingStore();
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
  reads.times = 0;
  return { ...service, asked: reads };
}

const cells = ({ text: page }: OwnAnswer): readonly string[] =>
  [...page.matchAll(/<td data-label="[^"]*">(.*?)<\/td>/g)].map(([, cell = ""]) => cell);
const linkedCell = '<a href="/books/1" dir="auto">Emma &lt;b&gt;</a>';
const hidden = "<bdi>Book 2</bdi>";
const none = '<span class="none"><span aria-hidden="true">–</span><span class="vh">none</span></span>';

test("shows the name of a record in place of its id if the caller may read it, with one query a page", async (t) => {
  const { get, asked: reads } = await library(t);

  const list = await get("/shelves", { as: "ada", ...browser });

  const references = cells(list).filter((cell) => !cell.includes("tag"));
  assert.deepEqual(references, [linkedCell, none, hidden, none, linkedCell, none, hidden, linkedCell]);
  assert.equal(reads.times, 1);
  assert.match((await get("/shelves/1", { as: "ada", ...browser })).text, new RegExp(`<dd>${linkedCell}</dd>`));
  assert.doesNotMatch((await get("/shelves", browser)).text, /Emma|Ulysses|href="\/books\/\d/);
  assert.match((await get("/shelves", { as: "root", ...browser })).text, /Emma[^]*Ulysses/);
});

test("shows names for several ids of one field, with one query a page", async (t) => {
  const { asked: reads, store } = await countingStore();
  const lists = defineResource({
    name: "list",
    fields: { books: references(books, { default: [], maxItems: 200 }), best_id: reference(books, { optional: true }) },
  });
  const { ask, get } = await ownService(t, {
    store,
    mounts: [mount(books, { permission: own }), mount(lists, { permission: anyone })],
    features: [consolePages({ title: "Library" })],
  });
  for (let at = 1; at <= 120; at += 1)
    await ask("POST", "/books", { as: at % 2 === 1 ? "ada" : "ben", body: { title: `B<${at}>` } });
  await ask("POST", "/lists", { body: { books: [3, 2, 1] } });
  await ask("POST", "/lists", { body: { books: [], best_id: 5 } });
  await ask("POST", "/lists", { body: { books: Array.from({ length: 120 }, (_, at) => at + 1) } });
  reads.times = 0;

  const shown = (id: number): string => `<a href="/books/${id}" dir="auto">B&lt;${id}&gt;</a>`;
  const list = await get("/lists", { as: "ada", ...browser });

  assert.equal(reads.times, 1);
  const [first, , empty] = cells(list);
  assert.equal(first, `${shown(3)}, ${hidden}, ${shown(1)}`);
  assert.equal(empty, none);
  assert.match(list.text, /<span class="dim">and 117 more<\/span>/);
  const record = (await get("/lists/3", { as: "ada", ...browser })).text;
  assert.ok(record.includes(`${shown(1)}, ${hidden}, ${shown(3)}`));
  assert.match(record, /B&lt;99&gt;[^]*and 20 more/);
  assert.doesNotMatch(record, /B&lt;(?:2|100)&gt;/);
  assert.doesNotMatch((await get("/lists/3", browser)).text, /B&lt;|href="\/books\/\d/);
  assert.match((await get("/lists/3", { as: "root", ...browser })).text, /B&lt;1&gt;[^]*B&lt;2&gt;/);
});

test("names a record by a computed field, or by its resource and id if that fails", async (t) => {
  let isBroken = false;
  const formatName = (first: string, last: string): string => {
    if (isBroken) throw new Error("no name");
    return `${first} ${last}`;
  };
  const people = defineResource({
    name: "person",
    plural: "people",
    fields: { first: text(), last: text() },
    computed: { name: { as: text(), from: ({ first, last }) => formatName(first, last) } },
    labelField: "name",
  });
  const homes = defineResource({
    name: "home",
    fields: { street: text({ maxLength: 50 }) },
    computed: { name: { as: text(), sql: "'at ' || \"street\"" } },
    labelField: "name",
  });
  const pets = defineResource({
    name: "pet",
    fields: { keeper_id: reference(people), keepers: references(people), home_id: reference(homes) },
  });
  const { ask, get } = await ownService(t, {
    mounts: [people, homes, pets].map((each) => mount(each, { permission: anyone })),
    features: [consolePages({ title: "Pets" })],
  });
  await ask("POST", "/people", { body: { first: "Ada", last: "Byron" } });
  await ask("POST", "/homes", { body: { street: "Mill Lane" } });
  await ask("POST", "/pets", { body: { keeper_id: 1, keepers: [1], home_id: 1 } });

  const page = await get("/pets/1", browser);
  assert.equal(page.status, 200, page.text);
  assert.equal(page.text.match(/<a href="\/people\/1" dir="auto">Ada Byron<\/a>/g)?.length, 2);

  assert.match(page.text, /<a href="\/homes\/1" dir="auto">at Mill Lane<\/a>/);

  isBroken = true;
  const nameless = await get("/pets/1", browser);
  assert.equal(nameless.status, 200, nameless.text);
  assert.match(nameless.text, /<dd><bdi>Person 1<\/bdi><\/dd>/);
});

test("shows the words of an enumeration in their tones, and refuses a tone for an unknown word", async (t) => {
  const { get } = await library(t);

  const page = (await get("/shelves", browser)).text;

  assert.match(page, /<span class="tag good">Full<\/span>/);
  assert.match(page, /<h1>Shelves<\/h1>/);
  assert.match(page, /<span class="tag">Empty<\/span>/);
  const slip = enumeration(["full"], { tones: { ful: "good" } as never });
  assert.throws(
    () => defineResource({ name: "a", fields: { b: slip } }),
    /tones .* no option ful; did you mean full\?/,
  );
});

test("makes a word of an enumeration without a label readable", async (t) => {
  const unset = { labels: { open: undefined, paid: "Paid" }, tones: { open: undefined } } as object;
  const state = enumeration(["open", "paid"], unset);
  const { ask, get } = await ownService(t, {
    mounts: [mount(defineResource({ name: "bill", fields: { state } }), { permission: anyone })],
    features: [consolePages({ title: "Bills" })],
  });
  for (const word of ["open", "paid"]) await ask("POST", "/bills", { body: { state: word } });

  const shown = cells(await get("/bills", browser));

  assert.deepEqual(shown, ['<span class="tag">Open</span>', '<span class="tag">Paid</span>']);
  // An existing table may have a word that the declaration does not have.
  assert.deepEqual(
    [state.kind.label?.("constructor" as "open"), state.kind.tone?.("constructor" as "open")],
    [null, null],
  );
});

test("gives the pages of the docs and of problems the same brand and colors as the console", async (t) => {
  const { get } = await ownService(t, {
    features: [
      consolePages({ title: "Bookshop", logo: "/logo.svg", accent: "#8a2c0d" }),
      documentation({ title: "The API", version: "1" }),
    ],
  });

  for (const path of ["/", "/docs", "/docs/getDocs", "/problems", "/problems/taken"]) {
    const page = (await get(path, browser)).text;
    assert.match(page, /<a class="brand" href="\/"><img src="\/logo.svg" alt=""><span>Bookshop<\/span><\/a>/, path);
    const [, style = ""] = /rel="stylesheet" href="([^"]*)"/.exec(page)!;
    assert.match((await get(style)).text, /--accent: light-dark\(#8a2c0d, #[0-9a-f]{6}\);/, path);
  }
});

test("names a record by its declared field, by the record that it refers to, or by its first text of one line", async (t) => {
  const authors = defineResource({
    name: "author",
    fields: {
      born: integer(),
      code: uuid({ optional: true }),
      state: enumeration(["dead", "alive"]),
      note: text({ multiline: true }),
      pen: text({ multiline: false }),
    },
  });
  const works = defineResource({
    name: "work",
    id: "uuid",
    fields: { code: text(), title: text(), author_id: reference(authors) },
    labelField: "title",
  });
  const loans = defineResource({
    name: "loan",
    fields: { shelf: text(), work_id: reference(works) },
    labelField: "work_id",
  });
  const fines = defineResource({ name: "fine", fields: { loan_id: reference(loans), author_id: reference(authors) } });
  const { ask, get } = await ownService(t, {
    mounts: [authors, works, loans, fines].map((each) => mount(each, { permission: anyone })),
    features: [consolePages({ title: "Library" })],
  });
  const author = { born: 1812, note: "one\ntwo", pen: "Boz", state: "dead" };
  await ask("POST", "/authors", { body: author });
  const work = await ask("POST", "/works", { body: { code: "X1", title: "Bleak House", author_id: 1 } });
  await ask("POST", "/loans", { body: { shelf: "S", work_id: work.json.id } });
  await ask("POST", "/fines", { body: { loan_id: 1, author_id: 1 } });

  const list = cells(await get("/fines", browser));
  const loan = (await get("/loans/1", browser)).text;

  const named = (path: string, name: string): string => `<a href="/${path}/1" dir="auto">${name}</a>`;
  assert.deepEqual(list, [named("loans", "Bleak House"), named("authors", "Boz")]);
  assert.match(loan, /<h1 dir="auto">Bleak House<\/h1>/);
  const streets = defineResource({
    name: "street",
    fields: { country: reference("countries", { id: "text" }), name: text() },
  });
  assert.equal(findLabelField(streets), "name");
});

test("names a record without a name by its resource and id, and links it only if the caller may read it", async (t) => {
  const people = defineResource({ name: "person", plural: "people", fields: { name: text() } });
  const cards = defineResource({
    name: "card",
    fields: { holder_id: reference(people, { optional: true }) },
    labelField: "holder_id",
  });
  const boxes = defineResource({
    name: "box",
    plural: "boxes",
    fields: { size: integer(), owner_id: integer({ default: caller }) },
  });
  const uses = defineResource({ name: "use", fields: { card_id: reference(cards), box_id: reference(boxes) } });
  const { ask, get } = await ownService(t, {
    mounts: [
      mount(boxes, { permission: own }),
      ...[people, cards, uses].map((each) => mount(each, { permission: anyone })),
    ],
    features: [consolePages({ title: "Library" })],
  });
  await ask("POST", "/people", { body: { name: "Ann" } });
  for (const holder_id of [1, null]) await ask("POST", "/cards", { body: { holder_id } });
  for (const as of ["ada", "ben"]) await ask("POST", "/boxes", { as, body: { size: 1 } });
  for (const id of [1, 2]) await ask("POST", "/uses", { body: { card_id: id, box_id: id } });

  const shown = cells(await get("/uses", { as: "ada", ...browser }));

  const nameless = await get("/cards/2", browser);
  assert.equal(nameless.status, 200);
  assert.match(nameless.text, /<h1 dir="auto">Card 2<\/h1>/);
  const [ann, ...others] = shown;
  assert.equal(ann, '<a href="/cards/1" dir="auto">Ann</a>');
  const named = (path: string, id: number, name: string): string => `<a href="/${path}/${id}" dir="auto">${name}</a>`;
  assert.deepEqual(others, [named("boxes", 1, "Box 1"), named("cards", 2, "Card 2"), "<bdi>Box 2</bdi>"]);
});

test("names a record by no field that its caller may not read, and one of an older shape by a field that it has", async (t) => {
  const rule = { read: administrator, write: administrator, optional: true } as const;
  const cases = defineResource({
    name: "case",
    fields: { number: text(), suspect: text(rule) },
    labelField: "suspect",
  });
  const mounted = mount(cases, { permission: anyone });
  const { ask, get } = await ownService(t, {
    mounts: [mounted, olderShape(mounted, { prefix: "/v1", fields: { number: "number" } })],
    features: [consolePages({ title: "Cases" })],
  });
  await ask("POST", "/cases", { as: "root", body: { number: "C-1", suspect: "Moriarty" } });

  const pageOf = async (path: string, as: string) => (await get(path, { as, ...browser })).text;

  assert.match(await pageOf("/cases/1", "root"), /<h1 dir="auto">Moriarty<\/h1>/);
  assert.match(await pageOf("/cases/1", "ada"), /<h1 dir="auto">Case 1<\/h1>/);
  assert.match(await pageOf("/v1/cases/1", "ada"), /<h1 dir="auto">C-1<\/h1>/);
});

test("names records that refer to each other in a circle, and hides a name that the caller may not read", async (t) => {
  const ones = defineResource({
    name: "one",
    fields: { other_id: reference("others", { optional: true }) },
    labelField: "other_id",
  });
  const others = defineResource({
    name: "other",
    fields: { one_id: reference("ones", { optional: true }) },
    labelField: "one_id",
  });
  const links = defineResource({ name: "link", fields: { one_id: reference("ones"), book_id: reference("books") } });
  const { ask, get } = await ownService(t, {
    mounts: [
      mount(books, { permission: own }),
      ...[ones, others, links].map((each) => mount(each, { permission: anyone })),
    ],
    features: [consolePages({ title: "Library" })],
  });
  await ask("POST", "/books", { as: "ada", body: { title: "Emma" } });
  await ask("POST", "/ones", { body: {} });
  await ask("POST", "/others", { body: { one_id: 1 } });
  await ask("PATCH", "/ones/1", { body: { other_id: 1 } });
  await ask("POST", "/links", { body: { one_id: 1, book_id: 1 } });

  const { status, text: page } = await get("/links", browser);

  assert.equal(status, 200);
  assert.doesNotMatch(page, /Emma/);
});

test("shows the declared words of a resource and of an enumeration, and keeps JSON as it is", async (t) => {
  const loans = defineResource({
    name: "loan_item",
    fields: { state: enumeration(["in_work", "done"], { tones: { done: "good" }, labels: { in_work: "In work" } }) },
    label: { one: "Loan", many: "Loans of books" },
  });
  const urls = defineResource({ name: "url", fields: { at: text() }, label: { one: "URL", many: "URLs" } });
  const { ask, get } = await ownService(t, {
    mounts: [mount(loans, { permission: anyone }), mount(urls, { permission: anyone })],
    features: [consolePages({ title: "Library" })],
  });
  for (const state of ["in_work", "done"]) await ask("POST", "/loan_items", { body: { state } });

  const list = (await get("/loan_items", browser)).text;
  const record = (await get("/loan_items/1", browser)).text;

  assert.match(
    list,
    /<h1>Loans of books<\/h1>[^]*>New loan<[^]*<span class="tag">In work<\/span>[^]*<span class="tag good">Done</,
  );
  assert.match(record, /<h1 dir="auto">Loan 1<\/h1>[^]*Delete <bdi>Loan 1<\/bdi>/);
  assert.match((await get("/urls", browser)).text, /<h1>URLs<\/h1>[^]*>New URL</);
  assert.deepEqual((await get("/loan_items/1")).json, { id: 1, state: "in_work" });
});

test("shows the form again if a reference was sent empty", async (t) => {
  const { ask } = await library(t);
  const { status, text: page } = await ask("PUT", "/shelves/1", {
    as: "root",
    body: { book_id: "", state: "full" },
    ...browser,
  });
  assert.equal(status, 400);
  assert.match(page, /name="book_id"/);
});
