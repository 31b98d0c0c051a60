import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreOutdated, StoreUnavailable, type Collection } from "../../store.ts";
import { writerThread } from "./writer-thread.ts";

const notes: Collection = { name: "notes", key: "integer", columns: [{ name: "text", type: "text" }] };

test("refuses every write if the thread cannot start, also those of later groups", async () => {
  const notices: string[] = [];
  const data = {
    path: "unused.db",
    files: new Map(),
    content: null,
    busyMs: 0,
    collections: [],
    // A function cannot be sent to a thread, so `new Worker` throws.
    shapes: new Map([["notes", () => {}]]),
  };
  const writer = writerThread(
    data as unknown as Parameters<typeof writerThread>[0],
    (event) => notices.push(event.kind === "notice" ? event.message : event.kind),
    (collection) => new StoreOutdated(collection),
  );
  const change = { kind: "insert", collection: notes, values: { text: "a" } } as const;
  // More writes than two groups hold.
  const outcomes = await Promise.allSettled(Array.from({ length: 2500 }, () => writer.write({ changes: [change] })));
  assert.equal(outcomes.length, 2500);
  for (const outcome of outcomes) {
    assert.equal(outcome.status, "rejected");
    assert.ok(outcome.reason instanceof StoreUnavailable);
  }
  assert.deepEqual(notices, ["SQLite: writes fail"]);
  await writer.close(() => {});
});
