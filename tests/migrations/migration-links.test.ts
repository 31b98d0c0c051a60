import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, createService, defineResource, integer, mount, text } from "../../src/door/index.ts";
import { references, type Mount } from "../../src/door/resources.ts";
import { sqliteStore, type Collection, type Store } from "../../src/door/stores.ts";
import { bothDatabases } from "../harness/both-databases.ts";

// Relations to several records are stored in the record and in a link table. This table follows all changes of the
// field.

const databases = bothDatabases();

const tag = defineResource({ name: "tag", fields: { label: text() } });
const tags = mount(tag, { permission: anyone });
const title = text();

function posts(fields: Parameters<typeof defineResource>[0]["fields"], filter: string): Mount {
  const resource = defineResource({
    name: "post",
    fields: { title, ...fields },
    filters: { [filter]: ["eq"] },
  } as never);
  return mount(resource, { permission: anyone });
}

interface Ask {
  (method: string, target: string, body?: unknown): Promise<{ readonly status: number; readonly json: unknown }>;
}

/** Runs a task with a service with these mounts. */
async function using<T>(store: Store, mounts: readonly Mount[], task: (ask: Ask) => Promise<T>) {
  const service = await createService({ store, mounts, observe: null });
  try {
    return await task(async (method, target, body) => {
      const answer = await service.fetch(
        new Request(`http://localhost${target}`, {
          method,
          ...(body === undefined
            ? {}
            : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
        }),
        { peer: "127.0.0.1" },
      );
      const said = await answer.text();
      return { status: answer.status, json: said === "" ? null : JSON.parse(said) };
    });
  } finally {
    await service.close();
  }
}

for (const [what, before, now] of [
  [
    "renamed",
    posts({ tags: references(tag, { default: [] }) }, "tags"),
    posts({ labels: references(tag, { default: [], renamedFrom: "tags" }) }, "labels"),
  ],
  [
    "made from a field with a single id",
    posts({ tags: integer({ optional: true }) }, "tags"),
    posts({ labels: references(tag, { renamedFrom: "tags", convert: (id) => [id] as never, backfill: [] }) }, "labels"),
  ],
] as const)
  test(`keeps the links, and protects the linked records, for a relation to several records that is ${what}`, async (t) => {
    for (const { engine, open, migrate } of await databases(t)) {
      const ids = (...all: number[]): unknown => (what === "renamed" ? all : all[0]);
      await using(open(), [tags, before], async (ask) => {
        for (const label of ["a", "b", "c"]) await ask("POST", "/tags", { label });
        for (const each of [ids(1, 2), ids(2), ids(3)])
          assert.equal((await ask("POST", "/posts", { title: "t", tags: each })).status, 201);
      });
      const all = await captureCollections([tags, now]);
      await migrate(all);
      await using(open(), [tags, now], async (ask) => {
        const found = (await ask("GET", "/posts?labels=2")).json as readonly { readonly id: number }[];
        assert.deepEqual(
          found.map(({ id }) => id),
          what === "renamed" ? [1, 2] : [2],
          engine,
        );
        assert.equal((await ask("DELETE", "/tags/2")).status, 409, engine);
        assert.equal((await ask("PATCH", "/posts/3", { labels: [] })).status, 200);
        assert.equal((await ask("DELETE", "/tags/3")).status, 204, engine);
      });
    }
  });

/** Returns the collections of a service, without a database. */
async function captureCollections(mounts: readonly Mount[]): Promise<readonly Collection[]> {
  let seen: readonly Collection[] = [];
  const store = sqliteStore({ path: ":memory:" });
  await using(
    {
      ...store,
      open: async (collections) => {
        seen = collections;
        await store.open(collections);
      },
    },
    mounts,
    async () => undefined,
  );
  return seen;
}
