import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import { requireAdministrator } from "../../src/features/auth/accounts/last-administrator.ts";
import { compileRequire } from "../../src/store/sql/writes/changing.ts";
import { connect, prepare } from "../../src/store/sqlite/connection/connection.ts";
import { getTable } from "../../src/store/sqlite/dialect.ts";
import { prepareSchema } from "../../src/store/sqlite/schema.ts";

// On SQLite alone: the query plan is that of SQLite.

// `npm run bench -- rows` measures the cost at a million users, on both databases.
test("finds out from an index alone whether an administrator remains, without reading an account", (t) => {
  const database = connect(":memory:");
  t.after(() => database.close());
  prepareSchema(database, [accountsCollection]);
  assert.ok(requireAdministrator.kind === "require");
  const { count, values } = compileRequire(getTable(accountsCollection), requireAdministrator, "");

  const plan = prepare(database, `EXPLAIN QUERY PLAN ${count}`).all(...values.values);

  const steps = plan.map((row) => String(row[3])).filter((detail) => detail.includes("accounts"));
  assert.equal(steps.length, 1);
  assert.match(steps[0]!, /^SEARCH accounts USING COVERING INDEX .*role=\? AND active=\?/);
});
