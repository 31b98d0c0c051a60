import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { Secret } from "../src/crypto/secret.ts";
import {
  anyone,
  createService,
  dateTime,
  decimal,
  defineResource,
  integer,
  json,
  mount,
  text,
  type Service,
} from "../src/door/index.ts";
import { date, type Fields, type Mount } from "../src/door/resources.ts";
import {
  migratePostgres,
  migrateSQLite,
  planPostgres,
  planSQLite,
  postgresStore,
  sqliteStore,
  type MigratedTable,
  type MigrateOptions,
  type Plan,
  type Store,
} from "../src/door/stores.ts";
import { startPostgres, type TestServer } from "./postgres.ts";

// What somebody meant by a change of a declaration, and what becomes of it: each change alone, over HTTP, on both databases.

let server: TestServer;

before(async () => {
  server = await startPostgres();
});

after(() => server.stop());

/** A database, and what is done to it as a whole. */
interface Home {
  readonly engine: string;
  open(): Store;
  plan(mounted: Mount, dropped?: readonly string[]): Promise<Plan>;
  migrate(mounted: Mount, options?: Partial<MigrateOptions>): Promise<readonly MigratedTable[]>;
}

async function homes(t: TestContext): Promise<readonly Home[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-intents-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const address = await server.makeDatabase();
  t.after(() => server.dropDatabase(address));
  const [file, url] = [path.join(folder, "latchkey.db"), new Secret(address)];
  const program = "1.0.0";
  return [
    {
      engine: "sqlite",
      open: () => sqliteStore({ path: file }),
      plan: ({ collection }, dropped = []) => planSQLite(file, [collection], dropped),
      migrate: ({ collection }, options) => migrateSQLite(file, [collection], { program, ...options }),
    },
    {
      engine: "postgres",
      open: () => postgresStore({ url, poolSize: 2 }),
      plan: ({ collection }, dropped = []) => planPostgres(url, [collection], dropped),
      migrate: ({ collection }, options) => migratePostgres(url, [collection], { program, ...options }),
    },
  ];
}

function books(fields: Fields, more: object = {}): Mount {
  return mount(defineResource({ name: "book", fields, ...more }), { permission: anyone, arrays: true });
}

/** Does something with a service of this declaration. */
async function serving<T>(home: Home, mounted: Mount, task: (service: Service) => Promise<T>): Promise<T> {
  const service = await createService({ store: home.open(), mounts: [mounted], observe: null });
  try {
    return await task(service);
  } finally {
    await service.close();
  }
}

/** Makes records; gives the status of the answer. */
function create(home: Home, mounted: Mount, ...records: readonly object[]): Promise<number> {
  const body = JSON.stringify(records);
  const request = new Request("http://x/books", {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  });
  return serving(home, mounted, async (service) => (await service.fetch(request, { peer: null })).status);
}

function list(home: Home, mounted: Mount): Promise<unknown> {
  return serving(home, mounted, async (service) =>
    (await service.fetch(new Request("http://x/books?limit=1000"), { peer: null })).json(),
  );
}

const breakOff = (): never => {
  throw Object.assign(new RangeError("broken off"), { errcode: 5 });
};

test("a migration that was broken off goes on with no other SQL and no other values than it began with", async (t) => {
  for (const home of await homes(t)) {
    const rows = Array.from({ length: 700 }, (_, at) => ({ title: `t${at}` }));
    await create(home, books({ title: text() }), ...rows);
    const now = (sql: string, kept: object): Mount =>
      books({
        name: text({ renamedFrom: "title", convert: { sqlite: sql, postgres: sql } }),
        extra: json({ backfill: kept }),
      });

    await assert.rejects(home.migrate(now(`upper("title")`, { of: 1 }), { tell: breakOff }), /broken off/);
    const second = now(`"title" || '!'`, { of: 2 });
    await home.migrate(second);

    const kept = (await list(home, second)) as readonly { readonly name: string; readonly extra: unknown }[];
    assert.deepEqual(
      kept.map(({ name, extra }) => ({ name, extra })),
      rows.map(({ title }) => ({ name: `${title}!`, extra: { of: 2 } })),
      home.engine,
    );
  }
});

test("a column that was left from before takes the place of no field that is renamed to its name", async (t) => {
  for (const home of await homes(t)) {
    await create(home, books({ name: text(), title: text() }), { name: "of long ago", title: "of today" });
    const titled = books({ title: text() }, { removed: { name: "2999-01" } });
    await create(home, titled, { title: "second" });
    const renamed = books({ name: text({ renamedFrom: "title" }) });

    const { obstacles } = await home.plan(renamed);
    assert.match(obstacles.join(), /books\.name .*title.*left from before.*--allow-data-loss books\.name/, home.engine);
    await assert.rejects(home.migrate(renamed), /left from before/);
    await assert.rejects(list(home, renamed), /left from before/);
    await home.migrate(books({ title: text() }), { dropped: ["books.name"] });
    await home.migrate(renamed);

    assert.deepEqual(await list(home, renamed), [
      { id: 1, name: "of today" },
      { id: 2, name: "second" },
    ]);
  }
});

test("a text within JSON that has a NUL in it is no decimal and no date", async (t) => {
  for (const home of await homes(t)) {
    await create(
      home,
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
      const { obstacles } = await home.plan(books({ value: kind }));
      assert.ok(obstacles.join().includes(`do not fit (id ${wrong})`), `${home.engine}: ${obstacles.join()}`);
    }
  }
});

test("an amount that is removed is asked of nobody", async (t) => {
  for (const home of await homes(t)) {
    const price = decimal({ scale: 2, maximum: "100" });
    await create(home, books({ title: text(), price }), { title: "One", price: "1.00" });
    // Whatever a start adds to a table goes over all of its columns.
    await list(home, books({ title: text(), price, pages: integer({ default: 1 }) }));

    const status = await create(home, books({ title: text() }, { removed: { price: "2999-01" } }), { title: "Two" });

    assert.equal(status, 201, home.engine);
  }
});
