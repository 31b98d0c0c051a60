import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import {
  administrator,
  createService,
  decimal,
  defineResource,
  enumeration,
  integer,
  json,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import { array, defineField, uuid, type Kind, type Mount } from "../../src/door/resources.ts";
import {
  MigrationNeeded,
  type Collection,
  type MigratedTable,
  type MigrateOptions,
  type Plan,
  type StoredRecord,
} from "../../src/door/stores.ts";
import { bothDatabases, type TestDatabase } from "../harness/both-databases.ts";

const databases = bothDatabases();

function books(fields: Parameters<typeof defineResource>[0]["fields"], more: object = {}): Mount {
  return mount(defineResource({ name: "book", fields, ...more }), { permission: administrator });
}

/** Starts a service with these mounts, and runs a task with the rows of the last mount. */
async function using<T>(
  database: TestDatabase,
  mounts: readonly Mount[],
  task: (rows: { insert(values: StoredRecord): Promise<unknown>; all(): Promise<readonly unknown[]> }) => Promise<T>,
): Promise<T> {
  const service = await createService({ store: database.open(), mounts, observe: null });
  const { collection } = service.mounts.at(-1)!;
  try {
    return await task({
      insert: (values) => service.store.write({ changes: [{ kind: "insert", collection, values }] }),
      all: async () =>
        (await service.store.list({ collection, where: null, sort: [{ column: "id" }], limit: 100 })).map(
          ({ record }) => record,
        ),
    });
  } finally {
    await service.close();
  }
}

/** A custom kind. */
const phone: Kind<string> = {
  name: "phone",
  parse: String,
  parseText: String,
  schema: { type: "string" },
  column: { type: "text" },
};

const titled = { title: text({ maxLength: 200 }), pages: integer() };

async function planted(database: TestDatabase, mounted: Mount, ...rows: readonly StoredRecord[]): Promise<void> {
  await using(database, [mounted], async ({ insert }) => {
    for (const row of rows) await insert(row);
  });
}

const read = (database: TestDatabase, mounted: Mount): Promise<readonly unknown[]> =>
  using(database, [mounted], ({ all }) => all());

/** Leaves out the table of the service itself, which a start fills and these plans do not get. */
const withoutOwnTable = (found: Plan): Plan => ({
  ...found,
  remarks: found.remarks.filter((each) => !each.startsWith("tag_forms ")),
});

const plan = async (database: TestDatabase, { collection }: Mount): Promise<Plan> =>
  withoutOwnTable(await database.plan([collection]));

const migrate = (
  database: TestDatabase,
  { collection }: Mount,
  options?: Partial<MigrateOptions>,
): Promise<readonly MigratedTable[]> => database.migrate([collection], options);

test("reports a conversion that returns a promise, and changes nothing", async (t) => {
  for (const database of await databases(t)) {
    const old = books({ price: text() });
    await planted(database, old, { price: "7" });
    const failing = async (): Promise<never> => {
      throw new Error("nobody hears of it");
    };
    const fields = {
      price: integer({ convert: failing as unknown as () => number }),
      pages: integer({ backfill: failing as unknown as () => number }),
    };

    await assert.rejects(
      migrate(database, books(fields)),
      /books\.price .*convert gave a promise; it has to give its value at once[^]*books\.pages .*backfill gave a promise/,
    );

    assert.deepEqual(await read(database, old), [{ id: 1, price: "7" }]);
  }
});

test("converts no text to an integer that loses digits", async (t) => {
  const [old, now] = [books({ price: text() }), books({ price: integer() })];
  for (const database of await databases(t)) {
    await planted(database, old, { price: "9007199254740991" }, { price: "-9007199254740991" });
    for (const price of ["9007199254740992", "9007199254740993", "-9007199254740992", "9223372036854775807", "1e3"]) {
      await planted(database, old, { price });
      await assert.rejects(migrate(database, now), /books\.price/, price);
      await database.run(`DELETE FROM books WHERE price = '${price}'`);
    }

    await migrate(database, now);

    assert.deepEqual(
      (await read(database, now)).map((row) => (row as { price: number }).price),
      [9007199254740991, -9007199254740991],
    );
  }
});

test("refuses to change the kind of keys of a table with rows, and rebuilds an empty table at a start, as planned", async (t) => {
  for (const database of await databases(t)) {
    const [old, now] = [books(titled), books(titled, { id: "uuid" })];
    await planted(database, old);

    assert.match(
      (await plan(database, now)).obstacles.join(),
      /books: keys were \w+ and are declared text\. The table has no rows, so a start creates it again: start the service/,
    );
    assert.deepEqual(await read(database, now), []);
    assert.deepEqual((await plan(database, now)).obstacles, []);

    await planted(database, old, { title: "a", pages: 1 });
    assert.match(
      (await plan(database, now)).obstacles.join(),
      /The type of keys cannot be changed, because other tables refer to them/,
    );
  }
});

test("keeps data through a declared rename, conversion and backfill, and records these changes in the history", async (t) => {
  for (const database of await databases(t)) {
    const old = books({ ...titled, price: integer() });
    const now = books(
      {
        name: text({ maxLength: 200, renamedFrom: "title", unique: "case-insensitive" }),
        pages: text({ maxLength: 10 }),
        cents: decimal({
          scale: 2,
          maximum: "1000",
          renamedFrom: "price",
          convert: (euros) => `${Number(euros)}.50`,
        }),
        shelf: text({ maxLength: 10, backfill: ({ pages }) => (Number(pages) > 100 ? "big" : "small") }),
        state: enumeration(["new", "sold"], { backfill: "new" }),
      },
      { filters: { name: ["eq", "icontains"] }, sorts: ["shelf"], search: ["name"] },
    );
    await planted(database, old, { title: "Ünï", pages: 7, price: 12 }, { title: "Two", pages: 700, price: 3 });

    await assert.rejects(read(database, now), /books\.name .*latchkey db migrate/);
    const tables = await migrate(database, now);

    assert.deepEqual(await read(database, now), [
      { id: 1, name: "Ünï", pages: "7", cents: "12.50", shelf: "small", state: "new" },
      { id: 2, name: "Two", pages: "700", cents: "3.50", shelf: "big", state: "new" },
    ]);
    assert.equal(tables.length, 1);
    const { history, tables: left, obstacles } = await plan(database, now);
    assert.deepEqual([left, obstacles], [[], []]);
    assert.ok(
      history.some(({ words, program }) => words === "books.name: rename it from title" && program === "0.1.0"),
    );
    // A second migration does not convert the values again.
    await migrate(database, now);
    assert.deepEqual((await read(database, now))[0], {
      id: 1,
      name: "Ünï",
      pages: "7",
      cents: "12.50",
      shelf: "small",
      state: "new",
    });
    await using(database, [now], async ({ insert }) => {
      const taken = await insert({ name: "ÜNÏ", pages: "1", cents: "1", shelf: "x", state: "new" });
      assert.equal((taken as { kind: string }).kind, "taken");
    });
  }
});

test("splits one field into several, by name, by a conversion and in SQL", async (t) => {
  const named = { filters: { title: ["istarts"] } } as const;
  const split = books({
    first: text({ renamedFrom: "title", convert: (title) => String(title).split(" ")[0]! }),
    last: text({ renamedFrom: "title", convert: (title) => String(title).split(" ")[1]! }),
    whole: text({ renamedFrom: "title" }),
    again: text({ renamedFrom: "title", unique: "case-insensitive" }),
    loud: text({ renamedFrom: "title", convert: { sqlite: 'upper("title")', postgres: 'upper("title")' } }),
    pages: integer(),
  });
  for (const database of await databases(t)) {
    await planted(database, books(titled, named), { title: "Ada Byron", pages: 1 }, { title: "Jane Austen", pages: 2 });

    await migrate(database, split);

    assert.deepEqual(await read(database, split), [
      { id: 1, first: "Ada", last: "Byron", whole: "Ada Byron", again: "Ada Byron", loud: "ADA BYRON", pages: 1 },
      {
        id: 2,
        first: "Jane",
        last: "Austen",
        whole: "Jane Austen",
        again: "Jane Austen",
        loud: "JANE AUSTEN",
        pages: 2,
      },
    ]);
    assert.deepEqual((await plan(database, split)).tables, []);
  }
});

test("changes the revision only of records whose shown values change", async (t) => {
  for (const database of await databases(t)) {
    await planted(database, books(titled), { title: "1", pages: 7 }, { title: "2", pages: 8 });
    const before = await revisions(database, books(titled));
    const added = books({ ...titled, note: text({ optional: true }) }, { filters: { pages: ["eq"] } });
    await migrate(database, added);
    const same = await revisions(database, added);
    const renamed = books({ name: text({ maxLength: 200, renamedFrom: "title" }), pages: integer() });
    await migrate(database, renamed);
    const next = await revisions(database, renamed);
    const converted = books({ name: text({ maxLength: 200 }), pages: text({ maxLength: 9 }) });
    await migrate(database, converted);
    const last = await revisions(database, converted);
    await planted(database, converted, { name: "3", pages: "9" });

    assert.deepEqual(same, before);
    const all = await revisions(database, converted);
    assert.ok(Math.min(...next) > Math.max(...before), `${String(before)} ${String(next)}`);
    assert.ok(Math.min(...last) > Math.max(...next), `${String(next)} ${String(last)}`);
    assert.deepEqual(all.slice(0, 2), last);
    assert.ok(all[2]! > Math.max(...last));
  }
});

async function revisions(database: TestDatabase, { collection }: Mount): Promise<readonly number[]> {
  const store = database.open();
  await store.open([collection]);
  const rows = await store.list({ collection, where: null, sort: [{ column: "id" }], limit: 100 });
  await store.close();
  return rows.map(({ revision }) => revision);
}

test("asks whether a new column replaces a removed one of the same type, and changes nothing before the answer", async (t) => {
  for (const database of await databases(t)) {
    await planted(database, books({ ...titled, note: text({ optional: true }) }), {
      title: "One",
      pages: 1,
      note: "mine",
    });
    const now = books({ ...titled, remark: text({ optional: true }) });
    const removed = books({ ...titled, remark: text({ optional: true }) }, { removed: { note: "2999-01" } });

    await assert.rejects(
      read(database, now),
      /books\.note is no longer declared.*renamedFrom: "note".*removed: \{ note: /,
    );
    await assert.rejects(migrate(database, now), /renamedFrom: "note"/);
    const { renames } = await plan(database, now);
    assert.deepEqual(renames, [{ table: "books", from: "note", to: "remark" }]);
    await database.tryOut([removed.collection]);
    await migrate(database, books({ ...titled, remark: text({ optional: true, renamedFrom: "note" }) }));

    assert.deepEqual(await read(database, now), [{ id: 1, title: "One", pages: 1, remark: "mine" }]);
  }
});

test("refuses a removed column as the origin of another field", () => {
  const remark = text({ optional: true, renamedFrom: "note" });

  assert.throws(
    () => books({ ...titled, remark }, { removed: { note: "2999-01" } }),
    /field remark: note is in removed.*; leave renamedFrom out, or take note out of removed/,
  );
});

test("hides a removed column, and keeps it even after its month has passed, until a migration drops it by name", async (t) => {
  for (const database of await databases(t)) {
    const old = books({ ...titled, note: text({ maxLength: 10 }) });
    await planted(database, old, { title: "One", pages: 1, note: "mine" });
    const stays = books(titled, { removed: { note: "2999-01" } });
    const due = books(titled, { removed: { note: "2020-01" } });

    await using(database, [stays], async ({ insert }) => {
      assert.equal(((await insert({ title: "Two", pages: 2 })) as { kind: string }).kind, "written");
    });
    assert.deepEqual((await plan(database, stays)).remarks, [
      "books.note is removed. Its values stay, hidden, until 2999-01.",
    ]);
    const { remarks } = await plan(database, due);
    assert.match(remarks[0]!, /were to be kept until 2020-01\. --allow-data-loss books\.note/);
    await migrate(database, due);
    const again = books({ ...titled, note: text({ maxLength: 10, optional: true }) });
    assert.deepEqual(await read(database, again), [
      { id: 1, title: "One", pages: 1, note: "mine" },
      { id: 2, title: "Two", pages: 2, note: null },
    ]);
    await assert.rejects(migrate(database, due, { dropped: ["books.title"] }), /books\.title cannot be removed/);
    await migrate(database, due, { dropped: ["books.note"] });

    assert.deepEqual(await read(database, again), [
      { id: 1, title: "One", pages: 1, note: null },
      { id: 2, title: "Two", pages: 2, note: null },
    ]);
  }
});

test("lets an old version keep running only if the new field accepts all words of the old enumeration", async (t) => {
  const old = books({ state: enumeration(["draft", "sold"]) });
  for (const [now, alone] of [
    [text({ minLength: 1, maxLength: 5 }), []],
    [text({ maxLength: 4 }), ["it writes values that do not fit"]],
    [enumeration(["new", "sold", "draft"]), []],
    [enumeration(["new", "sold"]), ["it writes values that do not fit"]],
  ] as const)
    for (const database of await databases(t)) {
      await planted(database, old, { state: "sold" });

      const { tables } = await plan(database, books({ state: now }));

      const reasons = tables.flatMap(({ changes }) => changes.flatMap((change) => change.alone ?? []));
      assert.deepEqual(reasons, alone, database.engine);
    }
});

test("counts and names rows that are no longer valid, also at the start, and converts them", async (t) => {
  for (const database of await databases(t)) {
    const states = ["draft", "sold", "new"] as const;
    const old = books({
      title: text({ maxLength: 50 }),
      state: enumeration(states),
      pages: integer({ optional: true }),
    });
    await planted(
      database,
      old,
      { title: "a long title", state: "draft", pages: 1 },
      { title: "short", state: "sold", pages: null },
      { title: "short", state: "draft", pages: 3 },
    );
    const narrow = books({
      title: text({ maxLength: 5, unique: true }),
      state: enumeration(["sold", "new"]),
      pages: integer(),
    });

    await assert.rejects(read(database, narrow), (error: Error) => {
      assert.match(error.message, /books\.pages is not optional.*1 does not fit \(id 2\)/);
      return true;
    });
    const shorter = books({
      title: text({ maxLength: 5 }),
      state: enumeration(["sold", "new"]),
      pages: integer({ optional: true }),
    });
    const { obstacles } = await plan(database, shorter);
    assert.match(obstacles.join("\n"), /books\.title has values .* 1 does not fit \(id 1\)/);
    assert.match(obstacles.join("\n"), /books\.state has values .* 2 do not fit \(id 1, 3\)/);

    const mended = books({
      title: text({ maxLength: 50, unique: true, convert: (old) => old as string }),
      state: enumeration(["sold", "new"], { convert: () => "new" as const }),
      pages: integer({ backfill: 0 }),
    });
    await assert.rejects(migrate(database, mended), /books\.title is unique.*id 2, 3/);
    const good = books({
      title: text({ maxLength: 50 }),
      state: enumeration(["sold", "new"], { convert: () => "new" as const }),
      pages: integer({ backfill: 0 }),
    });
    await migrate(database, good);

    assert.deepEqual(await read(database, good), [
      { id: 1, title: "a long title", state: "new", pages: 1 },
      { id: 2, title: "short", state: "sold", pages: 0 },
      { id: 3, title: "short", state: "new", pages: 3 },
    ]);
  }
});

test("checks the rows if a decimal gets smaller limits, and if a text may no longer have several lines", async (t) => {
  const wide = { price: decimal({ scale: 2, maximum: "100" }), note: text({ multiline: true }) };
  const narrow = books({ price: decimal({ scale: 2, minimum: "1", maximum: "10" }), note: text() });
  const wider = books({ price: decimal({ scale: 2, minimum: "-5", maximum: "500" }), note: text({ multiline: true }) });
  for (const database of await databases(t)) {
    await planted(
      database,
      books(wide),
      { price: "12.00", note: "a" },
      { price: "0.50", note: "b" },
      { price: "2.00", note: "c\nd" },
    );

    const { obstacles } = await plan(database, narrow);

    assert.deepEqual(
      obstacles.map((each) => each.replace(/ has values.*(?=\(id)/, " ")),
      ["books.price (id 1, 2).", "books.note (id 3)."],
    );
    await assert.rejects(read(database, narrow), MigrationNeeded);
    assert.deepEqual((await plan(database, wider)).tables, []);
    assert.equal((await read(database, wider)).length, 3);
  }
});

test("checks the rows if JSON, a relation, the items of a list, or blanks around a text get a stricter rule", async (t) => {
  const id = "0198C5D8-7A4C-7B1F-9D0E-3F2A61C4B7E5";
  const loose = {
    tags: json(),
    codes: array(text()),
    lines: array(text({ multiline: true })),
    prices: array(decimal({ scale: 2, maximum: "100" })),
    note: text({ trim: false }),
    phone: defineField(phone, {}),
    book_id: reference("books", { optional: true }),
  };
  const strict = {
    tags: array(text({ maxLength: 5 })),
    codes: array(uuid()),
    lines: array(text()),
    prices: array(decimal({ scale: 2, maximum: "10" })),
    note: text(),
    phone: text({ maxLength: 5 }),
    book_id: integer({ minimum: 2, optional: true }),
  };
  const good = {
    tags: ["a"],
    codes: [id.toLowerCase()],
    lines: ["a"],
    prices: ["1.50"],
    note: "a",
    phone: "12",
    book_id: null,
  };
  const wrong = {
    tags: { a: 1 },
    codes: [id],
    lines: ["a\nb"],
    prices: ["12.00"],
    note: " a",
    phone: "123456",
    book_id: 1,
  };
  for (const database of await databases(t)) {
    await planted(
      database,
      books(loose),
      good,
      ...Object.entries(wrong).map(([name, value]) => ({ ...good, [name]: value })),
    );

    const { obstacles } = await plan(database, books(strict));

    assert.deepEqual(
      obstacles.map((each) => each.replace(/ has values.*(?=\(id)/, " ")),
      Object.keys(wrong).map((name, at) => `books.${name} (id ${at + 2}).`),
    );
    await assert.rejects(read(database, books(strict)), MigrationNeeded);
    assert.equal((await read(database, books(loose))).length, 8);
  }
});

test("checks no rows if the items of a list may be longer, and if a list becomes JSON", async (t) => {
  const was = { tags: array(text({ maxLength: 5 })), codes: array(text({ maxLength: 5 })), note: text() };
  const is = { tags: array(text({ maxLength: 9, multiline: true })), codes: json(), note: text({ trim: false }) };
  for (const database of await databases(t)) {
    await planted(database, books(was), { tags: ["a"], codes: ["b"], note: "c" });

    assert.deepEqual((await plan(database, books(is))).tables, []);
  }
});

test("does everything on a copy in a dry run, and leaves no remains", async (t) => {
  for (const database of await databases(t)) {
    const old = books({ ...titled, owner_id: reference("books", { optional: true }) });
    await planted(database, old, { title: "1", pages: 7, owner_id: null }, { title: "2", pages: 8, owner_id: 1 });
    const now = books({
      name: integer({ renamedFrom: "title" }),
      pages: integer(),
      owner_id: reference("books", { optional: true }),
    });

    const tables = await database.tryOut([now.collection]);

    assert.deepEqual(
      tables.map(({ table, rows }) => [table, rows]),
      [["books", 2]],
    );
    assert.deepEqual(await read(database, old), [
      { id: 1, title: "1", pages: 7, owner_id: null },
      { id: 2, title: "2", pages: 8, owner_id: 1 },
    ]);
    if (database.place.kind === "sqlite")
      assert.deepEqual(
        readdirSync(path.dirname(database.place.path)).filter(
          (name) => name.includes("try") || name.includes("migrating"),
        ),
        [],
      );
  }
});

test("copies a sample of the rows in a dry run on PostgreSQL, although they refer to each other in any order", async (t) => {
  const [, database] = await databases(t);
  const fields = { pages: integer(), owner_id: reference("books", { optional: true }) };
  const old = books({ ...titled, ...fields });
  await planted(database, old);
  await database.run(
    `INSERT INTO books (id, _revision, title, pages, owner_id) SELECT n, n, '1', n, CASE WHEN n % 3 = 0 THEN 10002 - n % 7 END FROM generate_series(1, 10002) AS n`,
  );
  const now = books({ ...fields, title: integer() });

  const [tried] = await database.tryOut([now.collection]);

  assert.ok(tried!.rows > 6000 && tried!.rows < 10_000, String(tried!.rows));
});

test("asks no question about an older column that is no longer declared, in a dry run and in the migration", async (t) => {
  for (const database of await databases(t)) {
    await planted(database, books({ ...titled, blurb: text({ optional: true }) }), {
      title: "1",
      pages: 7,
      blurb: "x",
    });
    await read(database, books(titled));
    const now = books({ ...titled, notes: text({ optional: true }), pages: text() });

    assert.equal((await database.tryOut([now.collection]))[0]!.rows, 1);
    await migrate(database, now);
    assert.deepEqual(await read(database, now), [{ id: 1, title: "1", pages: "7", notes: null }]);
  }
});

test("creates all tables of an empty PostgreSQL in a dry run, and leaves it empty", async (t) => {
  const [, database] = await databases(t);
  const shelves: Collection = { name: "shelves", key: "integer", columns: [{ name: "label", type: "text" }] };

  await database.tryOut([shelves]);

  assert.deepEqual(await database.ask("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"), []);
  assert.deepEqual(await database.ask("SELECT FROM pg_namespace WHERE nspname ILIKE 'latchkey%'"), []);
});

test("refuses a second migration at the same time, and a migration by a program that is older than the program of the last migration", async (t) => {
  for (const database of await databases(t)) {
    await planted(database, books(titled), { title: "1", pages: 7 });
    const now = books({ title: text({ maxLength: 200 }), pages: text({ maxLength: 9 }) });

    const both = await Promise.allSettled([migrate(database, now), migrate(database, now)]);

    const refused = both.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    assert.equal(refused.length, 1, JSON.stringify(both));
    assert.match(String(refused[0]!.reason), /Another process is migrating/);
    assert.deepEqual(await read(database, now), [{ id: 1, title: "1", pages: "7" }]);
    await migrate(database, books(titled), { program: "9.0.0" });
    await assert.rejects(migrate(database, now), /migrated by version 9\.0\.0 .* but this is version 0\.1\.0/);
    if (database.place.kind === "sqlite") assert.ok(!existsSync(`${database.place.path}.migrating`));
  }
});

test("resumes an interrupted migration on PostgreSQL after the finished rows, also if it is the first migration", async (t) => {
  const [, database] = await databases(t);
  const rows = Array.from({ length: 1200 }, (_, at) => ({ title: "t", pages: at }));
  await planted(database, books(titled), ...rows);
  const now = books({ title: text({ maxLength: 200 }), pages: text({ maxLength: 9 }) });
  const done: number[] = [];
  const breakOff = (): never => {
    throw new RangeError("broken off");
  };

  await assert.rejects(migrate(database, now, { report: breakOff }), /broken off/);
  await migrate(database, now, { report: (_, count) => void done.push(count) });

  // The interrupted migration has already converted the first 500 rows.
  assert.ok(done[0]! > 500, done.join());
  assert.equal(done.at(-1), 1200);
});

test("deletes the unfinished work of a migration when the declaration changes again", async (t) => {
  for (const database of await databases(t)) {
    const rows = Array.from({ length: 600 }, (_, at) => ({ title: "1", pages: at }));
    await planted(database, books(titled), ...rows);
    const first = books({ title: integer(), pages: integer() });
    const second = books({ title: text({ maxLength: 200 }), pages: text({ maxLength: 9 }) });
    const breakOff = (): never => {
      throw Object.assign(new Error("broken off"), { errcode: 5 });
    };

    await assert.rejects(migrate(database, first, { report: breakOff }), /broken off/);
    assert.notDeepEqual(await begunIn(database), []);
    await migrate(database, books(titled));
    const reverted = await begunIn(database);
    await assert.rejects(migrate(database, first, { report: breakOff }), /broken off/);
    await migrate(database, second);

    assert.deepEqual([reverted, await begunIn(database)], [[], []], database.engine);
    assert.deepEqual((await read(database, second))[7], { id: 8, title: "1", pages: "7" });
  }
});

/** Returns the tables, columns and triggers that a migration has created for itself. */
async function begunIn(database: TestDatabase): Promise<readonly unknown[]> {
  return database.ask(
    database.engine === "sqlite"
      ? "SELECT name FROM sqlite_schema WHERE name LIKE '%moved%' OR name LIKE '%next' UNION ALL SELECT collection FROM latchkey_unfinished"
      : `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'books'::regclass AND attname LIKE '\\_\\_next\\_%' AND NOT attisdropped
         UNION ALL SELECT tgname FROM pg_trigger WHERE tgname LIKE '%moved%' UNION ALL SELECT relname FROM pg_class WHERE relname LIKE '%\\_moved'
         UNION ALL SELECT collection FROM latchkey_unfinished`,
  );
}

test("renames the constraint of a renamed reference on PostgreSQL, so that another field may use the old name", async (t) => {
  const [, database] = await databases(t);
  const fields = { pages: integer(), owner_id: reference("books", { optional: true }) };
  await planted(database, books({ ...titled, ...fields }), { title: "1", pages: 7, owner_id: null });
  const renamed = reference("books", { optional: true, renamedFrom: "owner_id" });
  await migrate(database, books({ ...titled, pages: integer(), keeper_id: renamed }));

  await read(database, books({ ...titled, ...fields, keeper_id: reference("books", { optional: true }) }));

  const found = await database.ask("SELECT conname, convalidated FROM pg_constraint WHERE contype = 'f' ORDER BY 1");
  assert.deepEqual(found, [
    { conname: "reference books(keeper_id)", convalidated: true },
    { conname: "reference books(owner_id)", convalidated: true },
  ]);
});

test("reports rows that refer to missing rows before any change, in a plan and at a start", async (t) => {
  for (const database of await databases(t)) {
    const fields = { title: text({ maxLength: 200 }), pages: integer(), owner_id: integer({ optional: true }) };
    const rows = [1, 2, 3].map((at) => ({ title: "1", pages: at, owner_id: at === 1 ? null : at + 1 }));
    await planted(database, books(fields), ...rows);
    const renamed = reference("books", { optional: true, renamedFrom: "owner_id" });
    const now = books({ ...titled, boss_id: renamed });

    const { obstacles } = await plan(database, now);

    assert.match(
      obstacles.join("\n"),
      /^books\.boss_id refers to missing rows of books\. .* 1 does not fit \(id 3\)\.$/,
    );
    await assert.rejects(migrate(database, now), /books\.boss_id refers to missing rows of books/);
    const added = books({ ...titled, owner_id: reference("books", { optional: true }) });
    await assert.rejects(read(database, added), /books\.owner_id refers to missing rows of books.*id 3/);
  }
});
