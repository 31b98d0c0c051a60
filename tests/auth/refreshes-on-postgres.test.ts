import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import pg from "pg";
import { startPostgres, type TestServer } from "../harness/postgres.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";

// On PostgreSQL, a refresh and the end of its family wait only for each other.

let postgres: TestServer;
before(async () => void (postgres = await startPostgres()));
after(() => postgres.stop());

test("refreshes and logs out while PostgreSQL cleans up the table of ended families", async (t) => {
  const { api, refresh, other } = await loggedIn(t);
  // Takes the lock that VACUUM and ANALYZE hold while they run.
  await other.query("BEGIN; LOCK TABLE dead_families IN SHARE UPDATE EXCLUSIVE MODE");

  const refreshed = await api.post("/api/token/refresh/", { refresh });
  const ended = await api.ask("DELETE", "/api/token/", { body: { refresh } });

  await other.query("ROLLBACK");
  assert.deepEqual([refreshed.status, ended.status], [200, 204]);
});

for (const first of ["refresh", "logout"] as const)
  test(`ends the family and deletes its row if the ${first} comes first in a concurrent refresh and logout`, async (t) => {
    const { api, refresh, other } = await loggedIn(t);
    await other.query("BEGIN; SELECT FROM accounts WHERE id = 1 FOR UPDATE");
    const begin = {
      refresh: () => api.post("/api/token/refresh/", { refresh }),
      logout: () => api.ask("DELETE", "/api/token/", { body: { refresh } }),
    };

    const one = begin[first]();
    await waiting(other, 1);
    const two = begin[first === "refresh" ? "logout" : "refresh"]();
    await waiting(other, 2);
    await other.query("COMMIT");
    const [refreshed, ended] = first === "refresh" ? [await one, await two] : [await two, await one];

    assert.deepEqual([refreshed.status, ended.status], [first === "refresh" ? 200 : 401, 204]);
    const { rows } = await other.query("SELECT FROM families");
    assert.equal(rows.length, 0);
    const child = refreshed.json.refresh ?? refresh;
    assert.equal((await api.post("/api/token/refresh/", { refresh: child })).status, 401);
  });

/** Creates a service, a refresh token of a user, and another connection to the database. */
async function loggedIn(
  t: TestContext,
): Promise<{ readonly api: API; readonly refresh: string; readonly other: pg.Client }> {
  const url = await postgres.makeDatabase();
  const settings = { LATCHKEY_DATABASE: url, LATCHKEY_SECRET: "a secret of thirty-two characters" };
  const api = await serve(t, { settings });
  const { refresh } = (await api.post("/api/token/", { username: "admin", password: adminPassword })).json;
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  t.after(() => other.end());
  return { api, refresh, other };
}

/** Waits until this many connections wait for a lock. */
async function waiting(client: pg.Client, count: number): Promise<void> {
  // Reads pg_locks, because pg_stat_activity in a transaction omits connections that are newer than the first read.
  const all = "SELECT DISTINCT pid FROM pg_locks WHERE NOT granted";
  for (const start = performance.now(); (await client.query(all)).rows.length < count;)
    assert.ok(performance.now() - start < 5000, "too few connections wait for a lock");
}
