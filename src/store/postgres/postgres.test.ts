import assert from "node:assert/strict";
import { connect, createServer, type AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { certifyPostgres } from "../../../tests/harness/postgres-contract.ts";
import { askPostgres } from "../../../tests/harness/postgres.ts";
import { Secret } from "../../core/crypto/secret.ts";
import { library, people, pets } from "../../testing/store-contract/library.ts";
import { readList } from "../sql/list.ts";
import { readWordCounts } from "../sql/word-index.ts";
import { keyOf, type Change, type Collection, type ListQuery } from "../store.ts";
import { getTable } from "./dialect.ts";
import { postgresStore, type PostgresStoreOptions } from "./postgres.ts";
import { planNarrowed } from "./reads/semi-joins.ts";

// `npm run verify -- failover` runs the same suite with every transaction SERIALIZABLE.
const database = certifyPostgres("PostgreSQL");

const delayMs = 40;

test("sends a read in one round trip, a transaction in one, and a transaction with an idempotency key in two", async (t) => {
  const near = postgresStore({ url: new Secret(database()) });
  await near.open(library);
  await near.close();
  const far = await farAway(t, database(), delayMs);
  const store = postgresStore({ url: new Secret(far.url), poolSize: 1 });
  t.after(() => store.close());
  await store.open(library);
  const changes: Change[] = [
    { kind: "insert", collection: people, values: { name: "Ada" } },
    { kind: "insert", collection: pets, values: { person_id: keyOf(0), name: "Rex" } },
    {
      kind: "updateAll",
      collection: people,
      where: { column: "name", operator: "eq", value: "Ada" },
      values: { age: 36 },
    },
    {
      kind: "require",
      collection: people,
      where: { column: "age", operator: "eq", value: 36 },
      atLeast: 1,
      name: "one",
    },
  ];
  const day = { now: "2026-01-01T00:00:00.000Z", expiresAt: "2026-01-02T00:00:00.000Z" };
  // Takes the smallest of four counts, because the store sometimes sends other queries in the background.
  const trips = async (work: (time: number) => unknown): Promise<number> => {
    let least = Infinity;
    for (let time = 0; time < 4; time++) {
      const before = far.trips();
      await work(time);
      least = Math.min(least, far.trips() - before);
    }
    return least;
  };
  await store.find(people, 1);

  assert.equal(await trips(() => store.find(people, 1)), 1);
  assert.equal(
    await trips(() => store.listJSON({ collection: people, where: null, sort: [{ column: "id" }], limit: 10 })),
    1,
  );
  const sort = [{ column: "id" }];
  const own = { collection: people, column: "id", from: "id", where: null, limit: 1, maxLength: 1000 };
  assert.equal(await trips(() => store.listJSON({ collection: people, where: null, sort, limit: 10 }, [own])), 1);
  assert.equal(await trips(() => store.write({ changes: changes.slice(0, 1) })), 1);
  assert.equal(await trips(() => store.write({ changes })), 1);
  assert.equal(
    await trips((time) =>
      store.write({
        changes,
        idempotency: { key: `key ${time}`, fingerprint: "print", columns: ["id"], erasable: true, ...day },
      }),
    ),
    2,
  );
});

const searched: Collection = {
  name: "searched",
  key: "integer",
  columns: [{ name: "name", type: "text", searched: true }],
};

test("uses the word index, and no sequential scan, to count the rows with a word", async (t) => {
  const url = database();
  const store = postgresStore({ url: new Secret(url) });
  t.after(() => store.close());
  await store.open([searched]);
  await askPostgres(
    url,
    `INSERT INTO "_searched_words" SELECT CASE WHEN n <= 50000 THEN 'before' ELSE 'person' END, n FROM generate_series(1, 100000) AS n; ANALYZE`,
  );
  const { text, values } = readWordCounts(getTable(searched), ["person"], 1000);

  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, values as unknown[]);

  assert.doesNotMatch(rows.map((row) => row["QUERY PLAN"]).join("\n"), /Seq Scan/);
});

test("reads the first rows of each value if there are at most 100 values, and finds all rows of more", async (t) => {
  const url = database();
  const store = postgresStore({ url: new Secret(url) });
  t.after(() => store.close());
  const seats: Collection = {
    name: "seats",
    key: "integer",
    columns: [
      { name: "person_id", type: "integer" },
      { name: "room_id", type: "integer" },
    ],
    uniques: [["person_id", "room_id"]],
  };
  const chairs: Collection = {
    name: "chairs",
    key: "integer",
    columns: [{ name: "room_id", type: "integer" }],
    indexes: [["room_id", "id"]],
  };
  await store.open([seats, chairs]);
  const rooms = Array.from({ length: 101 }, (_, at) => at + 1);
  const insert = (collection: Collection, values: Record<string, number>): Change => ({
    kind: "insert",
    collection,
    values,
  });
  await store.write({
    changes: [
      ...rooms.map((room_id) => insert(chairs, { room_id })),
      ...rooms.slice(1).map((room_id) => insert(seats, { person_id: 1, room_id })),
      ...rooms.map((room_id) => insert(seats, { person_id: 2, room_id })),
    ],
  });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  const among = (value: number) => ({
    collection: seats,
    select: "room_id",
    where: { column: "person_id", operator: "eq", value } as const,
  });
  const listOf = (person: number): ListQuery => ({
    collection: chairs,
    where: { column: "room_id", among: among(person) },
    sort: [{ column: "id" }],
    limit: 200,
  });
  /** Returns the numbers of rows that each of the two plans finds. */
  const rowsByPlan = async (query: ListQuery): Promise<readonly number[]> => {
    const { text, values } = readList(getTable(chairs), planNarrowed(query));
    const { rows } = await client.query<{ "QUERY PLAN": string }>(
      `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${text}`,
      values as unknown[],
    );
    return rows.flatMap((row) => /->  Result \(actual rows=(\d+)/.exec(row["QUERY PLAN"])?.[1] ?? []).map(Number);
  };

  for (const [person, byPlan] of [
    [1, [100, 0]],
    [2, [0, 101]],
  ] as const) {
    assert.deepEqual(await rowsByPlan(listOf(person)), byPlan);
    assert.equal((await store.list(listOf(person))).length, Math.max(...byPlan));
  }
});

test("empties the queue of rows to index, also if a queued row was deleted", async (t) => {
  const url = database();
  const store = postgresStore({ url: new Secret(url) });
  t.after(() => store.close());
  await store.open([searched]);
  await askPostgres(url, `INSERT INTO "_searched_words" VALUES ('', 7), ('', 8)`);

  await store.write({ changes: [{ kind: "insert", collection: searched, values: { name: "Ada" } }] });

  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  const waiting = async (): Promise<unknown> =>
    (await client.query(`SELECT id FROM "_searched_words" WHERE word = ''`)).rowCount;
  for (let at = 0; at < 300 && (await waiting()) !== 0; at++) await sleep(20);
  assert.equal(await waiting(), 0);
  assert.deepEqual(await store.countWords!(searched, ["ada"], 10), { rows: [1], waiting: 0 });
});

test("fails a write that waits too long for a lock, a statement or a connection", async (t) => {
  const url = new Secret(database());
  const patient = postgresStore({ url });
  t.after(() => patient.close());
  await patient.open(library);
  const made = await patient.write({ changes: [{ kind: "insert", collection: people, values: { name: "Ada" } }] });
  const key = made.kind === "written" ? (made.rows[0]!.record["id"] as number) : 0;
  const holder = new pg.Client(database());
  await holder.connect();
  t.after(() => holder.end());
  await holder.query(`BEGIN; UPDATE people SET name = 'held' WHERE id = ${key}`);
  const rename: Change = { kind: "update", collection: people, key, values: { name: "Bea" } };
  const tried = async (options: Partial<PostgresStoreOptions>): Promise<unknown> => {
    const store = postgresStore({ url, ...options });
    t.after(() => store.close());
    await store.open(library);
    const writing = [store.write({ changes: [rename] }), store.write({ changes: [rename] })];
    const [first, second] = await Promise.allSettled(writing);
    return [first, second].map((each) => (each?.status === "rejected" ? (each.reason as Error) : null));
  };

  const ofLock = (await tried({ lockTimeoutMs: 50 })) as Error[];
  const ofStatement = (await tried({ statementTimeoutMs: 100 })) as Error[];
  const ofPool = (await tried({ poolSize: 1, connectTimeoutMs: 100, statementTimeoutMs: 900 })) as Error[];

  assert.match(String(ofLock[0]), /StoreUnavailable: .*lock timeout/);
  assert.match(String(ofStatement[0]), /StoreTimeout: .*statement timeout/);
  assert.match(ofPool.map(String).join(), /timeout exceeded when trying to connect/);
});

/** A database behind a delay. `trips` returns how often a client has waited for an answer before it sent more. */
interface FarAway {
  readonly url: string;
  trips(): number;
}

/** Puts a proxy in front of the database. The proxy delays every message of a client by `delayMs`. */
async function farAway(t: TestContext, url: string, delayMs: number): Promise<FarAway> {
  const { hostname, port } = new URL(url);
  let trips = 0;
  const proxy = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: Number(port), host: hostname, noDelay: true });
    let isAnswered = true;
    near.on("data", (data) => {
      if (isAnswered) trips++;
      isAnswered = false;
      void sleep(delayMs).then(() => far.write(data));
    });
    far.on("data", (data) => {
      isAnswered = true;
      near.write(data);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on("close", () => other.destroy()).on("error", () => other.destroy());
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => proxy.once("listening", resolve));
  t.after(() => proxy.close());
  const address = new URL(url);
  address.port = String((proxy.address() as AddressInfo).port);
  return { url: address.href, trips: () => trips };
}
