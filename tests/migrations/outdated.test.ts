import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { Secret } from "../../src/core/crypto/secret.ts";
import type { Observation } from "../../src/core/observation.ts";
import { postgresStore, StoreUnavailable, type Change, type Collection, type Store } from "../../src/door/stores.ts";
import { bothDatabases } from "../harness/both-databases.ts";

// A process with old declarations stops writing when they no longer match the database.

const databases = bothDatabases();

const others: Collection = { name: "others", key: "integer", columns: [{ name: "name", type: "text" }] };
const old: Collection = {
  name: "things",
  key: "integer",
  columns: [
    { name: "title", type: "text" },
    { name: "price", type: "integer" },
  ],
};
const converted: Collection = {
  ...old,
  columns: [
    { name: "title", type: "text" },
    { name: "price", type: "text" },
  ],
};
const renamed: Collection = {
  ...old,
  columns: [
    { name: "name", type: "text", origin: { renamedFrom: "title" } },
    { name: "price", type: "integer" },
  ],
};
const added: Collection = { ...old, columns: [...old.columns, { name: "note", type: "text", nullable: true }] };
const narrowed: Collection = {
  ...old,
  columns: [
    { name: "title", type: "text", rule: { maxLength: 5 }, fits: (value) => String(value).length <= 5 },
    { name: "price", type: "integer" },
  ],
};
const wide: Collection = {
  ...old,
  columns: [
    { name: "title", type: "text", rule: { maxLength: 10 }, fits: (value) => String(value).length <= 10 },
    { name: "price", type: "integer" },
  ],
};

const row = { title: "one", price: 1 };
const insert = (collection: Collection): Change => ({ kind: "insert", collection, values: row });

/** The writes of an old program to a changed table. */
const writes: readonly (readonly Change[])[] = [
  [insert(old)],
  [insert(old), insert(old)],
  [
    { kind: "insert", collection: others, values: { name: "beside" } },
    { kind: "update", collection: old, key: 1, values: { price: 19 } },
  ],
  [{ kind: "update", collection: old, key: 1, values: { price: 19 } }],
  [{ kind: "updateAll", collection: old, where: { column: "price", operator: "eq", value: 1 }, values: { price: 19 } }],
  [{ kind: "deleteAll", collection: old, where: { column: "price", operator: "eq", value: 1 } }],
  [
    {
      kind: "require",
      name: "cheap",
      collection: old,
      where: { column: "price", operator: "lt", value: 5 },
      atLeast: 1,
    },
    { kind: "insert", collection: others, values: { name: "beside" } },
  ],
];

for (const [what, now] of [
  ["converted", converted],
  ["renamed", renamed],
] as const)
  test(`refuses writes of a process that started before a column was ${what}, with the reason`, async (t) => {
    for (const { engine, open, migrate } of await databases(t)) {
      const seen: Observation[] = [];
      const [before, today] = [open({ observe: (one) => seen.push(one) }), open()];
      await before.open([others, old]);
      await before.write({ changes: [insert(old)] });
      await migrate([others, now]);
      await today.open([others, now]);
      for (const changes of writes)
        await assert.rejects(
          before.write({ changes }),
          (error: unknown) =>
            error instanceof StoreUnavailable && /things.*another version of its declaration/.test(error.message),
          `${engine}: ${changes.map(({ kind }) => kind).join(", ")}`,
        );
      const idempotency = {
        key: "k",
        columns: ["id"],
        erasable: false,
        fingerprint: "f",
        now: "2026-01-01T00:00:00Z",
        expiresAt: "2026-01-02T00:00:00Z",
      };
      await assert.rejects(before.write({ changes: [insert(old)], idempotency }), StoreUnavailable);
      if (now === renamed)
        await assert.rejects(async () => before.find(old, 1), /things.*another version of its declaration/, engine);
      const list = { sort: [{ column: "id" }], where: null, limit: 10 } as const;
      assert.equal((await today.list({ collection: now, ...list })).length, 1, engine);
      assert.deepEqual(await today.list({ collection: others, ...list }), [], engine);

      const errorNotices = seen.filter((one) => one.kind === "notice" && one.level === "error");
      assert.deepEqual(
        errorNotices.map(
          (one) => one.kind === "notice" && /another version of its declaration/.test(String(one.error)),
        ),
        [true],
        engine,
      );
      const other: Change = { kind: "insert", collection: others, values: { name: "nobody is in its way" } };
      assert.equal((await before.write({ changes: [other] })).kind, "written");
      const title = now === renamed ? "name" : "title";
      const values = { [title]: "new", price: now === converted ? "2" : 2 };
      assert.equal((await today.write({ changes: [{ kind: "insert", collection: now, values }] })).kind, "written");
      await before.close();
      await today.close();
    }
  });

test("refuses reads of a process that would read a column by its old type, for example the decimal 12 as the integer 1200", async (t) => {
  for (const column of [
    { name: "price", type: "decimal", scale: 2 },
    { name: "price", type: "text" },
  ] as const)
    for (const { engine, open, migrate } of await databases(t)) {
      const seen: Observation[] = [];
      const [before, today] = [open({ observe: (one) => seen.push(one) }), open()];
      await before.open([others, old]);
      await before.write({ changes: [insert(old)] });
      const list = { collection: old, sort: [{ column: "id" }], where: null, limit: 10 } as const;
      const reads = [
        async () => before.find(old, 1),
        async () => before.findBy(old, "id", 1),
        async () => before.list(list),
        async () => before.listJSON(list),
        async () => before.listJSON({ ...list, long: true }),
      ];
      for (const read of reads) await read();
      const retyped: Collection = { ...old, columns: [old.columns[0]!, column] };
      await migrate([others, retyped]);

      for (const read of reads) await assert.rejects(read, /things.*another version of its declaration/, engine);
      assert.deepEqual(await before.list({ ...list, collection: others }), []);
      assert.equal(seen.filter((one) => one.kind === "notice" && one.level === "error").length, 1);
      await today.open([others, retyped]);
      assert.equal((await today.find(retyped, 1))?.record["price"], column.type === "text" ? "1" : "1.00");
      await before.close();
      await today.close();
    }
});

test("refuses reads after a refused write, also if the old type and the new type are stored the same way", async (t) => {
  const day: Collection = { ...others, columns: [{ name: "name", type: "date" }] };
  for (const { engine, open, migrate } of await databases(t)) {
    const before = open();
    await before.open([others]);
    const written: Change = { kind: "insert", collection: others, values: { name: "2026-01-31" } };
    await before.write({ changes: [written] });
    await before.find(others, 1);
    await migrate([day]);

    await assert.rejects(before.write({ changes: [written] }), StoreUnavailable);

    await assert.rejects(async () => before.find(others, 1), /others.*another version of its declaration/, engine);
    await before.close();
  }
});

test("accepts writes of a process that started before a column was added", async (t) => {
  for (const { open, migrate, engine } of await databases(t)) {
    const [before, today] = [open(), open()];
    await before.open([others, old]);
    await before.write({ changes: [insert(old)] });
    await migrate([others, added]);
    await today.open([others, added]);
    for (const store of [before, today, before])
      assert.equal((await store.write({ changes: [insert(old)] })).kind, "written", engine);
    await before.close();
    await today.close();
  }
});

test("refuses further writes only of processes with a weaker rule after a process with a stricter rule starts", async (t) => {
  for (const { open, engine } of await databases(t)) {
    const [before, today, again, tomorrow] = [open(), open(), open(), open()];
    await before.open([wide]);
    await before.write({ changes: [insert(wide)] });
    await today.open([narrowed]);
    await assert.rejects(before.write({ changes: [insert(wide)] }), StoreUnavailable, engine);
    // An old version that restarts may write again, until a new version starts.
    await again.open([wide]);
    assert.equal((await again.write({ changes: [insert(wide)] })).kind, "written", engine);
    await tomorrow.open([narrowed]);
    for (const store of [today, tomorrow])
      assert.equal((await store.write({ changes: [insert(narrowed)] })).kind, "written", engine);
    for (const store of [before, today, again, tomorrow]) await store.close();
  }
});

test("refuses further writes of processes without folded values after a process starts that needs these values", async (t) => {
  const folded: Collection = { ...old, columns: [{ name: "title", type: "text", folded: true }, old.columns[1]!] };
  for (const { open, engine } of await databases(t)) {
    const [before, today] = [open(), open()];
    await before.open([others, old]);
    await before.write({ changes: [insert(old)] });
    const writing = keepWriting(before);
    await today.open([others, folded]);

    const written = await writing;

    const where = { column: "title", operator: "icontains", value: "ONE" } as const;
    const count = async (): Promise<number> => today.count(folded, where);
    assert.equal(await count(), written + 1, engine);
    await before.close();
    await today.close();
  }
});

/** Writes until a write is refused. Returns the number of accepted writes. */
async function keepWriting(store: Store): Promise<number> {
  for (let written = 0; ; written++) {
    try {
      await store.write({ changes: [insert(old)] });
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, String(error));
      return written;
    }
  }
}

test("refuses a write that waited while a column changed on PostgreSQL, for every default isolation level", async (t) => {
  for (const [isolation, way] of [
    ["read committed", ""],
    ["repeatable read", ""],
    ["serializable", ""],
    ["repeatable read", "?pgbouncer=true"],
  ] as const) {
    const [, database] = await databases(t);
    const url = database.place.url.reveal().toString("utf8");
    await database.run(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = ''${isolation}''', current_database()); END $$`,
    );
    const store = postgresStore({ url: new Secret(url + way), poolSize: 2 });
    await store.open([old]);
    const written = await store.write({
      changes: [{ kind: "insert", collection: old, values: { title: "a", price: 1 } }],
    });
    assert.equal(written.kind, "written");
    const update = (price: number): readonly Change[] => [
      { kind: "update", collection: old, key: 1, values: { price } },
    ];
    await store.write({ changes: update(2) });
    const [now, expiresAt] = [new Date().toISOString(), "2999-01-01T00:00:00.000Z"];
    const idempotency = { key: "k", columns: [], erasable: false, fingerprint: "f", expiresAt, now };
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    // Simulates the moment of a column swap: the writes wait for the lock, and the column then has another type. No row
    // may be written.
    await other.query("BEGIN; LOCK TABLE things IN ACCESS EXCLUSIVE MODE");
    const waiting = [store.write({ changes: update(3) }), store.write({ changes: update(4), idempotency })].map(
      (each) => each.then(({ kind }) => kind, String),
    );
    for (let seen = 0; seen === 0;) {
      const found = await other.query("SELECT FROM pg_locks WHERE NOT granted AND relation = 'things'::regclass");
      seen = found.rows.length;
    }
    await other.query(
      `UPDATE latchkey_schema SET types = '{"_shape":"another","title":"text","price":"integer"}' WHERE collection = 'things'; COMMIT`,
    );

    for (const said of await Promise.all(waiting)) assert.match(said, /StoreOutdated/, isolation + way);
    const { rows } = await other.query<{ price: string }>("SELECT price FROM things");
    assert.deepEqual(
      rows.map(({ price }) => Number(price)),
      [2],
    );
    await other.end();
    await store.close();
  }
});
