import assert from "node:assert/strict";
import { after, test, type TestContext } from "node:test";
import {
  JobError,
  outbox,
  type Job,
  type JobDelivery,
  type OutboxOptions,
  type Worker,
} from "../../src/door/features.ts";
import { createService, defineFeature, type Service } from "../../src/door/index.ts";
import type { Store, Transaction } from "../../src/door/stores.ts";
import { mountedEvents } from "../../src/features/outbox/events.ts";
import { nextTurn } from "../harness/next-turn.ts";
import { emptyStore } from "../harness/test-store.ts";

const { collection } = mountedEvents;
const second = 1000;
const minute = 60 * second;
/** The timers of an outbox keep no process alive. */
const alive = setInterval(() => undefined, second);
after(() => clearInterval(alive));

/** A service with one worker, on a store that can refuse the outcomes of jobs. */
interface Running {
  readonly service: Service;
  readonly store: Store;
  readonly clock: { now: number };
  /** Set to true to let the store refuse outcomes, like a full disk. */
  readonly fault: { refuses: boolean };
  readonly logged: string[];
  /** The number of rows when the store was closed. */
  readonly left: number[];
  queue(about: string, count?: number): Promise<void>;
  deliver(): Promise<void>;
  /** Turns the clock and the timers, second by second, and looks for due jobs each time. */
  turn(seconds: number): Promise<void>;
  waiting(): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

async function run(
  t: TestContext,
  work: Worker<string>["run"],
  { yieldsAfterSeconds, ...options }: OutboxOptions & Pick<Worker, "yieldsAfterSeconds"> = {},
): Promise<Running> {
  t.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
  const real = await emptyStore();
  const fault = { refuses: false };
  const isOutcome = ({ changes }: Transaction): boolean =>
    changes.some((change) => change.collection === collection && change.kind !== "insert");
  const left: number[] = [];
  const store: Store = {
    ...real,
    async close() {
      if (left.length === 0) left.push(await real.count(collection, null));
      await real.close();
    },
    async write(transaction) {
      if (fault.refuses && isOutcome(transaction)) throw new Error("No room.");
      return real.write(transaction);
    },
  };
  const clock = { now: Date.parse("2026-01-31T09:30:00Z") };
  const logged: string[] = [];
  const events = outbox({ random: () => 1, ...options });
  const worker = { name: "mail", run: work, ...(yieldsAfterSeconds === undefined ? {} : { yieldsAfterSeconds }) };
  const sender = defineFeature({
    name: "sender",
    needs: [events],
    setUp: (host) => ({ offer: host.use(events).worker<string>(worker) }),
  });
  const service = await createService({
    store,
    features: [events, sender],
    observe: (each) => void (each.kind === "notice" && logged.push(each.message)),
    now: () => clock.now,
  });
  t.after(() => service.close());
  const deliver = (): Promise<void> => service.use(events).deliverDue();
  const queueOne = service.use(sender);
  return {
    service,
    store: real,
    clock,
    fault,
    logged,
    left,
    deliver,
    async queue(about, count = 1) {
      for (let at = 0; at < count; at++)
        await store.write({ changes: queueOne(count === 1 ? about : `${about}${at}`, { now: clock.now }) });
    },
    async turn(seconds) {
      for (let at = 0; at < seconds; at++) {
        clock.now += second;
        t.mock.timers.tick(second);
        await deliver();
      }
    },
    async waiting() {
      const rows = await real.list({ collection, where: null, sort: [{ column: "id" }], limit: 100 });
      return rows.map(({ record }) => record);
    },
  };
}

/** Waits until a condition is true. Only the real clock ends it, because a busy database may need many turns. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 30_000; performance.now() < end;) {
    if (await isTrue()) return;
    await nextTurn();
  }
  assert.fail("It did not become true.");
}

test("does a job once while the store refuses its outcome, and stores the outcome when there is room", async (t) => {
  const done: string[] = [];
  const { queue, deliver, turn, waiting, fault, logged } = await run(t, ({ about }) => void done.push(about));
  await queue("a");
  await queue("b");
  fault.refuses = true;

  await deliver();
  await turn(90);

  assert.deepEqual(done.toSorted(), ["a", "b"]);
  assert.equal((await waiting()).length, 2);
  assert.equal(logged.filter((message) => message.startsWith("Outcomes of deliveries could not be stored.")).length, 1);
  fault.refuses = false;
  await turn(31);
  await until(async () => (await waiting()).length === 0);
  assert.equal(done.length, 2);
});

test("counts one failed try while the store refuses the outcome of the failure", async (t) => {
  const tries: number[] = [];
  const { queue, deliver, turn, waiting, fault } = await run(t, ({ attempt }) => {
    tries.push(attempt);
    throw new Error("The server is away.");
  });
  await queue("a");
  fault.refuses = true;

  await deliver();
  await turn(90);
  assert.deepEqual(tries, [1]);
  fault.refuses = false;
  await turn(31);

  await until(async () => Number((await waiting())[0]?.["attempts"]) >= 1);
  assert.equal(tries.indexOf(2), tries.lastIndexOf(2));
});

test("takes no more than 16 jobs whose outcomes the store refuses", async (t) => {
  let done = 0;
  const { queue, deliver, turn, waiting, fault } = await run(t, () => void done++);
  await queue("a", 40);
  fault.refuses = true;

  await deliver();
  await turn(60);

  assert.equal(done, 16);
  fault.refuses = false;
  await turn(40);
  await until(async () => (await waiting()).length === 0);
  assert.equal(done, 40);
});

test("stores an outcome at the stop that it could not store before", async (t) => {
  let done = 0;
  const { queue, deliver, fault, service, left } = await run(t, () => void done++);
  await queue("a");
  fault.refuses = true;
  await deliver();
  fault.refuses = false;

  await service.close();

  assert.equal(done, 1);
  assert.deepEqual(left, [0]);
});

test("does not repeat a job that outlives its time and its lease, and takes its late success", async (t) => {
  const over = Promise.withResolvers<void>();
  let begun = 0;
  const { queue, deliver, turn, waiting } = await run(t, () => (begun++, over.promise));
  await queue("a");

  const delivering = deliver();
  await until(() => begun === 1);
  t.mock.timers.tick(31 * second);
  await delivering;
  await turn(200);

  assert.equal(begun, 1);
  assert.equal((await waiting())[0]?.["error"], "Error: It took too long.");
  over.resolve();
  await until(async () => (await waiting()).length === 0);
});

test("tries a job again after its receiver has failed late", async (t) => {
  const first = Promise.withResolvers<void>();
  let begun = 0;
  const { queue, deliver, turn } = await run(t, () => (++begun === 1 ? first.promise : undefined));
  await queue("a");

  const delivering = deliver();
  await until(() => begun === 1);
  t.mock.timers.tick(31 * second);
  await delivering;
  first.reject(new Error("The line is dead."));
  await turn(3);

  assert.equal(begun, 2);
});

test("does not try a job again after a final error, and waits ten minutes after an unknown outcome", async (t) => {
  const tries: string[] = [];
  const { queue, deliver, turn, waiting } = await run(t, ({ about }) => {
    tries.push(about);
    throw new JobError("Refused.", { retry: about === "final" ? "never" : "late" });
  });
  await queue("final");
  await queue("unknown");

  await deliver();
  await turn(599);
  assert.deepEqual(tries.toSorted(), ["final", "unknown"]);
  await turn(5);

  assert.deepEqual(tries.toSorted(), ["final", "unknown", "unknown"]);
  assert.deepEqual(
    (await waiting()).map(({ failed, attempts, error }) => [failed, attempts, error]),
    [
      [true, 1, "Error: Refused."],
      [false, 2, "Error: Refused."],
    ],
  );
});

/** Jobs that are handed over at once and confirmed later. */
function confirmedLater(): {
  readonly run: (job: Job<string>, delivery: JobDelivery) => Promise<void>;
  readonly begun: string[];
  readonly confirmed: PromiseWithResolvers<void>;
} {
  const begun: string[] = [];
  const confirmed = Promise.withResolvers<void>();
  const run = ({ about }: Job<string>, delivery: JobDelivery): Promise<void> => {
    begun.push(about);
    delivery.handedOver();
    return confirmed.promise;
  };
  return { run, begun, confirmed };
}

test("waits ten minutes for the confirmation of a job, while other jobs run", async (t) => {
  const { run: work, begun, confirmed } = confirmedLater();
  const { queue, deliver, turn, waiting } = await run(t, work, { yieldsAfterSeconds: 1 });
  await queue("a", 20);

  const delivering = deliver();
  await until(() => begun.length === 16);
  t.mock.timers.tick(second);
  await until(() => begun.length === 20);
  t.mock.timers.tick(second);
  await delivering;
  await turn(590);

  assert.equal(begun.length, 20);
  assert.deepEqual([...new Set((await waiting()).map((each) => each["unconfirmed"]))], [true]);
  confirmed.resolve();
  await until(async () => (await waiting()).length === 0);
  assert.equal(begun.length, 20);
});

test("tries a job again, late, if the confirmation never comes", async (t) => {
  const { run: work, begun } = confirmedLater();
  const { queue, deliver, turn, waiting, clock } = await run(
    t,
    (job, delivery) => Promise.race([work(job, delivery), aborted(delivery)]),
    { yieldsAfterSeconds: 1 },
  );
  await queue("a");

  const delivering = deliver();
  await until(() => begun.length === 1);
  t.mock.timers.tick(second);
  await delivering;
  await turn(600);
  await until(async () => (await waiting())[0]?.["attempts"] === 1);
  const [job] = await waiting();

  assert.deepEqual([begun.length, job?.["unconfirmed"], job?.["failed"]], [1, false, false]);
  assert.match(String(job?.["error"]), /took too long|over/);
  await turn(598);
  assert.equal(begun.length, 1);
  clock.now += 10 * second;
  const again = deliver();
  await until(() => begun.length === 2);
  t.mock.timers.tick(second);
  await again;
});

function aborted({ signal }: JobDelivery): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("It is over."))));
}

test("counts a job as done that was handed over before the process stopped or died", async (t) => {
  const { run: work, begun } = confirmedLater();
  const { queue, deliver, turn, waiting, store, clock, service, left } = await run(t, work, { yieldsAfterSeconds: 1 });
  await queue("a");
  const delivering = deliver();
  await until(() => begun.length === 1);
  t.mock.timers.tick(second);
  await delivering;
  await until(async () => (await waiting())[0]?.["unconfirmed"] === true);
  // The row of a process that died: no process has it in memory.
  const [row] = await store.list({ collection, where: null, sort: [{ column: "id" }], limit: 1 });
  const { id: _, ...values } = row!.record;
  await store.write({ changes: [{ kind: "insert", collection, values }] });

  clock.now += 11 * minute;
  await turn(1);

  await until(async () => (await waiting()).length === 1);
  assert.deepEqual(begun, ["a"]);
  await service.close();
  assert.deepEqual(left, [0]);
});

for (const [what, change] of [
  ["deleted", { kind: "delete", collection, key: 1 }],
  ["retried", { kind: "update", collection, key: 1, values: { attempts: 0, failed: false } }],
] as const)
  test(`keeps the change of an administrator who ${what} a job while its last try failed`, async (t) => {
    const { queue, deliver, waiting, store } = await run(
      t,
      async () => {
        await store.write({ changes: [change] });
        throw new Error("The server is away.");
      },
      { attempts: 1 },
    );
    await queue("a");

    await deliver();

    const failed = (await waiting()).map((each) => each["failed"]);
    assert.deepEqual(failed, what === "deleted" ? [] : [false]);
  });

for (const message of ["half a character \ud83d", `cut within a character ${"x".repeat(469)}\u{1f600}`])
  test(`stores the outcome of an error with ${message.slice(0, 20)}`, async (t) => {
    const { queue, deliver, waiting } = await run(t, () => {
      throw new Error(message);
    });
    await queue("a");

    await deliver();

    const [job] = await waiting();
    assert.equal(job?.["attempts"], 1);
    assert.ok(String(job?.["error"]).isWellFormed());
  });
