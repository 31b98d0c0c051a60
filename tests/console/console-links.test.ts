import assert from "node:assert/strict";
import { test } from "node:test";
import { consolePages } from "../../src/door/features.ts";
import { anyone, defineResource, mount, reference, text } from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";
import { rawSocket } from "../harness/raw-socket.ts";
import { sharedDatabase } from "../harness/test-store.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const here = "http://127.0.0.1:8000";

test("has no link to another site on the page of a hostile path", async (t) => {
  const { send } = await rawSocket(t);
  const hostile = [
    "//evil.example/",
    "//evil.example/a?b=c",
    "/\\evil.example/",
    "/\\/evil.example",
    "//\\evil.example",
  ];
  const addresses = hostile.flatMap((path) => [path, `/console/why?of=${encodeURIComponent(path)}`]);

  for (const address of addresses) {
    const page = await send(`GET ${address} HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);

    assert.match(page, /^HTTP\/1\.1 (?:200|400|404) /);
    const links = [...page.matchAll(/ (?:href|src|action|value|data-path|data-then)="(?!data:)([^"]*)"/g)];
    assert.ok(links.length > 3);
    for (const [, link = ""] of links)
      assert.equal(URL.parse(link.replaceAll("&amp;", "&"), here)?.origin, here, `${address}: ${link}`);
  }
});

const browser = { headers: { accept: "text/html" } };

/** Returns the URLs of links as a browser reads them. */
function linksIn(page: string): string[] {
  const links = [...page.matchAll(/<a[^>]* href="(?!#)([^"]*)"/g)].map(([, link = ""]) => link);
  const entities = { "&amp;": "&", "&#39;": "'", "&quot;": '"', "&lt;": "<", "&gt;": ">" } as Record<string, string>;
  return links.map((link) => link.replaceAll(/&[a-z#0-9]+;/g, (entity) => entities[entity]!));
}

test("links each record by any key, except keys that no path can contain", async (t) => {
  const keys = [
    "plain",
    "a/b",
    "q?x=1",
    "h#f",
    "p%2F",
    "sp ace",
    "..",
    ".",
    "ü",
    "<b>",
    '"',
    "back\\slash",
    "//evil.example",
    "a:b",
  ];
  const database = await sharedDatabase(t);
  await database.ask("CREATE TABLE country (id TEXT PRIMARY KEY, name TEXT)");
  await database.ask("CREATE TABLE city (id INTEGER PRIMARY KEY, country TEXT)");
  for (const [at, key] of keys.entries()) {
    const quoted = key.replaceAll("'", "''");
    await database.ask(`INSERT INTO country VALUES ('${quoted}', 'name of ${quoted}')`);
    await database.ask(`INSERT INTO city VALUES (${at + 1}, '${quoted}')`);
  }
  const countries = defineResource({
    name: "country",
    plural: "countries",
    id: "text",
    table: "country",
    fields: { name: text() },
  });
  const cities = defineResource({
    name: "city",
    plural: "cities",
    table: "city",
    fields: { country: reference(countries) },
  });
  const { get } = await ownService(t, {
    store: database.open(),
    mounts: [
      mount(countries, { permission: { list: anyone, read: anyone } }),
      mount(cities, { permission: { list: anyone, read: anyone } }),
    ],
    features: [consolePages({ title: "Countries" })],
  });

  const found = async (page: string): Promise<string[]> => {
    const links = linksIn((await get(page, browser)).text).filter((link) => /^\/countries\/[^?]/.test(link));
    const records = await Promise.all([...new Set(links)].map((link) => get(new URL(link, here).pathname)));
    return records.map(({ json }) => json.id as string);
  };
  const named = keys.filter((key) => !/^\.+$/.test(key)).toSorted();
  assert.deepEqual((await found("/countries")).toSorted(), named);
  assert.deepEqual((await found("/cities")).toSorted(), named);
  assert.match((await get("/cities", browser)).text, /name of a\/b/);
});

test("lists the resources on the page for `/` if the service does not serve `/`", async (t) => {
  const books = defineResource({ name: "book", description: "To be read.", fields: { title: text() } });
  const { get } = await ownService(t, {
    mounts: [mount(books, { permission: anyone })],
    features: [consolePages({ title: "Library" })],
  });

  const root = await get("/", browser);

  assert.deepEqual([root.status, (await get("/")).status], [404, 404]);
  assert.match(root.text, /<h1>Library<\/h1>[^]*<h2><a href="\/books">Books<\/a><\/h2><p class="dim">To be read\./);
});
