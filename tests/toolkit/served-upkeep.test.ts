import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { serve } from "../harness/serve.ts";

test("finds the rows for all upkeep with an index, so that large tables do not slow the upkeep down", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const plans = new Map<string, readonly string[]>();
  const prepare = DatabaseSync.prototype.prepare;
  await serve(t, { settings: { LATCHKEY_DATABASE: "sqlite::memory:" } });
  t.mock.method(DatabaseSync.prototype, "prepare", function (this: DatabaseSync, sql: string) {
    const steps = prepare.call(this, `EXPLAIN QUERY PLAN ${sql}`).all() as unknown as readonly unknown[][];
    plans.set(
      sql,
      steps.map((step) => String(step[3])),
    );
    return prepare.call(this, sql);
  });

  for (let second = 0; second < 61; second++) {
    t.mock.timers.tick(1000);
    await turn();
  }

  const looked = [...plans].filter(([sql]) => sql.startsWith("SELECT"));
  const tables = looked.map(([sql]) => /FROM "(\w+)"/.exec(sql)?.[1]);
  for (const table of ["refresh_uses", "dead_families", "families", "sessions", "revocations", "guess_streaks"])
    assert.ok(tables.includes(table), `${table}: ${tables.join()}`);
  assert.deepEqual(
    looked.filter(([, plan]) => plan.some((step) => /^(?:SCAN|MULTI-INDEX OR|USE TEMP B-TREE)/.test(step))),
    [],
  );
});
