import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, defineResource, integer, json, mount, text } from "../../src/door/index.ts";
import type { Store } from "../../src/door/stores.ts";
import { bothDatabases } from "../harness/both-databases.ts";
import { readLinks, ownService, type Own } from "../harness/own-service.ts";

const documents = defineResource({
  name: "document",
  fields: { title: text({ maxLength: 100 }), rank: integer(), content: json() },
  filters: { rank: ["gte"] },
  sorts: ["rank", "title"],
});
const parts = defineResource({ name: "part", within: documents, fields: { name: text({ maxLength: 100 }) } });
const mountedParts = mount(parts, { permission: anyone });
const mountedDocuments = mount(documents, { permission: anyone, expand: { parts: mountedParts } });
const mounts = [mountedDocuments, mountedParts];

const MOST_OCTETS = 1024 * 1024;
const ids = Array.from({ length: 40 }, (_, at) => at + 1);

const databases = bothDatabases();

type Direction = "next" | "prev";

interface Page {
  readonly ids: readonly number[];
  /** The octets of the JSON of each record, without expanded records. */
  readonly octets: readonly number[];
  readonly links: Readonly<Record<string, string>>;
}

async function pageAt(own: Own, target: string): Promise<Page> {
  const answer = await own.get(target);
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
  const records = answer.json as readonly { readonly id: number; readonly parts?: unknown }[];
  const octets = records.map((record) => Buffer.byteLength(JSON.stringify({ ...record, parts: undefined })));
  return { ids: records.map(({ id }) => id), octets, links: readLinks(answer) };
}

/** Returns the page at `target`, and all pages that the links in this direction lead to. */
async function walk(own: Own, target: string, rel: Direction): Promise<readonly Page[]> {
  const pages = [await pageAt(own, target)];
  for (let at = pages[0]!.links[rel]; at !== undefined; at = pages.at(-1)!.links[rel])
    pages.push(await pageAt(own, at));
  return pages;
}

/** Asserts that each page except the last ends with the record that brings it to 1 MiB. */
function assertFull(pages: readonly Page[], rel: Direction, target: string): void {
  for (const [at, { octets }] of pages.entries()) {
    // The store reads a previous page from its end.
    const asRead = rel === "next" ? octets : octets.toReversed();
    const [all, butLast] = [asRead, asRead.slice(0, -1)].map((each) => each.reduce((sum, one) => sum + one, 0));
    assert.ok(butLast! < MOST_OCTETS, `${target}, page ${at}: ${butLast} octets before its last record`);
    assert.ok(at === pages.length - 1 || all! >= MOST_OCTETS, `${target}, page ${at}: ${all} octets`);
  }
}

/** Writes records directly to the store, because a request with such a large body takes longer than the write. */
async function fill(store: Store, contents: readonly string[]): Promise<void> {
  for (const [at, content] of contents.entries()) {
    const values = { title: `t ${at + 1}`, rank: (at + 1) % 7, content };
    const { collection } = mountedDocuments;
    assert.equal((await store.write({ changes: [{ kind: "insert", collection, values }] })).kind, "written");
  }
}

test("ends a page with the record that brings it to 1 MiB, and links to the rest in order", async (t) => {
  const walked: (readonly (readonly number[])[])[] = [];
  for (const database of await databases(t)) {
    const store = database.open();
    const own = await ownService(t, { store, mounts });
    // Every second document has characters of three octets.
    await fill(
      store,
      ids.map((id) => (id % 2 === 0 ? "x".repeat(60_000) : "\u20ac".repeat(20_000))),
    );
    const byRank = ids.toSorted((one, other) => (other % 7) - (one % 7) || one - other);

    for (const [target, expected] of [
      ["/documents?limit=1000", ids],
      ["/documents?limit=1000&sort=-id", ids.toReversed()],
      ["/documents?limit=1000&rank[gte]=0&sort=-rank,id", byRank],
      ["/documents?limit=1000&expand=parts", ids],
    ] as const) {
      const pages = await walk(own, target, "next");
      const backwards = await walk(own, pages.at(-2)!.links["next"]!, "prev");

      assert.deepEqual(
        pages.flatMap((page) => page.ids),
        expected,
        target,
      );
      assert.deepEqual(
        backwards.toReversed().flatMap((page) => page.ids),
        expected,
        target,
      );
      assert.ok(pages.length > 1, target);
      assertFull(pages, "next", target);
      assertFull(backwards.slice(1), "prev", target);
      walked.push([pages, backwards].map((each) => each.map(({ ids: shown }) => shown.length)));
    }
    const few = await pageAt(own, "/documents?limit=2");
    assert.deepEqual([few.ids, few.links["next"] === undefined], [[1, 2], false]);
    for (const [limit, isMore] of [
      [39, true],
      [40, false],
      [1000, false],
    ] as const) {
      const short = await pageAt(own, `/documents?limit=${limit}&fields=id`);
      assert.deepEqual([short.ids, "next" in short.links], [ids.slice(0, limit), isMore]);
    }
    const response = await own.ask("QUERY", "/documents", { body: { limit: 1000, where: { rank: { gte: 0 } } } });
    assert.ok(response.json.length < ids.length);
  }
  assert.deepEqual(
    walked.slice(0, walked.length / 2),
    walked.slice(walked.length / 2),
    "both databases end the pages at the same records",
  );
});

test("ends a page of 1 MiB of a resource without JSON fields", async (t) => {
  const fields = { title: text({ maxLength: 100 }), body: text({ maxLength: 50_000 }) };
  const letters = defineResource({ name: "letter", fields, sorts: ["title"] });
  const mounted = mount(letters, { permission: anyone });
  for (const database of await databases(t)) {
    const store = database.open();
    const own = await ownService(t, { store, mounts: [mounted] });
    for (const id of ids) {
      const values = { title: `t ${id}`, body: "x".repeat(40_000) };
      await store.write({ changes: [{ kind: "insert", collection: mounted.collection, values }] });
    }

    for (const target of ["/letters", "/letters?sort=-title"]) {
      const pages = await walk(own, target, "next");
      assert.ok(pages.length > 1, target);
      assertFull(pages, "next", target);
    }
  }
});

test("ends a page at exactly 1 MiB, and one record later if one octet is missing", async (t) => {
  for (const database of await databases(t)) {
    const store = database.open();
    const own = await ownService(t, { store, mounts });
    await fill(store, ["\u20ac".repeat(100_000), "", "after"]);
    const measureLength = async (): Promise<number> =>
      (await pageAt(own, "/documents?limit=2")).octets.reduce((sum, one) => sum + one, 0);
    const put = async (content: string): Promise<void> => {
      const { collection } = mountedDocuments;
      await store.write({ changes: [{ kind: "update", collection, key: 2, values: { content } }] });
    };
    const missing = MOST_OCTETS - (await measureLength());

    for (const [added, expected] of [
      [missing - 1, [1, 2, 3]],
      [missing, [1, 2]],
    ] as const) {
      await put("x".repeat(added));
      const page = await pageAt(own, "/documents?limit=1000");
      assert.deepEqual([page.ids, "next" in page.links], [expected, expected.length < 3], database.engine);
    }
    assert.equal(await measureLength(), MOST_OCTETS);
    await own.ask("DELETE", "/documents/3");
    const last = await pageAt(own, "/documents?limit=1000");
    assert.deepEqual([last.ids, "next" in last.links], [[1, 2], false], database.engine);
  }
});
