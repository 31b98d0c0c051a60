import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, createService, defineResource, integer, mount, Secret, text } from "../../src/door/index.ts";
import { MigrationNeeded, postgresStore, sqliteStore, type Store } from "../../src/door/stores.ts";
import { bothDatabases } from "../harness/both-databases.ts";
import { onBoth } from "../harness/existing.ts";
import { ownService } from "../harness/own-service.ts";

const fields = { user_id: integer(), project_id: integer({ optional: true }) };
const free = mount(defineResource({ name: "membership", fields }), { permission: anyone });
const unique = mount(defineResource({ name: "membership", fields, unique: [["user_id", "project_id"]] }), {
  permission: anyone,
});
type Members = typeof free;

/** Starts a service, creates these records, and stops the service. */
async function using(store: Store, mounted: Members, ...bodies: readonly object[]): Promise<readonly number[]> {
  const service = await createService({ store, mounts: [mounted], observe: null });
  try {
    const statuses: number[] = [];
    for (const body of bodies) {
      const [method, headers] = ["POST", { "content-type": "application/json" }];
      const request = new Request("http://127.0.0.1/memberships", { method, headers, body: JSON.stringify(body) });
      statuses.push((await service.fetch(request, { peer: "127.0.0.1" })).status);
    }
    return statuses;
  } finally {
    await service.close();
  }
}

onBoth("makes the index of a set at a start, also over rows", "SELECT 1", async (made) => {
  await using(made.makeStore(), free, { user_id: 1, project_id: 1 }, { user_id: 1 }, { user_id: 1 });

  const statuses = await using(made.makeStore(), unique, { user_id: 1, project_id: 1 }, { user_id: 1 });

  assert.deepEqual(statuses, [409, 201]);
});

onBoth(
  "makes a lost index again with the next change, and names equal rows that came in the meantime",
  "SELECT 1",
  async (made) => {
    await using(made.makeStore(), unique, { user_id: 1, project_id: 1 }, { user_id: 2, project_id: 2 }, { user_id: 3 });
    await made.sql('DROP INDEX "unique memberships(user_id, project_id)"');
    await made.sql(`INSERT INTO memberships (id, _revision, user_id, project_id) VALUES (8, 1, 2, 2), (9, 1, 3, NULL)`);

    const more = defineResource({
      name: "membership",
      fields: { ...fields, role: text({ optional: true }) },
      unique: [["user_id", "project_id"]],
    });
    const later = mount(more, { permission: anyone }) as unknown as Members;
    const refused = await using(made.makeStore(), later).then(null, (error: unknown) => error);
    await made.sql("DELETE FROM memberships WHERE id = 8");

    assert.ok(refused instanceof MigrationNeeded);
    assert.match(
      refused.message,
      /memberships \(user_id, project_id\) is a unique set, but some rows have the same values: 2 and 8 \(ids\)\. Change or delete all but one of each: SELECT/,
    );
    assert.deepEqual(await using(made.makeStore(), later, { user_id: 2, project_id: 2 }), [409]);
  },
);

onBoth("drops the index of a set that is no longer declared", "SELECT 1", async (made) => {
  await using(made.makeStore(), unique, { user_id: 1, project_id: 1 });

  assert.deepEqual(await using(made.makeStore(), free, { user_id: 1, project_id: 1 }), [201]);
});

onBoth(
  "refuses to start over rows that break a set, names some of them, and starts without them",
  "SELECT 1",
  async (made) => {
    const [one, other] = [
      { user_id: 1, project_id: 1 },
      { user_id: 2, project_id: 1 },
    ];
    await using(made.makeStore(), free, one, other, one, { user_id: 3 }, { user_id: 3 }, other, {
      user_id: 4,
      project_id: 4,
    });

    const refused = await using(made.makeStore(), unique).then(null, (error: unknown) => error);
    await made.sql("DELETE FROM memberships WHERE id IN (3, 6)");

    assert.ok(refused instanceof MigrationNeeded);
    assert.match(
      refused.message,
      /memberships \(user_id, project_id\) is a unique set, but some records have the same values\. Change or delete all but one of each\. 4 do not fit \(id 1, 2, 3, 6\)\./,
    );
    assert.deepEqual(await using(made.makeStore(), unique, one), [409]);
  },
);

onBoth("refuses equal records of an earlier process that knows no set", "SELECT 1", async (made) => {
  const before = await made.serve(free);
  await before.ask("POST", "/memberships", { body: { user_id: 1, project_id: 1 } });
  const now = await made.serve(unique);

  const refused = await now.ask("POST", "/memberships", { body: { user_id: 1, project_id: 1 } });
  const late = await before.ask("POST", "/memberships", { body: { user_id: 1, project_id: 1 } });

  assert.equal(refused.status, 409);
  assert.ok([409, 503].includes(late.status), String(late.status));
});

onBoth("keeps a set in tables with a prefix", "SELECT 1", async (made, t) => {
  const store =
    made.engine === "sqlite"
      ? sqliteStore({ path: made.url.replace("sqlite:", ""), tablePrefix: "lk_" })
      : postgresStore({ url: new Secret(made.url), tablePrefix: "lk_" });
  const { ask } = await ownService(t, { store, mounts: [unique] });
  await ask("POST", "/memberships", { body: { user_id: 1, project_id: 1 } });

  const { status, json } = await ask("POST", "/memberships", { body: { user_id: 1, project_id: 1 } });

  assert.deepEqual(
    [status, json.errors.map(({ pointer }: { pointer: string }) => pointer)],
    [409, ["/user_id", "/project_id"]],
  );
});

const databases = bothDatabases();

test("keeps a set whose columns are renamed, converted or new", async (t) => {
  const later = defineResource({
    name: "membership",
    fields: {
      person_id: integer({ renamedFrom: "user_id" }),
      project_id: text({ optional: true, convert: { sqlite: `'p' || "project_id"`, postgres: `'p' || "project_id"` } }),
      role: text({ default: "editor" }),
    },
    unique: [
      ["person_id", "project_id"],
      ["person_id", "project_id", "role"],
    ],
  });
  const { collection } = mount(later, { permission: anyone });
  for (const database of await databases(t)) {
    await using(database.open(), unique, { user_id: 1, project_id: 1 }, { user_id: 1, project_id: 2 });
    await database.migrate([collection]);

    const store = database.open();
    await store.open([collection]);
    const written = await store.write({
      changes: [{ kind: "insert", collection, values: { person_id: 1, project_id: "p2", role: "editor" } }],
    });
    await store.close();

    assert.equal(written.kind, "taken");
    assert.ok(written.kind === "taken" && written.columns?.join().startsWith("person_id,project_id"));
    assert.deepEqual(
      (await database.plan([collection])).tables.flatMap(({ changes }) => changes),
      [],
    );
  }
});

const halves = [
  ["SQL", { sqlite: `'p' || ("project_id" / 2)`, postgres: `'p' || ("project_id" / 2)` }],
  ["a function", (old: unknown): string => `p${Math.floor(Number(old) / 2)}`],
] as const;

for (const [how, convert] of halves)
  test(`migrates nothing if ${how} converts values so that they break a set`, async (t) => {
    for (const database of await databases(t)) {
      const halved = defineResource({
        name: "membership",
        fields: { user_id: integer(), project_id: text({ optional: true, convert }) },
        unique: [["user_id", "project_id"]],
      });
      const { collection } = mount(halved, { permission: anyone });
      await using(
        database.open(),
        unique,
        { user_id: 1, project_id: 2 },
        { user_id: 1, project_id: 3 },
        { user_id: 1 },
        { user_id: 1 },
      );

      const { obstacles } = await database.plan([collection]);
      await assert.rejects(database.migrate([collection]), MigrationNeeded);

      assert.match(
        obstacles.join(),
        /memberships \(user_id, project_id\) is a unique set.* do(?:es)? not fit \(id (?:1, )?2\)/,
      );
      assert.deepEqual(await using(database.open(), unique, { user_id: 1, project_id: 3 }), [409]);
    }
  });

test("plans no start at which the default of a new field breaks a set", async (t) => {
  const later = defineResource({
    name: "membership",
    fields: { ...fields, role: text({ default: "editor" }), note: text({ optional: true }) },
    unique: [
      ["user_id", "role"],
      ["user_id", "note"],
    ],
  });
  for (const database of await databases(t)) {
    await using(database.open(), free, { user_id: 1 }, { user_id: 1 }, { user_id: 2 });

    const { obstacles } = await database.plan([mount(later, { permission: anyone }).collection]);

    assert.equal(obstacles.length, 1);
    assert.match(obstacles[0]!, /memberships \(user_id, role\) is a unique set.* 2 do not fit \(id 1, 2\)/);
  }
});
