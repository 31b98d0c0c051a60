import assert from "node:assert/strict";
import type { ListQuery, Store } from "../../store/store.ts";
import { insert, people, pets, visits, where, write, written, type Promises } from "./library.ts";

/** Promises about pages that a driver may cache, and when it must discard them. */
export function promisePages(promises: Promises): void {
  promiseFreshPages(promises);
  promiseOwnPages(promises);
}

function promiseFreshPages(promises: Promises): void {
  promises("shows all new writes when a query is repeated", async (store) => {
    const query: ListQuery = { ...byId(people), limit: 2, columns: ["id", "name"] };
    const names = async (): Promise<string[]> => (await loadPage(store, query)).map(({ name }) => name as string);

    assert.deepEqual(await names(), []);
    await written(store, insert(people, { name: "a" }));
    assert.deepEqual(await names(), ["a"]);
    assert.deepEqual(await names(), ["a"]);
    await written(store, { kind: "update", collection: people, key: 1, values: { name: "b" } });
    assert.deepEqual(await names(), ["b"]);
    await written(store, { kind: "updateAll", collection: people, where: where("id", "eq", 1), values: { name: "c" } });
    assert.deepEqual(await names(), ["c"]);
    await written(store, { kind: "deleteAll", collection: people, where: where("id", "eq", 1) });
    assert.deepEqual(await names(), []);
  });

  promises("shows a cascade from another collection when a query is repeated", async (store) => {
    const [person] = await written(store, insert(people, { name: "Ada" }));
    await written(store, insert(pets, { name: "Rex", person_id: person!.record["id"]! }));
    const query = byId(pets);
    assert.equal((await loadPage(store, query)).length, 1);

    await written(store, { kind: "delete", collection: people, key: 1 });

    assert.deepEqual(await loadPage(store, query), []);
  });

  promises("shows the writes of another store when a query is repeated", async (store, { reopen }) => {
    const other = await reopen();
    await other.open([people, pets, visits]);
    const query = byId(visits);

    for (let times = 1; times <= 5; times++) {
      await written(other, { kind: "add", collection: visits, key: "v", column: "times", by: 1, values: {} });
      assert.deepEqual(await loadPage(store, query), [{ id: "v", times, place: null }]);
      assert.deepEqual(await loadPage(other, query), [{ id: "v", times, place: null }]);
    }
  });

  promises("shows each acknowledged write when a query is repeated during many concurrent writes", async (store) => {
    const query = { ...byId(visits), limit: 1000 };
    await loadPage(store, query);

    await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        await written(store, insert(visits, { times: at }, `v${at}`));
        assert.ok((await loadPage(store, query)).some(({ id }) => id === `v${at}`));
      }),
    );

    assert.equal((await loadPage(store, query)).length, 60);
  });

  promises("shows the writes that another store made while this store was closed", async (store, { reopen }) => {
    const query = byId(visits);
    assert.deepEqual(await loadPage(store, query), []);
    await store.close();
    const other = await reopen();
    await other.open([people, pets, visits]);
    await written(other, insert(visits, { times: 1 }, "v"));
    await other.close();

    await store.open([people, pets, visits]);

    assert.equal((await loadPage(store, query)).length, 1);
  });
}

function promiseOwnPages(promises: Promises): void {
  promises("shows no row of a refused write when a query is repeated", async (store) => {
    const query = byId(visits);
    await loadPage(store, query);

    const outcome = await write(store, insert(visits, { times: 1 }, "v"), {
      kind: "require",
      collection: visits,
      where: where("id", "eq", "w"),
      atLeast: 1,
      name: "w",
    });

    assert.equal(outcome.kind, "refused");
    assert.deepEqual(await loadPage(store, query), []);
  });

  promises("never confuses the pages of queries that differ only in a value", async (store) => {
    await written(store, ...["a", "b", "c"].map((name) => insert(people, { name })));
    const queries = [1, 2, 3].map((id): ListQuery => ({ ...byId(people), where: where("id", "eq", id) }));
    const behind = [0, 1, 2].map((id): ListQuery => ({ ...byId(people), after: [id], limit: 1 }));

    for (const queryBatch of [queries, behind, queries])
      for (const [at, query] of queryBatch.entries())
        assert.deepEqual(
          (await loadPage(store, query)).map(({ id }) => id),
          [at + 1],
        );
  });

  promises("does not change a returned page after a later write", async (store) => {
    await written(store, insert(people, { name: "a" }), insert(people, { name: "b" }));
    const query: ListQuery = { ...byId(people), sort: [{ column: "name" }, { column: "id" }] };
    const page = await store.listJSON(query);

    await written(store, { kind: "update", collection: people, key: 2, values: { name: "A" } });
    await store.listJSON(query);

    assert.deepEqual([page.first, page.last, page.count, page.more], [["a", 1], ["b", 2], 2, false]);
  });
}

function byId(collection: ListQuery["collection"]): ListQuery {
  return { collection, where: null, sort: [{ column: "id" }], limit: 10 };
}

async function loadPage(store: Store, query: ListQuery): Promise<Record<string, unknown>[]> {
  return JSON.parse((await store.listJSON(query)).json) as Record<string, unknown>[];
}
