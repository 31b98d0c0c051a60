import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { test } from "node:test";
import { CopyError, sqliteFileProblems, sqliteStore } from "../../src/door/stores.ts";
import { backupDatabase, checkDatabase, moveDatabase, restoreDatabase } from "../../src/service/system/databases.ts";
import { mountSmallDisk } from "./small-disk.ts";

const words = /is on a read-only disk\. Mount it for writing, or name another file\./;
const restoring = { ending: "nothing", accessSeconds: 300, report: () => {} } as const;

test("reports the read-only disk in every command that writes", async () => {
  using disk = mountSmallDisk(10);
  using other = mountSmallDisk(10);
  const [file, to] = [`${disk.folder}/latchkey.db`, `${disk.folder}/copy.db`];
  await makeDatabase(`${other.folder}/latchkey.db`);
  copyFileSync(`${other.folder}/latchkey.db`, file);
  disk.protect();

  assert.match(sqliteFileProblems(file, true).join(), words);
  await assert.rejects(
    backupDatabase(file, to, false, () => {}),
    (error) => error instanceof CopyError && words.test(error.message),
  );
  await assert.rejects(
    moveDatabase({ kind: "sqlite", path: file }, { kind: "sqlite", path: to }, () => {}),
    (error) => error instanceof CopyError && words.test(error.message),
  );

  await assert.rejects(
    restoreDatabase(`${other.folder}/latchkey.db`, file, restoring),
    (error) => error instanceof CopyError && words.test(error.message),
  );

  // SQLite would have to create the index of the log (`-shm`) in this folder.
  const beside = /latchkey\.db cannot be read, because its folder is read-only\. Copy it, with /;
  await assert.rejects(checkDatabase({ kind: "sqlite", path: file }), beside);
  await assert.rejects(
    backupDatabase(file, `${other.folder}/new.db`, false, () => {}),
    beside,
  );
});

test("verifies and restores a backup on a read-only disk", async () => {
  using disk = mountSmallDisk(10);
  using other = mountSmallDisk(10);
  await makeDatabase(`${other.folder}/latchkey.db`);
  await backupDatabase(`${other.folder}/latchkey.db`, `${other.folder}/copy.db`, false, () => {});
  const backup = `${disk.folder}/copy.db`;
  copyFileSync(`${other.folder}/copy.db`, backup);
  disk.protect();

  await checkDatabase({ kind: "sqlite", path: backup });
  await backupDatabase(backup, `${other.folder}/again.db`, false, () => {});
  await restoreDatabase(backup, `${other.folder}/latchkey.db`, restoring);

  await checkDatabase({ kind: "sqlite", path: `${other.folder}/again.db` });
  await checkDatabase({ kind: "sqlite", path: `${other.folder}/latchkey.db` });
});

async function makeDatabase(path: string): Promise<void> {
  const store = sqliteStore({ path });
  await store.open([{ name: "notes", key: "integer", columns: [{ name: "text", type: "text" }] }]);
  await store.close();
}
