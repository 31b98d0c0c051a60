import assert from "node:assert/strict";
import type { Store } from "../../store/store.ts";
import { readId, insert, inserted, people, visits, write, written, type Promises } from "./library.ts";

/** Promises about integer keys: the store assigns none of them twice. */
export function promiseKeys(promises: Promises): void {
  promiseHandedOut(promises);
  promiseAtOnce(promises);
}

function promiseHandedOut(promises: Promises): void {
  promises("assigns the keys 1, 2, 3 and so on", async (store) => {
    assert.deepEqual([await next(store), await next(store), await next(store)], [1, 2, 3]);
  });

  promises("never assigns the key of a deleted row again, not even the highest one", async (store) => {
    await next(store);
    const highest = await next(store);
    await written(store, { kind: "delete", collection: people, key: highest });

    assert.ok((await next(store)) > highest);
    await written(store, { kind: "deleteAll", collection: people, where: { all: [] } });
    assert.ok((await next(store)) > highest + 1);
  });

  promises("never assigns a key that a write has named, even after its row is deleted", async (store) => {
    for (const key of [3, 4, 6]) await inserted(store, people, { name: "given" }, key);
    await written(store, { kind: "delete", collection: people, key: 4 });

    const handedOut = [await next(store), await next(store), await next(store), await next(store)];

    assert.equal(new Set(handedOut).size, 4);
    for (const key of [3, 4, 6]) assert.ok(!handedOut.includes(key), `${key} was given again`);
  });

  promises("assigns a smaller key after a write has named the largest possible one", async (store) => {
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

  promises("accepts the key of a deleted row if a write names it, but never assigns it", async (store) => {
    await inserted(store, people, { name: "given" }, 2);
    await written(store, { kind: "delete", collection: people, key: 2 });
    await inserted(store, people, { name: "given again" }, 2);
    await written(store, { kind: "delete", collection: people, key: 2 });

    assert.ok(![await next(store), await next(store)].includes(2));
  });
}

function promiseAtOnce(promises: Promises): void {
  promises("accepts a key that only a refused transaction has named, and assigns no key twice", async (store) => {
    await inserted(store, people, { name: "Ada", badge: "1" });
    await write(
      store,
      insert(people, { name: "x" }),
      insert(people, { name: "y" }, 50),
      insert(people, { name: "z", badge: "1" }),
    );

    const row = await inserted(store, people, { name: "given" }, 50);
    assert.equal(readId(row), 50);
    const key = await next(store);
    assert.equal(await store.count(people, null), 3);
    assert.ok(key !== 1 && key !== 50);
  });

  promises("assigns an unused key after writes have named the first keys in order", async (store) => {
    for (let key = 1; key <= 5; key++) await inserted(store, people, { name: "given" }, key);

    assert.equal(new Set([await next(store), 1, 2, 3, 4, 5]).size, 6);
  });

  promises("keeps keys unique for concurrent writes, and after a restart", async (store, { reopen }) => {
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
  return readId(await inserted(store, people, { name: "next" }));
}
