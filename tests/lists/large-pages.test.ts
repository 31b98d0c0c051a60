import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, defineResource, integer, json, mount, text } from "../../src/door/index.ts";
import { bothDatabases } from "../harness/both-databases.ts";
import { linksOf, ownService, type Own } from "../harness/own-service.ts";

const documents = defineResource({
  name: "document",
  fields: { title: text({ maxLength: 100 }), rank: integer(), content: json() },
  filters: { rank: ["gte"] },
  sorts: ["rank", "title"],
});
const parts = defineResource({ name: "part", within: documents, fields: { name: text({ maxLength: 100 }) } });
const mountedParts = mount(parts, { permission: anyone });
const mounts = [mount(documents, { permission: anyone, expand: { parts: mountedParts } }), mountedParts];

const MOST_BYTES = 1024 * 1024;
const RECORD_BYTES = 61_000;
const ids = Array.from({ length: 40 }, (_, at) => at + 1);

const databases = bothDatabases();

interface Page {
  readonly ids: readonly number[];
  readonly bytes: number;
  readonly links: Readonly<Record<string, string>>;
}

async function pageAt(own: Own, target: string): Promise<Page> {
  const answer = await own.get(target);
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
  const records = answer.json as readonly { readonly id: number }[];
  return { ids: records.map(({ id }) => id), bytes: Buffer.byteLength(answer.text), links: linksOf(answer) };
}

/** The pages from one on, in this direction. */
async function walk(own: Own, target: string, rel: "next" | "prev"): Promise<readonly Page[]> {
  const pages = [await pageAt(own, target)];
  for (let at = pages[0]!.links[rel]; at !== undefined; at = pages.at(-1)!.links[rel])
    pages.push(await pageAt(own, at));
  return pages;
}

test("a page of large records ends at 1 MiB, and the next one goes on behind it", async (t) => {
  for (const database of await databases(t)) {
    const own = await ownService(t, { store: database.open(), mounts });
    for (const id of ids) {
      // Every other one has characters of three octets.
      const content = (id % 2 === 0 ? "x" : "\u20ac").repeat(id % 2 === 0 ? 60_000 : 20_000);
      const made = await own.ask("POST", "/documents", { body: { title: `t ${id}`, rank: id % 7, content } });
      assert.equal(made.status, 201);
    }

    for (const target of [
      "/documents?limit=1000",
      "/documents?limit=1000&rank[gte]=0&sort=-rank,id",
      "/documents?limit=1000&expand=parts",
    ]) {
      const pages = await walk(own, target, "next");
      const all = pages.flatMap((page) => page.ids);
      assert.deepEqual(
        all.toSorted((one, other) => one - other),
        ids,
        target,
      );
      assert.ok(pages.length > 1, target);
      for (const { bytes } of pages)
        assert.ok(
          bytes <= MOST_BYTES * (database.engine === "sqlite" ? 3 : 1) + RECORD_BYTES,
          `${target}: ${bytes} bytes`,
        );
      const back = await walk(
        own,
        `/documents?limit=1000${target.includes("sort") ? target.slice(target.indexOf("&")) : ""}`,
        "next",
      );
      const backwards = await walk(own, back.at(-2)!.links["next"]!, "prev");
      assert.deepEqual(
        backwards
          .toReversed()
          .flatMap((page) => page.ids)
          .toSorted((one, other) => one - other),
        ids,
        target,
      );
      assert.deepEqual(backwards[0]!.ids, back.at(-1)!.ids);
    }
    const few = await pageAt(own, "/documents?limit=2");
    assert.deepEqual([few.ids, few.links["next"] === undefined], [[1, 2], false]);
    const short = await pageAt(own, "/documents?limit=1000&fields=id");
    assert.deepEqual([short.ids, short.links["next"]], [ids, undefined]);
    const asked = await own.ask("QUERY", "/documents", { body: { limit: 1000, where: { rank: { gte: 0 } } } });
    assert.ok(asked.json.length < ids.length);
  }
});
