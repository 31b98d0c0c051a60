import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { outbox, type Job, type Outbox, type OutboxOptions, type Queue, type Worker } from "../../src/door/features.ts";
import {
  anyone,
  createService,
  defineFeature,
  defineResource,
  mount,
  Secret,
  text,
  type Feature,
  type Service,
} from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { postgresStore, sqliteStore, type Collection, type Store } from "../../src/door/stores.ts";
import { mountedEvents } from "../../src/features/outbox/events.ts";
import { startPostgres, testsOnPostgres } from "../harness/postgres.ts";

type About = { readonly user: number };

const day = 86_400_000;
const notes = defineResource({ name: "note", fields: { body: text() } });
const noted: Collection = { name: "noted", key: "text", columns: [{ name: "what", type: "text" }] };

interface Running {
  readonly service: Service;
  readonly events: Feature<Outbox>;
  readonly queue: Queue<About>;
  readonly clock: { now: number };
  deliver(): Promise<void>;
}

async function run(
  t: TestContext,
  work: Worker<About>["run"],
  { store = sqliteStore({ path: ":memory:" }), ...options }: OutboxOptions & { readonly store?: Store } = {},
): Promise<Running> {
  const clock = { now: Date.parse("2026-01-31T09:30:00Z") };
  const events = outbox(options);
  const reminders = defineFeature({
    name: "reminders",
    needs: [events],
    setUp: (host) => ({
      offer: host.use(events).worker<About>({ name: "reminder", run: work }),
      collections: [noted],
    }),
  });
  const mounts = options.subscribers === undefined ? [] : [mount(notes, { permission: anyone })];
  const service = await createService({
    store,
    features: [reminders, events],
    mounts,
    observe: null,
    now: () => clock.now,
  });
  t.after(() => service.close());
  return {
    service,
    events,
    queue: service.use(reminders),
    clock,
    deliver: () => service.use(events).deliverDue(),
  };
}

/** Stops the interval of the outbox, so that deliveries happen only when a test requests them. */
function holdTimers(t: TestContext): void {
  t.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
}

async function waiting({ service }: Running): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { collection } = mountedEvents;
  const rows = await service.store.list({ collection, where: null, sort: [{ column: "id" }], limit: 100 });
  return rows.map(({ record }) => record);
}

async function stores(t: TestContext): Promise<readonly Store[]> {
  if (testsOnPostgres) return [sqliteStore({ path: ":memory:" })];
  const server = await startPostgres();
  t.after(() => server.stop());
  return [sqliteStore({ path: ":memory:" }), postgresStore({ url: new Secret(await server.makeDatabase()) })];
}

test("runs a job of a committed transaction once, and no job of a refused transaction", async (t) => {
  for (const store of await stores(t)) {
    const done: Job<About>[] = [];
    const running = await run(t, (job) => void done.push(job), { store });
    const { service, queue, clock, deliver } = running;
    const { now } = clock;

    const insert = { kind: "insert", collection: noted, key: "one", values: { what: "x" } } as const;
    const written = await service.store.write({ changes: [insert, ...queue({ user: 7 }, { now })] });
    const refused = await service.store.write({ changes: [insert, ...queue({ user: 8 }, { now })] });
    await deliver();

    assert.deepEqual([written.kind, refused.kind], ["written", "taken"]);
    assert.deepEqual(
      done.map(({ about, at, attempt }) => [about, at, attempt]),
      [[{ user: 7 }, "2026-01-31T09:30:00.000Z", 1]],
    );
    assert.deepEqual(await waiting(running), []);
  }
});

test("runs a job at its chosen time, weeks later", async (t) => {
  holdTimers(t);
  const done: number[] = [];
  const running = await run(t, ({ about }) => void done.push(about.user));
  const { service, queue, clock, deliver } = running;

  await service.store.write({ changes: queue({ user: 1 }, { now: clock.now, dueAt: clock.now + 40 * day }) });
  for (const days of [0, 1, 38.9]) {
    clock.now += days * day;
    await deliver();
  }
  assert.deepEqual(done, []);
  clock.now += 0.1 * day;
  await deliver();

  assert.deepEqual(done, [1]);
});

test("retries a failed job with growing delays, then keeps it for administrators", async (t) => {
  holdTimers(t);
  const tries: number[] = [];
  const running = await run(
    t,
    ({ attempt }) => {
      tries.push(attempt);
      throw new Error("The server is away.");
    },
    { attempts: 3, random: () => 1 },
  );
  const { service, events, queue, clock, deliver } = running;

  await service.store.write({ changes: queue({ user: 1 }, { now: clock.now, dueAt: clock.now + day }) });
  for (const seconds of [day / 1000, 0.9, 0.1, 1.9, 0.1, 7200]) {
    clock.now += seconds * 1000;
    await deliver();
  }

  assert.deepEqual(tries, [1, 2, 3]);
  const [failedJob] = await waiting(running);
  const { id, failed, error, receiver, kind, about, planned } = failedJob ?? {};
  assert.deepEqual(
    { failed, error, receiver, kind, about, planned },
    {
      failed: true,
      error: "Error: The server is away.",
      receiver: "reminder",
      kind: "job",
      about: { user: 1 },
      planned: false,
    },
  );
  assert.equal(await service.use(events).retry(Number(id)), true);
  await deliver();
  assert.deepEqual(tries, [1, 2, 3, 1]);
});

test("leaves the jobs of a worker that it does not have to another process, and counts no try", async (t) => {
  holdTimers(t);
  for (const column of ["receiver", "subscriber"]) {
    const running = await run(t, () => assert.fail("It is another worker."));
    const { service, queue, clock, deliver } = running;
    const [change] = queue({ user: 1 }, { now: clock.now });
    assert.equal(change?.kind, "insert");
    const values = { ...change.values, receiver: "", subscriber: "", [column]: "gone" };
    await service.store.write({ changes: [{ ...change, values }] });

    for (let round = 0; round < 13; round++) {
      await deliver();
      clock.now += 3_600_000;
    }

    const [job] = await waiting(running);
    assert.deepEqual([job?.["attempts"], job?.["failed"], job?.["error"]], [0, false, null]);
  }
});

test("delivers a job after the write that queued it, without waiting for the interval", async (t) => {
  // The interval never passes. The test ends only if the write itself wakes the delivery.
  t.mock.timers.enable({ apis: ["setInterval"] });
  // The timers of an outbox keep no process alive.
  const alive = setTimeout(() => undefined, 60_000);
  t.after(() => clearTimeout(alive));
  const done = Promise.withResolvers<void>();
  const { service, queue, clock } = await run(t, () => done.resolve());

  await service.store.write({ changes: queue({ user: 1 }, { now: clock.now }) });

  await done.promise;
});

test("adds the columns of jobs to an existing outbox while a process of the older version runs", async (t) => {
  const { collection } = mountedEvents;
  const older: Collection = {
    ...collection,
    columns: collection.columns.flatMap((column) => {
      if (["about", "planned", "receiver", "unconfirmed"].includes(column.name)) return [];
      if (column.name !== "kind") return [column];
      const kinds = ["create", "replace", "update", "delete", "action"];
      return [{ ...column, rule: { kind: "enumeration", type: "string", enum: kinds } }];
    }),
    indexes: [["subscriber", "failed", "due_at", "id"]],
  };
  const at = "2026-01-31T09:00:00.000Z";
  const values = {
    subscriber: "mail",
    resource: "notes",
    record: 1,
    record_uuid: null,
    kind: "create",
    action: null,
    deleted_with: null,
    at,
    attempts: 0,
    due_at: at,
    failed: false,
    error: null,
    cause: {},
  };
  for (const make of await sharedStores(t)) {
    const before = make();
    t.after(() => before.close());
    await before.open([older]);
    await before.write({ changes: [{ kind: "insert", collection: older, values }] });
    // Opens the same tables with the declaration of this version.
    const done: string[] = [];
    const deliver = (): void => void done.push("mail");
    const running = await run(t, () => undefined, {
      store: make(),
      subscribers: [{ name: "mail", to: [notes], deliver }],
    });
    const written = await before.write({ changes: [{ kind: "insert", collection: older, values }] });

    assert.equal(written.kind, "written");
    assert.deepEqual(
      (await waiting(running)).map((each) => [each["subscriber"], each["planned"], each["about"]]),
      [
        ["mail", false, null],
        ["mail", false, null],
      ],
    );
    await running.deliver();
    assert.deepEqual(done, ["mail", "mail"]);
    assert.deepEqual(await waiting(running), []);
  }
});

/** Returns one function for each database. Each call opens the database again. */
async function sharedStores(t: TestContext): Promise<readonly (() => Store)[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-jobs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const onSQLite = (): Store => sqliteStore({ path: path.join(folder, "a.db") });
  if (testsOnPostgres) return [onSQLite];
  const server = await startPostgres();
  t.after(() => server.stop());
  const url = new Secret(await server.makeDatabase());
  return [onSQLite, () => postgresStore({ url })];
}

test("refuses to start with a wrong worker, or with two workers of the same name", async () => {
  const events = outbox();
  const working = (name: string, worker: object): Feature =>
    defineFeature({
      name,
      needs: [events],
      setUp: (host) => ({ offer: host.use(events).worker(worker as Worker) }),
    });
  const run = (): void => undefined;

  await assert.rejects(
    createService({
      store: sqliteStore({ path: ":memory:" }),
      features: [
        events,
        working("a", { name: "mail", run }),
        working("b", { name: "mail", run }),
        working("c", { name: "No name", run }),
        working("d", { name: "other", rum: run }),
      ],
    }),
    (error: unknown) => {
      assert.ok(error instanceof DeclarationError);
      const all = error.mistakes.join("\n");
      assert.match(all, /feature b: the worker mail: the name is there twice; rename one/);
      assert.match(all, /feature c: .*it has to be lower-case words joined by hyphens/);
      assert.match(all, /feature d: the worker other: there is no option rum; did you mean run\?/);
      return true;
    },
  );
});
