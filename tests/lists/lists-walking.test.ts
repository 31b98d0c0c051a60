import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  anyOf,
  anyone,
  administrator,
  authenticated,
  defineResource,
  integer,
  mount,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { readLinks, ownService, type Own, type OwnAnswer } from "../harness/own-service.ts";

const stones = defineResource({
  name: "stone",
  fields: { colour: text({ maxLength: 20 }), weight: integer(), owner_id: reference("stones", { optional: true }) },
  filters: { weight: ["gte", "lt"], colour: ["eq", "in"] },
  sorts: ["colour", "weight"],
});

const colours = ["red", "Red", "blue", "ö", "z", "😀", "\uFFFD"];

/** Creates stones. Many have the same color, and many have the same weight. */
async function quarry(t: TestContext, count = 250): Promise<Own> {
  const own = await ownService(t, { mounts: [mount(stones, { permission: anyone })] });
  const { store } = own.service;
  const { collection } = mount(stones, { permission: anyone });
  const changes = Array.from({ length: count }, (_, at) => ({
    kind: "insert" as const,
    collection,
    values: { colour: colours[(at * 5) % colours.length]!, weight: (at * 7) % 11, owner_id: null },
  }));
  await store.write({ changes });
  return own;
}

/** Follows the links of this relation to the last page. Returns all pages. */
async function walk(
  own: Own,
  from: string,
  rel: "next" | "prev",
  between?: (page: number) => Promise<void>,
): Promise<OwnAnswer[]> {
  const pages: OwnAnswer[] = [];
  for (let path: string | undefined = from; path !== undefined; path = readLinks(pages.at(-1)!)[rel]) {
    pages.push(await own.get(path));
    assert.equal(pages.at(-1)!.status, 200, pages.at(-1)!.text);
    await between?.(pages.length);
  }
  return pages;
}

const collectIds = (pages: readonly OwnAnswer[]): number[] =>
  pages.flatMap(({ json }) => json.map(({ id }: { id: number }) => id));

test("gives every row exactly once forwards and backwards, in any order", async (t) => {
  const own = await quarry(t);

  for (const sort of [
    "id",
    "-id",
    "colour",
    "-colour,weight",
    "weight,-colour,-id",
    "-weight,colour,id",
    "id,-weight",
  ]) {
    for (const limit of [1000, 125, 100, 33]) {
      const whole = collectIds([await own.get(`/stones?sort=${sort}&limit=1000`)]);
      const pages = await walk(own, `/stones?sort=${sort}&limit=${limit}`, "next");
      const last = readLinks(pages.at(-1)!)["prev"];
      const back = last === undefined ? [] : await walk(own, last, "prev");

      assert.equal(new Set(whole).size, 250);
      assert.deepEqual(collectIds(pages), whole, `${sort} by ${limit}`);
      assert.equal(pages.length, Math.ceil(250 / limit));
      assert.deepEqual(collectIds([...back.toReversed(), pages.at(-1)!]), whole, `${sort} by ${limit}, backwards`);
    }
  }
});

test("sorts rows in the requested order: text by code point, then id", async (t) => {
  const own = await quarry(t, 60);

  const { json } = await own.get("/stones?sort=colour,-weight");

  const expected = json.toSorted(
    (a: Stone, b: Stone) =>
      Buffer.compare(Buffer.from(a.colour), Buffer.from(b.colour)) || b.weight - a.weight || a.id - b.id,
  );
  assert.deepEqual(json, expected);
  assert.equal(json.at(-1).colour, "😀");
});

interface Stone {
  readonly id: number;
  readonly colour: string;
  readonly weight: number;
}

test("neither repeats nor hides a remaining row of 2,500 while other clients insert and delete rows", async (t) => {
  const own = await quarry(t, 2500);
  const whole = collectIds(await walk(own, "/stones?sort=-weight,colour&limit=1000", "next"));
  assert.equal(whole.length, 2500);
  const gone = new Set<number>();

  const pages = await walk(own, "/stones?sort=-weight,colour&limit=40", "next", async (page) => {
    for (const weight of [0, 5, 10]) await own.ask("POST", "/stones", { body: { colour: "blue", weight } });
    for (const id of [whole[page * 40 - 1]!, whole[page * 40]!, whole[2499 - page]!]) {
      if ((await own.ask("DELETE", `/stones/${id}`)).status === 204) gone.add(id);
    }
  });

  const seen = collectIds(pages);
  assert.equal(new Set(seen).size, seen.length, "no row twice");
  assert.deepEqual(
    seen.filter((id) => whole.includes(id) && !gone.has(id)),
    whole.filter((id) => !gone.has(id)),
  );
});

test("shows links only as long as their targets exist", async (t) => {
  const own = await quarry(t, 5);
  const rels = async (path: string): Promise<string> => Object.keys(readLinks(await own.get(path))).join(" ");
  const second = readLinks(await own.get("/stones?limit=2"))["next"]!;
  const third = readLinks(await own.get(second))["next"]!;

  assert.equal(await rels("/stones"), "first");
  assert.equal(await rels("/stones?limit=5"), "first");
  assert.equal(await rels("/stones?limit=2"), "first next");
  assert.equal(await rels(second), "first prev next");
  assert.equal(await rels(third), "first prev");
  assert.equal(await rels("/stones?weight[gte]=1000"), "first");
  await own.ask("DELETE", "/stones/5");
  assert.equal((await own.get(third)).text, "[]");
  assert.equal(await rels(second), "first prev");
});

test("keeps the query and the spelling of the path in links, and lets the limit change", async (t) => {
  const own = await quarry(t, 30);
  const { first, next } = readLinks(
    await own.get("/stones/?colour[in]=red,%C3%B6&sort=-weight&fields=id,weight&limit=3"),
  );

  assert.equal(first, "/stones/?colour%5Bin%5D=red%2C%C3%B6&sort=-weight&fields=id%2Cweight&limit=3");
  assert.match(
    next!,
    /^\/stones\/\?colour%5Bin%5D=red%2C%C3%B6&sort=-weight&fields=id%2Cweight&limit=3&cursor=[\w-]+$/,
  );
  const more = await own.get(
    next!.replace("limit=3", "limit=50").replace("/stones/", "/stones").replace("id%2Cweight", "id"),
  );
  assert.equal(more.status, 200);
  assert.deepEqual(Object.keys(more.json[0]), ["id"]);
});

test("refuses a forged cursor, and a cursor of another query, path or caller", async (t) => {
  const pebbles = defineResource({
    name: "pebble",
    fields: { owner_id: integer() },
    filters: { owner_id: ["eq"] },
    sorts: ["owner_id"],
  });
  const own = await ownService(t, {
    mounts: [
      mount(stones, { permission: anyone }),
      mount(pebbles, { permission: anyOf(administrator, owner("owner_id")) }),
    ],
  });
  for (const owner_id of [2, 2, 3, 3]) await own.ask("POST", "/pebbles", { as: "root", body: { owner_id } });
  for (const weight of [1, 2]) await own.ask("POST", "/stones", { body: { colour: "red", weight } });
  const cursorFor = async (path: string, as = "root"): Promise<string> =>
    readLinks(await own.get(path, { as }))["next"]!.split("cursor=")[1]!;
  const plain = await cursorFor("/pebbles?limit=1");
  const flipped = (plain[0] === "A" ? "B" : "A") + plain.slice(1);

  const refused: readonly (readonly [string, string])[] = [
    [`/pebbles?limit=1&sort=-id&cursor=${plain}`, "root"],
    [`/pebbles?limit=1&owner_id=2&cursor=${plain}`, "root"],
    [`/pebbles?limit=1&cursor=${await cursorFor("/pebbles?limit=1&owner_id=2")}`, "root"],
    [`/pebbles?limit=1&cursor=${await cursorFor("/stones?limit=1")}`, "root"],
    [`/stones?limit=1&cursor=${plain}`, "root"],
    [`/pebbles?limit=1&cursor=${plain}`, "ada"],
    [`/pebbles?limit=1&cursor=${await cursorFor("/pebbles?limit=1", "ben")}`, "ada"],
    [`/pebbles?limit=1&cursor=${flipped}`, "root"],
    [`/pebbles?limit=1&cursor=${plain}A`, "root"],
    [`/pebbles?limit=1&cursor=${plain.slice(0, -1)}`, "root"],
    [`/pebbles?limit=1&cursor=${plain}%3D`, "root"],
    ["/pebbles?limit=1&cursor=", "root"],
    ["/pebbles?limit=1&cursor=1", "root"],
    [`/pebbles?limit=1&cursor=${"A".repeat(4000)}`, "root"],
    [`/pebbles?limit=1&cursor=${plain}&cursor=${plain}`, "root"],
  ];

  for (const [path, as] of refused) {
    const { status, json } = await own.get(path, { as });
    assert.equal(status, 400, `${path} as ${as}`);
    assert.equal(json.code, "invalid_query");
    assert.equal(json.errors[0].pointer, "?cursor");
  }
  assert.equal((await own.get(`/pebbles?limit=2&fields=id&sort=id&cursor=${plain}`, { as: "root" })).status, 200);
});

test("gives each caller, and each spelling of the path, separate links, also if the page is cached", async (t) => {
  const own = await ownService(t, { mounts: [mount(stones, { permission: authenticated })] });
  for (const weight of [1, 2, 3]) await own.ask("POST", "/stones", { as: "ada", body: { colour: "red", weight } });
  const requests = [
    ["ada", "/stones"],
    ["ben", "/stones"],
    ["ada", "/stones/"],
  ] as const;

  for (let round = 0; round < 4; round++) {
    for (const [as, path] of requests) {
      const next = readLinks(await own.get(`${path}?limit=1`, { as }))["next"]!;
      const beyond = await own.get(next, { as });

      assert.equal(next.split("?")[0], path);
      assert.deepEqual([beyond.status, beyond.json[0].id], [200, 2]);
    }
  }
  for (let round = 0; round < 4; round++) {
    for (const path of ["/stones?weight[gte]=7", "/stones?weight[gte]=8"])
      assert.equal(decodeURIComponent(readLinks(await own.get(path, { as: "ada" }))["first"]!), path);
  }
});
