import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { makeFaultyDisk } from "./faults.ts";

const folders = path.join(import.meta.dirname, "../../src/store/sqlite");

/**
 * The reader's open transaction lets SQLite move only a part of the log into the file. After such a partial checkpoint,
 * SQLite itself syncs nothing.
 */
const program = `
  import { statSync } from "node:fs";
  import { DatabaseSync } from "node:sqlite";
  import { setTimeout as wait } from "node:timers/promises";
  import { connect, prepareLogSizes } from ${JSON.stringify(`${folders}/connection/connection.ts`)};
  import { filesAt } from ${JSON.stringify(`${folders}/file/place.ts`)};
  import { createCheckpoints } from ${JSON.stringify(`${folders}/writes/checkpoints.ts`)};

  const [, file, synced] = process.argv;
  new DatabaseSync(file).exec("PRAGMA journal_mode = WAL; CREATE TABLE t (text)");
  const database = connect(file);
  database.exec("SELECT * FROM t");
  const checkpoints = createCheckpoints({ path: file, files: filesAt(file), content: null });
  const committed = checkpoints.takeOver(database, prepareLogSizes(database));
  const insert = database.prepare("INSERT INTO t VALUES (?)");
  for (let at = 0; at < 9; at++) insert.run("moved".repeat(80_000));
  const reader = new DatabaseSync(file, { readOnly: true });
  reader.exec("BEGIN; SELECT count(*) FROM t");
  for (let at = 0; at < 3; at++) {
    insert.run("later".repeat(80_000));
    committed();
  }
  const moved = () => database.prepare("PRAGMA wal_checkpoint(NOOP)").get()[2];
  for (let at = 0; at < 1000 && moved() < 900; at++) await wait(10);
  // The thread syncs the pages after it has moved them.
  const syncedBytes = () => statSync(synced, { throwIfNoEntry: false })?.size ?? 0;
  for (let at = 0; at < 1000 && syncedBytes() < 9 * 400_000; at++) await wait(10);
  await checkpoints.close();
  console.log(moved());
  process.kill(process.pid, "SIGKILL");
`;

test("syncs the pages in the thread that has moved them, so that the writer does not wait for the sync", () => {
  using disk = makeFaultyDisk({ keep: true });

  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module-typescript", "--eval", program, `${disk.folder}/a.db`, `${disk.syncedFolder}/a.db`],
    { env: { ...process.env, ...disk.environment }, encoding: "utf8" },
  );

  assert.ok(Number(stdout) >= 880 && Number(stdout) < 1000, `${stdout}\n${stderr}`);
  const synced = readFileSync(`${disk.syncedFolder}/a.db`, "latin1");
  assert.ok(synced.split("moved").length > 700_000, `${synced.length} bytes were synced`);
  assert.ok(!synced.includes("laterlater"));
});
