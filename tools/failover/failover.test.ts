import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Secret } from "../../src/door/index.ts";
import { postgresStore, type Collection, type Store } from "../../src/door/stores.ts";
import { makeLedger } from "../../tests/harness/ledger.ts";
import {
  postgresServers,
  formatURL,
  type PostgresServer,
  type PostgresServers,
} from "../../tests/harness/postgres-server.ts";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";

// One round by default. With `FAILOVER_ROUNDS=15`, the primary stops in each way several times.
const rounds = Number(process.env["FAILOVER_ROUNDS"] ?? 1);
const password = "outlives a fail-over";
let servers: PostgresServers;

before(async () => {
  servers = await postgresServers();
});

after(() => servers[Symbol.asyncDispose]());

/**
 * The ways in which a primary stops. After the promotion of its replica, a primary that returns must not be used, even
 * if it still acts as the primary.
 */
const ends: readonly [how: string, end: (primary: PostgresServer) => unknown][] = [
  ["is killed", (primary) => primary.kill()],
  ["hangs", (primary) => primary.freeze()],
  ["is stopped", (primary) => primary.stop()],
];

for (let round = 0; round < rounds; round++) {
  const [how, end] = ends[round % ends.length]!;
  test(`replaces a primary that ${how} under load by its replica, and stores every acknowledged write exactly once (round ${round + 1})`, async (t) => {
    const [primary, replica] = await servers.pair({ synchronous: true });
    await using service = await serviceOn(primary, replica);
    const ledger = makeLedger(password);
    const load = ledger.load(service);
    await load.begun;

    await end(primary);
    // Waits until the failure is noticed, for a different time in each round.
    await wait(200 * (1 + (round % 5)));
    await replica.promote();
    const back = performance.now();
    const recoveredMs = (await load.nextWrite()) - back;
    primary.thaw();
    await wait(300);
    await load.stop();

    assert.ok(recoveredMs < 5000, `${recoveredMs} ms`);
    await ledger.settle(service);
    await ledger.verify(service);
    assert.equal((await fetch(`${service.address}/readyz`)).status, 200);
    await Promise.all([primary.kill(), replica.kill()]);
    t.diagnostic(
      `written again ${Math.round(recoveredMs)} ms after the promotion, slowest answer ${Math.round(load.slowestMs)} ms; ${ledger.summary()}`,
    );
  });
}

const events: Collection = { name: "events", key: "integer", columns: [{ name: "what", type: "text" }] };

test("shows a new row of a promoted replica in a feed, even if the replica lost rows and assigns their keys again", async (t) => {
  const [primary, replica] = await servers.pair();
  const store = postgresStore({ url: new Secret(formatURL(replica, primary)) });
  t.after(() => store.close());
  await store.open([events]);
  const seen: string[] = [];
  const feed = await store.follow(events, ({ record }) =>
    seen.push(`${String(record["id"])} ${String(record["what"])}`),
  );
  await add(store, "kept");
  await caughtUp(primary);

  await replica.stop();
  // PostgreSQL logs up to 32 values of a sequence ahead. With more rows than that, the replica assigns some keys again.
  for (let at = 0; at < 40; at++) await add(store, "lost");
  const highest = seen.length;
  await primary.kill();
  await replica.start();
  await replica.promote();
  const id = await settled(() => add(store, "new"));

  assert.ok(id <= highest, `${id} of ${highest}`);
  await settled(async () => assert.ok(seen.includes(`${id} new`), seen.join(", ")));
  feed.close();
  await store.close();
  await replica.kill();
});

// Waits for the time limit of a statement, so `npm test` skips it.
if (rounds > 1)
  test("acknowledges nothing while a synchronous replica hangs, still reads, and makes a repeated write once", async () => {
    const [primary, replica] = await servers.pair({ synchronous: true });
    await using service = await serviceOn(primary, replica);
    const { access } = (await (
      await fetch(`${service.address}/api/token/`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ username: "admin", password }),
      })
    ).json()) as { access: string };
    const headers = {
      authorization: `Bearer ${access}`,
      "content-type": "application/json",
      "idempotency-key": randomUUID(),
    };
    const write = (): Promise<Response> =>
      fetch(`${service.address}/users`, {
        method: "POST",
        headers,
        body: `{"name":"Once","email":"once@example.com"}`,
      });

    replica.freeze();
    const first = await write();
    const reading = await fetch(`${service.address}/users`, { headers });
    replica.thaw();
    const again = await settled(async () => {
      const response = await write();
      assert.equal(response.status, 201);
      return response;
    });
    const found = (await (await fetch(`${service.address}/users`, { headers })).json()) as { email: string }[];

    assert.equal(first.status, 503);
    assert.equal(first.headers.get("retry-after"), "1");
    assert.equal(reading.status, 200);
    assert.equal(((await again.json()) as { email: string }).email, "once@example.com");
    assert.equal(found.filter(({ email }) => email === "once@example.com").length, 1);
    await Promise.all([primary.kill(), replica.kill()]);
  });

function serviceOn(...both: readonly PostgresServer[]): Promise<ServiceProcess> {
  return startService({
    LATCHKEY_DATABASE: formatURL(...both),
    LATCHKEY_SECRET: "known to every process of it, at any time",
    LATCHKEY_ADMIN_PASSWORD: password,
    LATCHKEY_ACCESS_SECONDS: "3600",
  });
}

async function add(store: Store, what: string): Promise<number> {
  const outcome = await store.write({ changes: [{ kind: "insert", collection: events, values: { what } }] });
  assert.ok(outcome.kind === "written");
  return outcome.rows[0]!.record["id"] as number;
}

/** Waits until the replica has everything that the primary has. */
async function caughtUp(primary: PostgresServer): Promise<void> {
  const behind = "SELECT FROM pg_stat_replication WHERE replay_lsn < pg_current_wal_lsn()";
  while ((await primary.ask(behind)).length > 0) await wait(20);
}

/** Repeats the work until it no longer throws, for at most 5 seconds. Returns its result. */
async function settled<T>(work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() - start > 5000) throw error;
      await wait(50);
    }
  }
}
