import assert from "node:assert/strict";
import { test } from "node:test";
import { placeFor } from "../harness/cli.ts";
import { startPostgres } from "../harness/postgres.ts";

interface Explained {
  readonly list: string;
  readonly served: boolean;
  readonly ms: number | null;
  readonly plan: string;
}

async function explain(database: string): Promise<readonly Explained[]> {
  using place = placeFor({ LATCHKEY_DATABASE: database, LATCHKEY_SECRET: "a secret for as long as this test runs" });
  assert.equal((await place.run(["db", "migrate"])).code, 0);
  return (await place.json(["db", "explain"])) as readonly Explained[];
}

function find(lists: readonly Explained[], list: string): Explained {
  const found = lists.find((each) => each.list === list);
  assert.ok(found !== undefined, list);
  return found;
}

test("shows every permitted list with its plan and its cost with `db explain`", async () => {
  const lists = await explain("sqlite:latchkey.db");

  for (const { list, ms, plan } of lists) assert.ok(typeof ms === "number" && plan !== "", list);
  const byDate = find(lists, "/orders by -created_at, own user_id");
  assert.equal(byDate.served, true);
  assert.match(byDate.plan, /^SEARCH orders USING INDEX orders\(user_id, created_at, id\)/);
  assert.equal(find(lists, "/orders status[eq] by created_at, own user_id").served, true);
  assert.equal(find(lists, "/users name[contains] by id").served, false);
  assert.equal(find(lists, "/users search by -name").served, true);
  assert.match(find(lists, "/users search by -name").plan, /SEARCH _users_words USING PRIMARY KEY/);
});

test("runs `db explain` on PostgreSQL", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());

  const lists = await explain(await server.makeDatabase());

  assert.match(find(lists, "/orders by -created_at, own user_id").plan, /Scan/);
});
