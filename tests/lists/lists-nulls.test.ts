import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, defineResource, integer, mount, text } from "../../src/door/index.ts";
import { readLinks, ownService } from "../harness/own-service.ts";

const books = defineResource({
  name: "book",
  fields: { title: text({ maxLength: 50 }), shelf: integer({ optional: true }) },
  sorts: ["shelf"],
});

test("puts records without a value last in both orders, on every page forwards and backwards", async (t) => {
  const api = await ownService(t, { mounts: [mount(books, { permission: anyone })] });
  for (const shelf of [3, null, 1, null, 2, 1])
    assert.equal((await api.ask("POST", "/books", { body: { title: "a", shelf } })).status, 201);

  for (const [sort, ids] of [
    ["shelf", [3, 6, 5, 1, 2, 4]],
    ["-shelf", [1, 5, 3, 6, 2, 4]],
    ["-shelf,-id", [1, 5, 6, 3, 4, 2]],
  ] as const) {
    const forwards: number[][] = [];
    let next: string | undefined = `/books?sort=${sort}&limit=2`;
    let last = next;
    while (next !== undefined) {
      const page = await api.get((last = next));
      forwards.push(page.json.map(({ id }: { id: number }) => id));
      next = readLinks(page)["next"];
    }
    const backwards: number[][] = [];
    for (let at: string | undefined = last; at !== undefined;) {
      const page = await api.get(at);
      backwards.unshift(page.json.map(({ id }: { id: number }) => id));
      at = readLinks(page)["prev"];
    }

    assert.deepEqual(forwards.flat(), ids);
    assert.deepEqual(backwards, forwards);
  }
});
