import assert from "node:assert/strict";
import type { Store } from "../../store/store.ts";
import { idOf, insert, inserted, people, visits, write, written, type Promises } from "./library.ts";

/** Promises about integer keys: none is ever assigned twice. */
export function promiseKeys(promises: Promises): void {
  promiseHandedOut(promises);
  promiseAtOnce(promises);
}

function promiseHandedOut(promises: Promises): void {
  promises("keys count from one", async (store) => {
    assert.deepEqual([await next(store), await next(store), await next(store)], [1, 2, 3]);
  });

  promises("the key of a deleted row is not handed out again, not even the highest", async (store) => {
    await next(store);
    const highest = await next(store);
    await written(store, { kind: "delete", collection: people, key: highest });

    assert.ok((await next(store)) > highest);
    await written(store, { kind: "deleteAll", collection: people, where: { all: [] } });
    assert.ok((await next(store)) > highest + 1);
  });

  promises("a key that came with its row is skipped, also after the row is gone", async (store) => {
    for (const key of [3, 4, 6]) await inserted(store, people, { name: "given" }, key);
    await written(store, { kind: "delete", collection: people, key: 4 });

    const handedOut = [await next(store), await next(store), await next(store), await next(store)];

    assert.equal(new Set(handedOut).size, 4);
    for (const key of [3, 4, 6]) assert.ok(!handedOut.includes(key), `${key} was handed out again`);
  });

  promises("the largest key there is does not stop the next one", async (store) => {
    await inserted(store, people, { name: "given" }, Number.MAX_SAFE_INTEGER);

    const key = await next(store);

    assert.ok(key > 0 && key < Number.MAX_SAFE_INTEGER);
    assert.equal((await store.find(people, Number.MAX_SAFE_INTEGER))?.record["name"], "given");
    assert.deepEqual(await write(store, insert(people, { name: "again" }, Number.MAX_SAFE_INTEGER)), {
      kind: "taken",
      change: 0,
      column: "id",
    });
  });

  promises("a key is free again for whoever names it, but never handed out", async (store) => {
    await inserted(store, people, { name: "given" }, 2);
    await written(store, { kind: "delete", collection: people, key: 2 });
    await inserted(store, people, { name: "given again" }, 2);
    await written(store, { kind: "delete", collection: people, key: 2 });

    assert.ok(![await next(store), await next(store)].includes(2));
  });
}

function promiseAtOnce(promises: Promises): void {
  promises("a transaction that was refused has taken no key from anyone", async (store) => {
    await inserted(store, people, { name: "Ada", badge: "1" });
    await write(
      store,
      insert(people, { name: "x" }),
      insert(people, { name: "y" }, 50),
      insert(people, { name: "z", badge: "1" }),
    );

    const row = await inserted(store, people, { name: "given" }, 50);
    assert.equal(idOf(row), 50);
    const key = await next(store);
    assert.equal(await store.count(people, null), 3);
    assert.ok(key !== 1 && key !== 50);
  });

  promises("keys given in order and keys handed out in turn never meet", async (store) => {
    for (let key = 1; key <= 5; key++) await inserted(store, people, { name: "given" }, key);

    assert.equal(new Set([await next(store), 1, 2, 3, 4, 5]).size, 6);
  });

  promises("keys stay unique when many ask at once, and after a restart", async (store, { reopen }) => {
    const first = await Promise.all(Array.from({ length: 50 }, () => next(store)));
    await inserted(store, people, { name: "given" }, 60);
    await written(store, { kind: "deleteAll", collection: people, where: { all: [] } });
    await store.close();

    const again = await reopen();
    await again.open([people, visits]);
    const second = await Promise.all(Array.from({ length: 20 }, () => next(again)));

    assert.equal(new Set([...first, 60, ...second]).size, 71);
  });
}

async function next(store: Store): Promise<number> {
  return idOf(await inserted(store, people, { name: "next" }));
}
