import assert from "node:assert/strict";
import { test } from "node:test";
import { askPostgres as ask, startPostgres } from "../../tests/harness/postgres.ts";
import { Secret } from "../core/crypto/secret.ts";
import { postgresStore } from "../store/postgres/postgres.ts";
import type { Collection } from "../store/store.ts";
import { startUpkeep } from "./upkeep.ts";

const visits: Collection = {
  name: "visits",
  key: "integer",
  columns: [
    { name: "at", type: "integer" },
    { name: "count", type: "integer" },
  ],
  indexes: [["at"]],
};

const past = { column: "at", operator: "lte", value: 10_000 } as const;
const few = { column: "count", operator: "lt", value: 5 } as const;

test("finds expired rows by their index, even if PostgreSQL estimates them as half of the table", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const url = await server.makeDatabase();
  const read = async (): Promise<unknown> => {
    // PostgreSQL adds the reads of a connection to the statistics when the connection closes.
    const others = "SELECT FROM pg_stat_activity WHERE application_name = 'latchkey' AND datname = current_database()";
    while ((await ask(url, others)).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    return (await ask(url, "SELECT seq_tup_read AS rows FROM pg_stat_user_tables WHERE relname = 'visits'"))[0]![
      "rows"
    ];
  };
  const store = postgresStore({ url: new Secret(url) });
  await store.open([visits]);
  await ask(
    url,
    "ALTER TABLE visits SET (autovacuum_enabled = FALSE); " +
      `INSERT INTO visits (id, _revision, "at", "count") SELECT n, n, n, 1 FROM generate_series(1, 20000) AS n; ANALYZE visits`,
  );
  // PostgreSQL keeps this estimate until the next ANALYZE.
  await ask(url, `DELETE FROM visits WHERE "at" <= 10000 AND id > 15`);
  const before = await read();
  let rounds = 0;

  const stop = startUpkeep(
    [
      {
        everySeconds: 1,
        due: () => (
          rounds++,
          [past, { all: [past, few] }].map((where) => ({ kind: "deleteAll", collection: visits, where }) as const)
        ),
      },
    ],
    {
      store,
      observe: null,
      now: () => 0,
    },
  );
  while (rounds < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  while ((await store.find(visits, 1)) !== null) await new Promise((resolve) => setTimeout(resolve, 50));
  stop();
  await store.close();

  assert.equal(await read(), before);
  assert.deepEqual(await ask(url, "SELECT count(*)::int AS left FROM visits"), [{ left: 10_000 }]);
});
