import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { getHeapSpaceStatistics } from "node:v8";
import { anyone, createService, defineEndpoint } from "../../src/door/index.ts";
import { sqliteStore } from "../../src/door/stores.ts";

// On SQLite alone: no request here reads the database.

function oldBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === "old_space")!.space_used_size;
}

test("frees the memory of answered requests, even if their handlers are asynchronous", async (t) => {
  const waits = defineEndpoint({
    method: "GET",
    path: "/waits",
    access: anyone,
    handle: () => nextRound({ status: 200 }),
  });
  const service = await createService({ store: sqliteStore({ path: ":memory:" }), endpoints: [waits] });
  t.after(() => service.close());
  const ask = () =>
    service.respond({
      method: "GET",
      target: "/waits",
      rawHeaders: ["Host", "api.example"],
      peer: "127.0.0.1",
      encrypted: false,
      readBody: async () => Buffer.alloc(0),
    });
  const serve = async (count: number): Promise<void> => {
    let left = count;
    const client = async (): Promise<void> => {
      while (left-- > 0) assert.equal((await ask()).status, 200);
    };
    await Promise.all(Array.from({ length: 64 }, client));
  };

  await serve(20_000);
  // V8 may promote some objects in one round, if the machine is busy. A request that stays in memory stays in every
  // round.
  const kept: number[] = [];
  while (kept.length < 5 && (kept.at(-1) ?? Infinity) >= 500) {
    const before = oldBytes();
    await serve(20_000);
    kept.push((oldBytes() - before) / 20_000);
  }

  // A request that stays in memory takes some kilobytes, so less than 500 bytes for each request means that none stays.
  assert.ok(kept.at(-1)! < 500, `${kept.join(", ")} bytes of each request are kept`);
});
