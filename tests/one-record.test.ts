import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { anyone, createService, defineResource, integer, mount } from "../src/door/index.ts";
import { sqliteStore } from "../src/door/stores.ts";

const counters = defineResource({ name: "counter", fields: { count: integer() } });

async function setUp(t: TestContext, beforeUpdate: () => unknown) {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-one-record-"));
  const service = await createService({
    store: sqliteStore({ path: path.join(folder, "one.db") }),
    mounts: [
      mount(counters, {
        permission: anyone,
        beforeWrite: async ({ kind }) => {
          if (kind === "update") await beforeUpdate();
          return {};
        },
      }),
    ],
  });
  t.after(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });
  const ask = async (method: string, target: string, count: number): Promise<number> => {
    const answer = await service.respond({
      method,
      target,
      rawHeaders: ["Host", "api.example", "Content-Type", "application/json"],
      peer: "127.0.0.1",
      encrypted: false,
      readBody: async () => Buffer.from(JSON.stringify({ count })),
    });
    return answer.status;
  };
  assert.equal(await ask("POST", "/counters", 0), 201);
  return { change: (count: number) => ask("PATCH", "/counters/1", count) };
}

test("many who change one record in a loop are all served, and hardly ever in vain", async (t) => {
  let tries = 0;
  const { change } = await setUp(t, () => tries++);
  const statuses: Record<number, number> = {};
  let left = 4000;
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const status = await change(left);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };

  await Promise.all(Array.from({ length: 64 }, client));

  assert.deepEqual(statuses, { 200: 4000 });
  // The first of each come at once.
  assert.ok(tries < 4000 + 3 * 64, `${tries} tries for 4000 changes`);
});

test("whoever comes to a line waits two seconds behind what is slow there", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const slow = Promise.withResolvers<void>();
  let tries = 0;
  const { change } = await setUp(t, () => (++tries === 3 ? slow.promise : undefined));

  // One is faster, and the other makes its change anew.
  const both = [change(1), change(2)];
  await Promise.race(both);
  while (tries < 3) await nextRound();
  const newcomer = change(3);
  for (let round = 0; round < 100; round++) await nextRound();
  t.mock.timers.tick(1999);
  for (let round = 0; round < 100; round++) await nextRound();
  assert.equal(tries, 3);
  t.mock.timers.tick(1);

  assert.equal(await newcomer, 200);
  slow.resolve();
  assert.deepEqual(await Promise.all(both), [200, 200]);
});
