import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyone,
  createService,
  dateTime,
  decimal,
  defineResource,
  integer,
  json,
  mount,
  reference,
  text,
  type Service,
} from "../../src/door/index.ts";
import type { Observer } from "../../src/door/ops.ts";
import { date, references, type Fields, type Mount } from "../../src/door/resources.ts";
import type { Collection, MigrateOptions, Plan } from "../../src/door/stores.ts";
import { bothDatabases, type TestDatabase } from "../harness/both-databases.ts";

// Each test changes a declaration in one way, and checks the migrated records over HTTP, on both databases.

const databases = bothDatabases();

type Mounts = Mount | readonly Mount[];

const listCollections = (mounts: Mounts): readonly Collection[] =>
  [mounts].flat().flatMap(({ collection, links }) => [collection, ...links.map((link) => link.collection)]);

/** Leaves out the table of the service itself, which a start fills and these plans do not get. */
const withoutOwnTable = (found: Plan): Plan => ({
  ...found,
  remarks: found.remarks.filter((each) => !each.startsWith("tag_forms ")),
});

const plan = async (database: TestDatabase, mounts: Mounts): Promise<Plan> =>
  withoutOwnTable(await database.plan(listCollections(mounts)));

const migrate = (database: TestDatabase, mounts: Mounts, options?: Partial<MigrateOptions>): Promise<unknown> =>
  database.migrate(listCollections(mounts), options);

function books(fields: Fields, more: object = {}): Mount {
  return mount(defineResource({ name: "book", fields, ...more }), { permission: anyone, arrays: true });
}

/** Runs a task with a service of these mounts. */
async function serving<T>(
  database: TestDatabase,
  mounts: Mounts,
  task: (service: Service) => Promise<T>,
  observe: Observer | null = null,
): Promise<T> {
  const service = await createService({ store: database.open(), mounts: [mounts].flat(), observe });
  try {
    return await task(service);
  } finally {
    await service.close();
  }
}

/** Creates records. Returns the status of the response. */
function create(database: TestDatabase, mounts: Mounts, ...records: readonly object[]): Promise<number> {
  const body = JSON.stringify(records);
  const request = new Request("http://x/books", {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  });
  return serving(database, mounts, async (service) => (await service.fetch(request, { peer: null })).status);
}

function list(database: TestDatabase, mounts: Mounts): Promise<unknown> {
  return serving(database, mounts, async (service) =>
    (await service.fetch(new Request("http://x/books?limit=1000"), { peer: null })).json(),
  );
}

const breakOff = (): never => {
  throw Object.assign(new RangeError("broken off"), { errcode: 5 });
};

test("starts an interrupted migration again with the new SQL and the new values if the declaration has changed", async (t) => {
  for (const database of await databases(t)) {
    const rows = Array.from({ length: 700 }, (_, at) => ({ title: `t${at}` }));
    await create(database, books({ title: text() }), ...rows);
    const now = (sql: string, fillValue: object): Mount =>
      books({
        name: text({ renamedFrom: "title", convert: { sqlite: sql, postgres: sql } }),
        extra: json({ backfill: fillValue }),
      });

    await assert.rejects(migrate(database, now(`upper("title")`, { of: 1 }), { report: breakOff }), /broken off/);
    const second = now(`"title" || '!'`, { of: 2 });
    await migrate(database, second);

    const storedBooks = (await list(database, second)) as readonly { readonly name: string; readonly extra: unknown }[];
    assert.deepEqual(
      storedBooks.map(({ name, extra }) => ({ name, extra })),
      rows.map(({ title }) => ({ name: `${title}!`, extra: { of: 2 } })),
      database.engine,
    );
  }
});

test("refuses to rename a field if an old column has the new name", async (t) => {
  for (const database of await databases(t)) {
    await create(database, books({ name: text(), title: text() }), { name: "of long ago", title: "of today" });
    const titled = books({ title: text() }, { removed: { name: "2999-01" } });
    await create(database, titled, { title: "second" });
    const renamed = books({ name: text({ renamedFrom: "title" }) });

    const { obstacles } = await plan(database, renamed);
    assert.match(obstacles.join(), /books\.name .*title.*is left\..*--allow-data-loss books\.name/, database.engine);
    await assert.rejects(migrate(database, renamed), /an old column of that name is left/);
    await assert.rejects(list(database, renamed), /an old column of that name is left/);
    await migrate(database, books({ title: text() }), { dropped: ["books.name"] });
    await migrate(database, renamed);

    assert.deepEqual(await list(database, renamed), [
      { id: 1, name: "of today" },
      { id: 2, name: "second" },
    ]);
  }
});

test("does not convert a text in JSON with a NUL to a decimal or a date", async (t) => {
  for (const database of await databases(t)) {
    await create(
      database,
      books({ value: json() }),
      ...["1.5\0junk", "1.5\0", "2026-01-31\0", "2026-01-31T00:00:00.000Z\0", "\\u0000", "1.50"].map((value) => ({
        value,
      })),
    );

    for (const [kind, wrong] of [
      [decimal({ scale: 2, maximum: "10" }), "1, 2, 3, 4, 5"],
      [date(), "1, 2, 3, 4, 5, …"],
      [dateTime(), "1, 2, 3, 4, 5, …"],
    ] as const) {
      const { obstacles } = await plan(database, books({ value: kind }));
      assert.ok(obstacles.join().includes(`do not fit (id ${wrong})`), `${database.engine}: ${obstacles.join()}`);
    }
  }
});

test("counts the rows that share a value if a column becomes unique", async (t) => {
  for (const database of await databases(t)) {
    await create(database, books({ name: text() }), ...["a", "a", "a", "b", "b", "c"].map((name) => ({ name })));

    const { obstacles } = await plan(database, books({ name: text({ unique: true }) }));

    assert.ok(obstacles.join().includes("5 do not fit (id 1, 2, 3, 4, 5)."), `${database.engine}: ${obstacles.join()}`);
  }
});

test("starts without a question if the declaration removes a decimal", async (t) => {
  for (const database of await databases(t)) {
    const price = decimal({ scale: 2, maximum: "100" });
    await create(database, books({ title: text(), price }), { title: "One", price: "1.00" });
    // A start that adds a field stores the types of all columns of the table again.
    await list(database, books({ title: text(), price, pages: integer({ default: 1 }) }));

    const status = await create(database, books({ title: text() }, { removed: { price: "2999-01" } }), {
      title: "Two",
    });

    assert.equal(status, 201, database.engine);
  }
});

const tags = defineResource({ name: "tag", fields: { label: text() } });
const labels = mount(tags, { permission: anyone, arrays: true });
const tagged = books(
  { title: text(), tags: references(tags, { default: [] }), first_id: reference(tags, { optional: true }) },
  { filters: { tags: ["eq"] } },
);

/** Creates four tags, and a book that names three of them. */
async function planted(database: TestDatabase): Promise<void> {
  await serving(database, [labels, tagged], async (service) => {
    const made = ["a", "b", "c", "d"].map((label) => ({ label }));
    assert.equal((await send(service, "POST", "/tags", made)).status, 201);
    assert.equal((await send(service, "POST", "/books", [{ title: "One", tags: [2, 1], first_id: 3 }])).status, 201);
  });
}

async function send(service: Service, method: string, target: string, body?: unknown): Promise<Response> {
  const sent =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  return service.fetch(new Request(`http://x${target}`, { method, ...sent }), { peer: null });
}

async function removals(
  database: TestDatabase,
  mounts: Mounts,
  ids: readonly number[],
  observe: Observer | null = null,
): Promise<readonly (readonly [number, string])[]> {
  const task = async (service: Service): Promise<readonly (readonly [number, string])[]> => {
    const answers: (readonly [number, string])[] = [];
    for (const id of ids) {
      const answer = await send(service, "DELETE", `/tags/${id}`);
      answers.push([
        answer.status,
        answer.status === 204 ? "" : ((await answer.json()) as { readonly detail: string }).detail,
      ]);
    }
    return answers;
  };
  return serving(database, mounts, task, observe);
}

test("allows clients to delete records that only a removed field refers to", async (t) => {
  for (const database of await databases(t)) {
    await planted(database);
    const bare = books({ title: text() }, { removed: { tags: "2999-01", first_id: "2999-01" } });

    const { tables, obstacles } = await plan(database, [labels, bare]);
    const changes = tables.flatMap((table) => table.changes);
    assert.deepEqual(
      changes.filter(({ words }) => /refer/.test(words)).map(({ place, alone }) => [place, alone]),
      [
        ["books.first_id", null],
        ["books_tags.tags", null],
      ],
      database.engine,
    );
    assert.deepEqual(obstacles, []);
    assert.deepEqual(
      await removals(database, [labels, bare], [3, 1]),
      [
        [204, ""],
        [204, ""],
      ],
      database.engine,
    );
    assert.deepEqual((await plan(database, [labels, bare])).tables, [], database.engine);
    await assert.rejects(list(database, [labels, tagged]), /books_tags\.tags|books\.first_id/);
    const again = books(
      { title: text(), tags: references(tags, { default: [] }) },
      { filters: { tags: ["eq"] }, removed: { first_id: "2999-01" } },
    );
    await database.run("DELETE FROM books_tags WHERE tags = 1; UPDATE books SET tags = '[2]'");
    const found = await serving(database, [labels, again], async (service) =>
      (await send(service, "GET", "/books?tags=2")).json(),
    );
    assert.deepEqual(found, [{ id: 1, title: "One", tags: [2] }], database.engine);
  }
});

test("keeps an undeclared link table, and allows clients to delete the linked records after the field has another kind", async (t) => {
  for (const database of await databases(t)) {
    await planted(database);
    const first_id = reference(tags, { optional: true });
    const { collection } = tagged;
    const alone = { collection, links: [] } as const;

    assert.deepEqual((await plan(database, [labels, { ...tagged, ...alone }])).tables, [], database.engine);
    const anything = books({ title: text(), first_id, tags: json() });
    await migrate(database, [labels, anything]);

    assert.deepEqual(
      (await removals(database, [labels, anything], [1, 3])).map(([status]) => status),
      [204, 409],
      database.engine,
    );
  }
});

test("deletes the relations of a field with its column, and does not restore them for a new field of that name", async (t) => {
  for (const database of await databases(t)) {
    await planted(database);
    const bare = books({ title: text() });

    await migrate(database, [labels, bare], { dropped: ["books.tags", "books.first_id"] });
    assert.deepEqual(await removals(database, [labels, bare], [1]), [[204, ""]], database.engine);
    const again = books({ title: text(), tags: references(tags, { default: [] }) }, { filters: { tags: ["eq"] } });
    const found = await serving(database, [labels, again], async (service) =>
      Promise.all(["/books", "/books?tags=2"].map(async (target) => (await send(service, "GET", target)).json())),
    );

    assert.deepEqual(found, [[{ id: 1, title: "One", tags: [] }], []], database.engine);
  }
});

test("refuses to delete records that an undeclared table refers to, and reports the undeclared tables in a plan", async (t) => {
  for (const database of await databases(t)) {
    await planted(database);
    await database.run(
      "CREATE TABLE lent (pk integer PRIMARY KEY, tag bigint REFERENCES tags (id)); INSERT INTO lent VALUES (1, 4)",
    );

    const { remarks } = await plan(database, labels);
    assert.deepEqual(remarks, [
      "books is no longer declared, and has 1 row, which stays hidden. The table of a resource has the name of its plural.",
      "books_tags is no longer declared, and has 2 rows, which stay hidden. The table of a resource has the name of its plural.",
    ]);
    const logged: string[] = [];
    const answers = await removals(
      database,
      labels,
      [1, 3, 4],
      (event) => void (event.kind === "notice" && logged.push(event.message)),
    );
    // Names of tables without a resource are for the operator, not for callers.
    const refused = [409, "The record is still referenced by others."];
    assert.deepEqual(answers, [refused, refused, refused], database.engine);
    assert.deepEqual(
      logged.map((message) => /a record of tags is still referenced by the table (\w+),/.exec(message)?.[1]),
      ["books_tags", "books", "lent"],
      database.engine,
    );
  }
});
