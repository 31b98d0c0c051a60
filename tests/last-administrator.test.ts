import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { accountsCollection } from "../src/door/auth.ts";
import { requireAdministrator } from "../src/login/accounts/users.ts";
import { parametersOf } from "../src/store/sql/dialect.ts";
import { countUpTo } from "../src/store/sql/writes/writes.ts";
import { prepare } from "../src/store/sqlite/connection.ts";
import { sqlite, tableOf } from "../src/store/sqlite/dialect.ts";
import { prepareSchema } from "../src/store/sqlite/schema.ts";

// What it costs at a million users is measured by `npm run bench:rows`, on both databases.
test("whether an administrator is left is asked of an index, and no account is read for it", (t) => {
  const database = new DatabaseSync(":memory:", { returnArrays: true });
  t.after(() => database.close());
  prepareSchema(database, [accountsCollection]);
  assert.ok(requireAdministrator.kind === "require");
  const values = parametersOf(sqlite);
  const sql = countUpTo(tableOf(accountsCollection), requireAdministrator.where, 1, "", values);

  const plan = prepare(database, `EXPLAIN QUERY PLAN ${sql}`).all(...values.values);

  const steps = plan.map((row) => String(row[3])).filter((detail) => detail.includes("accounts"));
  assert.equal(steps.length, 1);
  assert.match(steps[0]!, /^SEARCH accounts USING COVERING INDEX .*role=\? AND active=\?/);
});
