import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import {
  CopyError,
  migrateSQLite,
  planSQLite,
  sqliteStore,
  trySQLite,
  type Collection,
} from "../../src/door/stores.ts";
import { backupDatabase, restoreDatabase } from "../../src/service/system/databases.ts";

const notes: Collection = {
  name: "notes",
  key: "integer",
  columns: [{ name: "text", type: "text" }],
  indexes: [["text"]],
};

async function place(t: TestContext): Promise<{ readonly folder: string; at(name: string): string }> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-damage-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string): string => path.join(folder, name);
  const store = sqliteStore({ path: at("latchkey.db") });
  await store.open([notes]);
  const texts = Array.from({ length: 200 }, (_, at) => `note ${at}`.padEnd(200, "-"));
  await store.write({ changes: texts.map((text) => ({ kind: "insert", collection: notes, values: { text } })) });
  await store.close();
  return { folder, at };
}

/** Changes a letter in the text of one row, so that the index no longer matches the row. */
function changeARow(file: string): void {
  const bytes = readFileSync(file);
  const at = bytes.indexOf("note 150--");
  bytes.write("nOte", at, "latin1");
  writeFileSync(file, bytes);
}

test("names a damaged file and the fix in every copying command", async (t) => {
  const { folder, at } = await place(t);
  await backupDatabase(at("latchkey.db"), at("good.db"), false, () => {});
  const changed = readFileSync(at("good.db"));
  writeFileSync(at("changed.db"), changed);
  changeARow(at("changed.db"));
  writeFileSync(at("cut.db"), changed.subarray(0, changed.length / 2));
  const options = { ending: "nothing", accessSeconds: 300, report: () => {} } as const;

  for (const name of ["changed.db", "cut.db"])
    for (const copying of [
      () => backupDatabase(at(name), at("new.db"), false, () => {}),
      () => restoreDatabase(at(name), at("latchkey.db"), options),
    ])
      await assert.rejects(copying, (error) => {
        assert.ok(error instanceof CopyError);
        assert.equal(error.code, "damaged");
        assert.ok(error.message.startsWith(`${at(name)} is damaged: `), error.message);
        assert.match(error.message, /latchkey db restore/);
        assert.doesNotMatch(error.message, /\.(?:backup|restoring)-/);
        return true;
      });

  assert.deepEqual(
    readdirSync(folder).filter((name) => /new|\.(?:backup|restoring)-/.test(name)),
    [],
  );
});

test("reports a file that is not a database, and a damaged file, when it plans, tries or runs a migration", async (t) => {
  const { at } = await place(t);
  writeFileSync(at("text.db"), "no database ".repeat(1000));
  writeFileSync(at("cut.db"), readFileSync(at("latchkey.db")).subarray(0, 8192));
  const options = { program: "1.0.0" };

  for (const working of [
    (file: string) => planSQLite(file, [notes]),
    (file: string) => migrateSQLite(file, [notes], options),
    (file: string) => trySQLite(file, [notes], options),
  ]) {
    await assert.rejects(working(at("text.db")), (error) => {
      assert.ok(error instanceof CopyError && error.code === "not_latchkey");
      return error.message.startsWith(`${at("text.db")} is not a SQLite database.`);
    });
    await assert.rejects(working(at("cut.db")), (error) => {
      assert.ok(error instanceof CopyError && error.code === "damaged", String(error));
      return error.message.startsWith(`${at("cut.db")} is damaged: `) && error.message.includes("latchkey db restore");
    });
  }
});

test("names the fix when a store opens a damaged file", async (t) => {
  const { at } = await place(t);
  writeFileSync(at("cut.db"), readFileSync(at("latchkey.db")).subarray(0, 8192));

  await assert.rejects(sqliteStore({ path: at("cut.db") }).open([notes]), /latchkey db check.*latchkey db restore/);
});
