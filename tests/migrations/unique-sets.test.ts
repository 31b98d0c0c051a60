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
      project_id: text({
        maxLength: 50,
        optional: true,
        convert: { sqlite: `'p' || "project_id"`, postgres: `'p' || "project_id"` },
      }),
      role: text({ default: "editor" }),
    },
    filters: { project_id: ["eq"] },
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

for (const unique of [[], [["user_id", "kind"]]] as const)
  test(`renames a column beside a converted one, with ${unique.length} unique sets`, async (t) => {
    const declare = (user: string, more: object, project: object) =>
      mount(
        defineResource({
          name: "membership",
          fields: { [user]: integer(more), kind: integer({ default: 1 }), project_id: text(project) },
          filters: { kind: ["eq"] },
          unique: unique.map(([, kind]) => [user, kind]) as unknown as [],
        }),
        { permission: anyone },
      ).collection;
    const before = declare("user_id", {}, { optional: true });
    const convert = { sqlite: `'p' || "project_id"`, postgres: `'p' || "project_id"` };
    const later = declare("person_id", { renamedFrom: "user_id" }, { optional: true, convert });
    for (const database of await databases(t)) {
      const write = async (collection: typeof before, values: object) => {
        const store = database.open();
        await store.open([collection]);
        const { kind } = await store.write({ changes: [{ kind: "insert", collection, values: values as {} }] });
        await store.close();
        return kind;
      };
      await write(before, { user_id: 1, kind: 1, project_id: "1" });
      await database.migrate([later]);

      assert.equal(
        await write(later, { person_id: 1, kind: 1, project_id: "2" }),
        unique.length === 0 ? "written" : "taken",
      );
      const plan = await database.plan([later]);
      assert.deepEqual(
        plan.tables.flatMap(({ changes }) => changes),
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

      const ids = how === "SQL" ? "2 do not fit \\(id 1, 2\\)" : "1 does not fit \\(id 2\\)";
      assert.match(obstacles.join(), new RegExp(`memberships \\(user_id, project_id\\) is a unique set.* ${ids}`));
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

test("plans a start whose sets and unique fields the converted values keep", async (t) => {
  const twice = (old: unknown): string => `p${Math.floor(Number(old) / 2)}`;
  const fail = (): string => {
    throw new Error("There is no such project.");
  };
  const sql = `'u' || "user_id"`;
  const later = (role: object, ...unique: readonly (readonly string[])[]) =>
    mount(
      defineResource({
        name: "membership",
        fields: {
          user_id: text({ default: "u", convert: { sqlite: sql, postgres: sql } }),
          project_id: text({ optional: true, convert: twice }),
          role: text(role),
          note: text({ optional: true }),
        },
        unique: unique as [["user_id", "project_id"]],
      }),
      { permission: anyone },
    ).collection;
  for (const database of await databases(t)) {
    await using(database.open(), free, { user_id: 1, project_id: 2 }, { user_id: 2, project_id: 3 });
    const obstaclesOf = async (...args: Parameters<typeof later>) =>
      (await database.plan([later(...args)])).obstacles.map((each) => each.replace(/ (?:is|has) .*/, ""));

    assert.deepEqual(await obstaclesOf({ default: "editor" }, ["user_id", "project_id"]), []);
    assert.deepEqual(await obstaclesOf({ default: "editor" }, ["project_id", "note"]), []);
    const failing = defineResource({
      name: "membership",
      fields: { user_id: integer(), project_id: text({ optional: true, convert: fail }) },
    });
    const { obstacles } = await database.plan([mount(failing, { permission: anyone }).collection]);
    assert.match(obstacles.join(), /^memberships\.project_id .*no such project/);
    assert.deepEqual(await obstaclesOf({ default: "editor" }, ["project_id", "role"]), [
      "memberships (project_id, role)",
    ]);
  }
});

test("plans the check of a new set beside a known one, and of no set if a value is missing", async (t) => {
  const declare = (more: object, ...unique: readonly (readonly string[])[]) =>
    mount(
      defineResource({
        name: "membership",
        fields: { ...fields, ...more },
        unique: unique as [["user_id", "project_id"]],
      }),
      {
        permission: anyone,
      },
    );
  const kind = { kind: integer({ default: 1 }) };
  const known = declare(kind, ["user_id", "project_id"]);
  for (const database of await databases(t)) {
    await using(database.open(), known, { user_id: 1, project_id: 1 }, { user_id: 1 });
    const obstaclesOf = async (mounted: ReturnType<typeof declare>) =>
      (await database.plan([mounted.collection])).obstacles;

    const added = await obstaclesOf(declare(kind, ["user_id", "project_id"], ["user_id", "kind"]));
    const missing = await obstaclesOf(
      declare({ ...kind, project_id: integer() }, ["user_id", "project_id"], ["user_id", "kind"]),
    );

    assert.equal(added.length, 1);
    assert.match(added[0]!, /memberships \(user_id, kind\) is a unique set.* 2 do not fit \(id 1, 2\)/);
    assert.equal(missing.length, 1);
    assert.match(missing[0]!, /project_id/);
  }
});

test("names equal values of a field that a lost unique index has let in", async (t) => {
  const declare = (more: object) =>
    mount(defineResource({ name: "membership", fields: { ...fields, user_id: integer({ unique: true }), ...more } }), {
      permission: anyone,
    }) as unknown as Members;
  for (const database of await databases(t)) {
    await using(database.open(), declare({}), { user_id: 1 });
    await database.run('DROP INDEX "unique memberships(user_id)"');
    await database.run("INSERT INTO memberships (id, _revision, user_id) VALUES (8, 1, 1)");

    const later = declare({ role: text({ optional: true }) });
    await assert.rejects(
      using(database.open(), later),
      /memberships\.user_id is declared unique, but some values exist more than once/,
    );
  }
});
