import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import {
  anyOf,
  administrator,
  anyone,
  createService,
  defineResource,
  enumeration,
  integer,
  mount,
  owner,
  text,
} from "../../src/door/index.ts";
import { sqliteStore, type Store } from "../../src/door/stores.ts";
import type { ExplainedList } from "../../src/http/mount/explaining.ts";
import type { Collection, ListQuery } from "../../src/store/store.ts";
import { nextTurn } from "../harness/next-turn.ts";
import { readLinks, ownService, type people } from "../harness/own-service.ts";
import { serve, type API } from "../harness/serve.ts";
import { emptyStore } from "../harness/test-store.ts";

async function withUsers(t: TestContext, ...names: readonly string[]): Promise<API> {
  const api = await serve(t);
  for (const [at, name] of names.entries()) {
    const made = await api.post("/users", { name, email: `u${at}@mail.example.org` }, api.admin);
    assert.equal(made.status, 201, made.text);
  }
  return api;
}

async function names(api: API, query: string): Promise<string[]> {
  const reply = await api.get(`/users?${query}`, api.admin);
  assert.equal(reply.status, 200, reply.text);
  return reply.json.map(({ name }: { name: string }) => name);
}

test("finds rows in which every word begins a word of the name or email, ignoring case and accents", async (t) => {
  const api = await withUsers(t, "Ada Lovelace", "Ädam O'Love", "Eva Straße", "ανδρέας ΣΟΦΟΣ");

  assert.deepEqual(await names(api, "search=ada"), ["Ada Lovelace", "Ädam O'Love"]);
  assert.deepEqual(await names(api, "search=LOVE%20ad"), ["Ada Lovelace", "Ädam O'Love"]);
  assert.deepEqual(await names(api, "search=love+o"), ["Ada Lovelace", "Ädam O'Love"]);
  assert.deepEqual(await names(api, "search=lovel+ada"), ["Ada Lovelace"]);
  assert.deepEqual(await names(api, "search=STRASSE"), ["Eva Straße"]);
  assert.deepEqual(await names(api, "search=%CE%A3%CE%BF%CF%86%CE%BF%CF%83"), ["ανδρέας ΣΟΦΟΣ"]);
  assert.deepEqual(await names(api, "search=u1@mail"), ["Ädam O'Love"]);
  assert.deepEqual(await names(api, "search=ove"), []);
});

test("combines search with filters, order, pages, fields and counts", async (t) => {
  const api = await withUsers(t, "Ann B", "Ann C", "Ann A", "Ben A");

  assert.deepEqual(await names(api, "search=ann&sort=-name"), ["Ann C", "Ann B", "Ann A"]);
  assert.deepEqual(await names(api, "search=ann&name[contains]=A&id[gt]=2&sort=name"), ["Ann A", "Ann C"]);
  const first = await api.get("/users?search=ann&sort=name&limit=2&fields=name", {
    ...api.admin,
    prefer: "count=exact",
  });
  assert.deepEqual(first.json, [{ name: "Ann A" }, { name: "Ann B" }]);
  assert.equal(first.headers.get("x-total-count"), "3");
  const next = readLinks(first)["next"]!;
  assert.deepEqual((await api.get(next, api.admin)).json, [{ name: "Ann C" }]);
  const foreign = await api.get(next.replace("search=ann", "search=ben"), api.admin);
  assert.equal(foreign.status, 400);
  const estimated = await api.get("/users?search=ann", { ...api.admin, prefer: "count=estimated" });
  assert.equal(estimated.headers.get("x-total-count"), "3");
});

test("shows no more in a search than in a plain list", async (t) => {
  const api = await withUsers(t, "Ann B");
  const ann = await api.user("ann");

  const found = await api.get("/users?search=ann", ann.headers);

  assert.deepEqual(
    found.json.map(({ id }: { id: number }) => id),
    [ann.id],
  );
});

test("searches the items of one order by product, and refuses a search of orders", async (t) => {
  const api = await serve(t);
  for (const order of [1, 2]) {
    await api.post("/orders", {}, api.admin);
    await api.post(`/orders/${order}/items`, { product: "Brass key", quantity: 1, unit_price: "1" }, api.admin);
  }

  assert.deepEqual(
    (await api.get("/orders/2/items?search=KEY", api.admin)).json.map(({ id }: { id: number }) => id),
    [2],
  );
  const orders = await api.get("/orders?search=open", api.admin);
  assert.deepEqual([orders.status, orders.json.errors[0].code], [400, "unknown_parameter"]);
});

test("refuses an invalid search, and treats syntax of the database as words", async (t) => {
  const api = await withUsers(t, "Near Or", "Ann And Not");
  const refused = async (query: string): Promise<string> => {
    const reply = await api.get(`/users?${query}`, api.admin);
    assert.deepEqual([reply.status, reply.json.errors[0].pointer], [400, "?search"], query);
    return reply.json.errors[0].code;
  };

  for (const none of ["", "%20", "%22*%22", "%25_%25", "😀", "%F0%9F%98%80-'"])
    assert.equal(await refused(`search=${none}`), "invalid", none);
  assert.equal(await refused("search=ann&search=ben"), "repeated");
  assert.equal(await refused(`search=${Array.from({ length: 21 }, (_, at) => `w${at}`).join("+")}`), "too_many");
  assert.equal(await refused(`search=${"x".repeat(1001)}`), "too_long");
  assert.deepEqual(await names(api, "search=OR+near"), ["Near Or"]);
  assert.deepEqual(await names(api, "search=%22near%20OR*%22%20:%20^"), ["Near Or"]);
  assert.deepEqual(await names(api, "search=NEAR(near,+or)"), ["Near Or"]);
  assert.deepEqual(await names(api, "search=not+and+ann"), ["Ann And Not"]);
  assert.deepEqual(await names(api, "search='%20OR%201=1%20--"), []);
});

test("finds the right rows for very common words, which the store searches outside of the event loop", async (t) => {
  const notes = defineResource({
    name: "note",
    fields: { says: text({ maxLength: 100 }), weight: integer(), owner_id: integer() },
    filters: { weight: ["gte"] },
    sorts: ["weight"],
    search: ["says"],
    scans: true,
  });
  const mounted = mount(notes, { permission: anyOf(administrator, owner("owner_id")) });
  const own = await ownService(t, { mounts: [mounted] });
  const changes = Array.from({ length: 2500 }, (_, at) => ({
    kind: "insert" as const,
    collection: mounted.collection,
    values: { says: `common ${at % 2 === 0 ? "even" : "odd"} n${at}`, weight: at % 10, owner_id: 1 + (at % 2) },
  }));
  await own.service.store.write({ changes });
  const ids = async (query: string, as: keyof typeof people = "root"): Promise<number[]> => {
    const reply = await own.get(`/notes?${query}`, { as: String(as) });
    assert.equal(reply.status, 200, reply.text);
    return reply.json.map(({ id }: { id: number }) => id);
  };

  assert.deepEqual(await ids("search=com&limit=3"), [1, 2, 3]);
  assert.deepEqual(await ids("search=com+even&limit=3&sort=-weight,id"), [9, 19, 29]);
  assert.deepEqual(await ids("search=com+n77&limit=4&sort=-id"), [780, 779, 778, 777]);
  assert.deepEqual(await ids("search=com+odd&limit=2", "ada"), [2, 4]);
  assert.deepEqual(await ids("search=n2499", "ben"), []);
});

/** Waits until all rows are indexed. The store indexes them after the write. */
async function untilTakenIn(store: Store, collection: Collection): Promise<void> {
  while ((await store.countWords!(collection, [], 1))?.waiting !== 0) await nextRound();
}

test("shows no partial results while the index is being built", async (t) => {
  const notes = defineResource({ name: "note", fields: { says: text({ maxLength: 100 }) }, search: ["says"] });
  const store: Store = { ...(await emptyStore()), countWords: () => null };
  const service = await createService({ store, mounts: [mount(notes, { permission: anyone })] });
  t.after(() => service.close());
  const get = (query: string): Promise<Response> =>
    service.fetch(new Request(`http://127.0.0.1/notes${query}`), { peer: "127.0.0.1" });

  const reply = await get("?search=a");

  assert.deepEqual([reply.status, reply.headers.get("retry-after")], [503, "10"]);
  assert.match(((await reply.json()) as { detail: string }).detail, /index of the words is being built/);
  assert.equal((await get("")).status, 200);
});

test("finds a word in texts of thousands of words, before and after the store has indexed them", async (t) => {
  const notes = defineResource({ name: "note", fields: { says: text({ maxLength: 10_000 }) }, search: ["says"] });
  const mounted = mount(notes, { permission: anyone });
  const own = await ownService(t, { mounts: [mounted] });
  const says = (at: number): string =>
    Array.from({ length: 1500 }, (_, word) => `w${at}x${word}`)
      .join(" ")
      .slice(0, 9999);
  const changes = Array.from({ length: 5 }, (_, at) => ({
    kind: "insert" as const,
    collection: mounted.collection,
    values: { says: says(at) },
  }));

  await own.service.store.write({ changes });

  assert.deepEqual((await own.get("/notes?search=w3x7&fields=id")).json, [{ id: 4 }]);
  await untilTakenIn(own.service.store, mounted.collection);
  assert.deepEqual(await own.service.store.countWords!(mounted.collection, ["w3x777", "w"], 1), {
    rows: [1, 2],
    waiting: 0,
  });
});

test("allows a search only of texts that are shown and not too long, and reports all other declarations together", () => {
  const declare = (search: readonly string[], more = {}) =>
    defineResource({
      name: "thing",
      fields: {
        title: text({ maxLength: 50 }),
        story: text({ maxLength: 20_000 }),
        secret: text({ maxLength: 50, writeOnly: true }),
        count: integer(),
        kind: enumeration(["a", "b"]),
        search: text({ maxLength: 5, optional: true }),
      },
      search: search as readonly ["title"],
      ...more,
    });

  assert.deepEqual(declare(["title"]).search, ["title"]);
  assert.throws(
    () => declare(["titel", "story", "secret", "count", "kind"], { filters: { search: ["eq"] } }),
    ({ message }: Error) =>
      [
        "there is no such field",
        "title",
        "maxLength of 10000",
        "never shown",
        "search count",
        "search kind",
        "filter search",
      ].every((part) => message.includes(part)),
  );
});

test("documents the parameter `search` only for lists that support it", async (t) => {
  const api = await serve(t);

  const { paths } = (await api.get("/openapi.json")).json;
  const named = (path: string): boolean =>
    paths[path].get.parameters.some(({ name }: { name?: string }) => name === "search");

  assert.deepEqual(["/users", "/orders/{order_id}/items", "/orders"].map(named), [true, true, false]);
});

test("reports that an index serves a search by a rare word, but not by a word of all rows", async (t) => {
  const measureSearches = async (formatTitle: (at: number) => string): Promise<Set<boolean>> => {
    const store = await emptyStore();
    const fields = { title: text({ maxLength: 50 }) };
    const mounted = mount(defineResource({ name: "note", fields, search: ["title"], scans: true }), {
      permission: anyone,
    });
    const { service } = await ownService(t, { store, mounts: [mounted] });
    const changes = Array.from({ length: 2400 }, (_, at) => ({
      kind: "insert" as const,
      collection: mounted.collection,
      values: { title: formatTitle(at) },
    }));
    await store.write({ changes });
    await untilTakenIn(store, mounted.collection);
    const lists: ExplainedList[] = [];
    for await (const page of service.explainLists()) lists.push(...page);
    return new Set(lists.filter(({ list }) => list.includes("search")).map(({ served }) => served));
  };

  assert.deepEqual(await measureSearches((at) => `note ${at}`), new Set([true]));
  assert.deepEqual(await measureSearches(() => "note"), new Set([false]));
});

test("finds a word of 1,000 rows by the index while 1,000 other rows are not indexed yet", async (t) => {
  const things = defineResource({ name: "thing", fields: { label: text({ maxLength: 50 }) }, search: ["label"] });
  const mounted = mount(things, { permission: anyone, arrays: true });
  const store = await emptyStore();
  const isLong: unknown[] = [];
  const watched: Store = { ...store, listJSON: (query) => (isLong.push(query.long), store.listJSON(query)) };
  const own = await ownService(t, { store: watched, mounts: [mounted] });
  const make = async (count: number): Promise<void> => {
    const made = await own.ask("POST", "/things", { body: Array.from({ length: count }, () => ({ label: "shared" })) });
    assert.equal(made.status, 201, made.text);
  };

  // The search counts the rows that have the word and the rows that wait for the index. Above 2,000 rows, the search is
  // a long read.
  await make(1000);
  await make(1000);
  const found = await own.get("/things?search=shared&limit=1");
  await make(1);
  const many = await own.get("/things?search=shared&limit=1");

  assert.deepEqual([found.status, many.status], [200, 200]);
  assert.deepEqual(isLong, [false, true]);
});

test("looks for a rare word after many writes only in the index and in the rows that are not indexed yet", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-search-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "things.db");
  const things = defineResource({ name: "thing", fields: { label: text({ maxLength: 50 }) }, search: ["label"] });
  const mounted = mount(things, { permission: anyone });
  const { collection } = mounted;
  // On SQLite alone: another connection locks the file, and the plans are those of SQLite.
  const store = sqliteStore({ path: file });
  const queries: ListQuery[] = [];
  const watched: Store = { ...store, listJSON: (query) => (queries.push(query), store.listJSON(query)) };
  const own = await ownService(t, { store: watched, mounts: [mounted] });
  const changes = Array.from({ length: 3000 }, (_, at) => ({
    kind: "insert" as const,
    collection,
    values: { label: at % 1500 === 7 ? "rare" : "plain" },
  }));
  await store.write({ changes });
  await untilTakenIn(store, collection);
  // This connection keeps its second transaction open, so that the store cannot index the waiting rows.
  const other = new DatabaseSync(file, { timeout: 5000 });
  t.after(() => other.close());
  other.exec(`BEGIN IMMEDIATE; DELETE FROM "_things_words" WHERE "id" % 1500 = 8 AND "id" > 1000;
    INSERT INTO "_things_words" SELECT '', "id" FROM "things" WHERE "id" > 900; COMMIT; BEGIN IMMEDIATE`);
  await nextTurn();

  const rare = await own.get("/things?search=rare");
  const plain = await own.get("/things?search=plain&limit=1");

  assert.deepEqual(
    rare.json.map(({ id }: { id: number }) => id),
    [8, 1508],
  );
  assert.equal(plain.json.length, 1);
  assert.deepEqual(
    queries.map(({ long }) => long),
    [true, true],
  );
  const [ofRare, ofPlain] = await Promise.all(queries.map(async (query) => (await store.plan!(query)).join("; ")));
  assert.doesNotMatch(ofRare!, /SCAN things/);
  assert.match(ofPlain!, /SCAN things/);
});
