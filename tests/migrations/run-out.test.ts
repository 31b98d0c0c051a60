import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { kinds } from "../../bench/run-out.ts";
import { rateLimits } from "../../src/door/features.ts";
import { createLatchkey } from "../../src/service/latchkey.ts";
import { readSettings } from "../../src/service/settings/settings.ts";

test("runs the SQL of the benchmark of erasing on the current tables, and creates expired rows of every kind", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-run-out-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "run-out.db");
  const service = await createLatchkey({
    settings: readSettings({
      LATCHKEY_DATABASE: `sqlite:${file}`,
      LATCHKEY_SECRET: "a secret for as long as the test runs",
      LATCHKEY_ADMIN_PASSWORD: "for this test only",
    }),
    config: {
      features: [rateLimits({ limits: [{ name: "all", by: "address", limit: 1000, windowSeconds: 60 }] })],
    },
  });
  await service.close();
  using database = new DatabaseSync(file);
  database.exec("PRAGMA foreign_keys = OFF");

  for (const { name, left, fill } of kinds) {
    database.exec(fill(20, true));
    const { n } = database.prepare(`SELECT count(*) AS n FROM "${left.table}" WHERE ${left.condition}`).get() as {
      readonly n: number;
    };
    assert.equal(n, 20, name);
    database.exec(`DELETE FROM "${left.table}"`);
  }
});
