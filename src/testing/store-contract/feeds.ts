import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Feed } from "../../store/store.ts";
import { events, insert, inserted, library, written, type Promises } from "./library.ts";

/** The time in which a feed must show a row, in milliseconds. */
const patienceMs = 5000;

/** Promises about feeds, which show new rows of a collection to a listener. */
export function promiseFeeds(promises: Promises): void {
  promises("starts a feed with the existing rows, in order", async (store) => {
    await written(store, ...Array.from({ length: 2500 }, (_, at) => insert(events, { what: `e${at}` })));
    const seen: number[] = [];

    const feed = await store.follow(events, ({ record }) => seen.push(record["id"] as number));

    assert.deepEqual(
      seen,
      Array.from({ length: 2500 }, (_, at) => at + 1),
    );
    feed.close();
  });

  promises("shows each new row once in a feed, from any writer", async (store, { reopen }) => {
    const other = await reopen();
    await other.open(library);
    const seen: unknown[] = [];
    const feed = await store.follow(events, ({ record }) => seen.push(record["what"]));

    await inserted(store, events, { what: "own" });
    await until(feed, () => seen.length === 1);
    await inserted(other, events, { what: "foreign" });
    await until(feed, () => seen.length === 2);
    await written(store, insert(events, { what: "third" }), insert(events, { what: "fourth" }));
    await until(feed, () => seen.length === 4);
    feed.catchUp();

    assert.deepEqual(seen, ["own", "foreign", "third", "fourth"]);
    assert.ok(feed.ageMs() >= 0 && feed.ageMs() < patienceMs);
    feed.close();
  });

  promises("shows every row once and in order in a feed during many concurrent writes", async (store, { reopen }) => {
    const other = await reopen();
    await other.open(library);
    const seen: number[] = [];
    const feed = await store.follow(events, ({ record }) => seen.push(record["id"] as number));

    const writing = Array.from({ length: 200 }, async (_, at) => {
      await inserted(at % 2 === 0 ? store : other, events, { what: `e${at}` });
      feed.catchUp();
    });
    await Promise.all(writing);
    await until(feed, () => seen.length >= 200);

    assert.equal(seen.length, 200);
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => a - b),
    );
    feed.close();
  });

  promises("shows no rows in a closed feed, and still shows them in other feeds", async (store) => {
    const [first, second]: [unknown[], unknown[]] = [[], []];
    const closed = await store.follow(events, (row) => first.push(row));
    const feed = await store.follow(events, (row) => second.push(row));

    closed.close();
    await inserted(store, events, { what: "x" });
    await until(feed, () => second.length === 1);
    closed.catchUp();

    assert.equal(first.length, 0);
    feed.close();
  });

  promiseFailingListeners(promises);
}

function promiseFailingListeners(promises: Promises): void {
  promises("repeats only the row at which a listener failed", async (store) => {
    const seen: unknown[] = [];
    let failures = 0;
    const feed = await store.follow(events, ({ record }) => {
      if (record["what"] === "second" && ++failures < 3) throw new Error("a listener that fails");
      seen.push(record["what"]);
    });

    for (const what of ["first", "second", "third"]) await inserted(store, events, { what });
    await until(feed, () => seen.length === 3);

    assert.deepEqual(seen, ["first", "second", "third"]);
    assert.equal(failures, 3);
    feed.close();
  });
}

async function until(feed: Feed, done: () => boolean): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      feed.catchUp();
    } catch {
      // A listener that throws is called again with the same row.
    }
    if (done()) return;
    assert.ok(performance.now() - start < patienceMs, "the feed has not shown the row");
    await sleep(5);
  }
}
