import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { anyone, caller, createService, defineResource, integer, mount, owner } from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";
import { sharedDatabase, sharedFile, type SharedDatabase } from "../harness/test-store.ts";

const counters = defineResource({ name: "counter", fields: { count: integer() } });

const mountWith = (beforeUpdate: () => unknown) =>
  mount(counters, {
    permission: anyone,
    beforeWrite: async ({ kind }) => {
      if (kind === "update") await beforeUpdate();
      return {};
    },
  });

async function setUp(
  t: TestContext,
  mounted: ReturnType<typeof mountWith>,
  { handlerTimeoutSeconds = 60, database }: { handlerTimeoutSeconds?: number; database?: SharedDatabase } = {},
) {
  const service = await createService({
    store: (database ?? (await sharedDatabase(t))).open(),
    handlerTimeoutSeconds,
    observe: () => undefined,
    mounts: [mounted],
  });
  t.after(() => service.close());
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
  return { service, change: (count: number) => ask("PATCH", "/counters/1", count) };
}

test("serves many callers that change one record in a loop, with few retries", async (t) => {
  let tries = 0;
  const { change } = await setUp(
    t,
    mountWith(() => tries++),
  );
  const statuses: Record<number, number> = {};
  let left = 1000;
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const status = await change(left);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };

  await Promise.all(Array.from({ length: 64 }, client));

  assert.deepEqual(statuses, { 200: 1000 });
  // The first changes of all 64 callers arrive at the same time, so some of them are tried again.
  assert.ok(tries < 1000 + 3 * 64, `${tries} tries for 1000 changes`);
});

test("delays the other changes of a record for at most two seconds behind a slow change", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const slow = Promise.withResolvers<void>();
  let tries = 0;
  const { change } = await setUp(
    t,
    mountWith(() => (++tries === 4 ? slow.promise : nextRound())),
    // On SQLite only: the test waits for rounds of the event loop, and PostgreSQL may need any number of rounds for an
    // answer.
    { database: sharedFile(t) },
  );

  // One of these changes is the fastest. The other two are tried again, and the fourth try is the slow one.
  const first = [change(1), change(2), change(3)];
  await Promise.race(first);
  while (tries < 4) await nextRound();
  const newcomers = Array.from({ length: 30 }, (_, at) => change(at));
  await rounds();
  t.mock.timers.tick(1999);
  await rounds();
  assert.equal(tries, 4);
  t.mock.timers.tick(1);

  assert.deepEqual(new Set(await Promise.all(newcomers)), new Set([200]));
  assert.equal(tries, 4 + 1 + 30);
  slow.resolve();
  assert.deepEqual(await Promise.all(first), [200, 200, 200]);
});

test("does not run a waiting request that was cancelled, and continues with the others", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const slow = Promise.withResolvers<void>();
  let tries = 0;
  const { change } = await setUp(
    t,
    mountWith(() => (++tries === 3 ? slow.promise : undefined)),
    { handlerTimeoutSeconds: 1, database: sharedFile(t) },
  );
  const both = [change(1), change(2)];
  await Promise.race(both);
  while (tries < 3) await nextRound();

  const inVain = change(3);
  await rounds();
  t.mock.timers.tick(2000);
  assert.equal(await inVain, 503);
  const later = change(4);

  assert.equal(await later, 200);
  assert.equal(tries, 4);
  slow.resolve();
  assert.deepEqual(new Set(await Promise.all(both)), new Set([200, 503]));
});

test("answers 404 at once to a caller who may not see a record, even if other requests wait for it", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const slow = Promise.withResolvers<void>();
  let tries = 0;
  const mine = defineResource({
    name: "mine",
    plural: "mine",
    fields: { count: integer(), owner_id: integer({ default: caller }) },
  });
  const own = await ownService(t, {
    mounts: [
      mount(mine, {
        permission: owner("owner_id"),
        beforeWrite: async ({ kind }) => {
          if (kind === "update" && ++tries === 3) await slow.promise;
          return {};
        },
      }),
    ],
  });
  await own.ask("POST", "/mine", { as: "ada", body: { count: 0 } });
  const change = (as: string, count: number) => own.ask("PATCH", "/mine/1", { as, body: { count } });
  const both = [change("ada", 1), change("ada", 2)];
  while (tries < 3) await nextRound();

  assert.equal((await change("ben", 3)).status, 404);

  slow.resolve();
  assert.deepEqual(
    (await Promise.all(both)).map(({ status }) => status),
    [200, 200],
  );
});

test("makes a change even if other processes change the record first a dozen times", async (t) => {
  let tries = 0;
  const counted = mountWith(async () => {
    if (++tries > 12) return;
    const values = { count: -tries };
    await set.service.store.write({ changes: [{ kind: "update", collection: counted.collection, key: 1, values }] });
  });
  const set = await setUp(t, counted);

  assert.equal(await set.change(1), 200);
  assert.equal(tries, 13);
});

test("uses separate queues for two services with the same declarations", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const slow = Promise.withResolvers<void>();
  let tries = 0;
  const both = mountWith(() => (++tries === 3 ? slow.promise : undefined));
  const { change } = await setUp(t, both);
  const other = await setUp(t, both);
  const two = [change(1), change(2)];
  await Promise.race(two);
  while (tries < 3) await nextRound();

  assert.equal(await other.change(3), 200);

  slow.resolve();
  assert.deepEqual(await Promise.all(two), [200, 200]);
});

async function rounds(): Promise<void> {
  for (let round = 0; round < 100; round++) await nextRound();
}
