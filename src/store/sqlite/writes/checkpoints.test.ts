import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { connect, prepareLogSizes } from "../connection/connection.ts";
import { filesAt } from "../file/place.ts";
import { createCheckpoints } from "./checkpoints.ts";

function setUp(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-checkpoints-"));
  const file = path.join(folder, "a.db");
  new DatabaseSync(file).exec("PRAGMA journal_mode = WAL; CREATE TABLE t (text)");
  const database = connect(file);
  database.exec("SELECT * FROM t");
  const checkpoints = createCheckpoints({ path: file, files: filesAt(file), content: null });
  t.after(async () => {
    await checkpoints.close();
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const committed = checkpoints.takeOver(database, prepareLogSizes(database));
  const insert = database.prepare("INSERT INTO t VALUES (?)");
  /** Writes about 100 pages. */
  const commit = (): void => {
    insert.run("x".repeat(400_000));
    committed();
  };
  const sizes = (): { log: number; moved: number } => {
    const [, log, moved] = database.prepare("PRAGMA wal_checkpoint(NOOP)").get() as unknown as number[];
    return { log: log!, moved: moved! };
  };
  return { file, commit, sizes };
}

/** Waits until most of the log is moved. On a busy machine, the thread that moves the log may start late. */
async function untilMoved(sizes: () => { readonly log: number; readonly moved: number }): Promise<void> {
  for (let tries = 0; tries < 2000; tries++) {
    await wait(5);
    const { log, moved } = sizes();
    if (log - moved < 1000) return;
  }
}

test("moves the log into the file outside of commits, and restarts the log", async (t) => {
  const { commit, sizes } = setUp(t);
  for (let at = 0; at < 2; at++) commit();
  assert.equal(sizes().moved, 0);

  for (let at = 0; at < 2; at++) commit();
  const full = sizes();
  for (let at = 0; at < 500 && sizes().moved === 0; at++) await wait(10);
  const later = sizes();
  const seen: number[] = [];
  for (let at = 0; at < 60; at++) {
    commit();
    seen.push(sizes().log);
    await untilMoved(sizes);
  }

  assert.equal(full.moved, 0);
  assert.ok(later.moved >= 250, `${later.moved} of ${later.log}`);
  assert.ok(Math.max(...seen) < 5000, seen.join());
  assert.ok(
    seen.some((log, at) => log < (seen[at - 1] ?? 0)),
    seen.join(),
  );
});

test("keeps a log that is being read, and restarts the log after the read has ended", async (t) => {
  const { file, commit, sizes } = setUp(t);
  const reader = new DatabaseSync(file, { readOnly: true });
  reader.exec("BEGIN; SELECT count(*) FROM t");
  for (let at = 0; at < 40; at++) {
    commit();
    await wait(5);
  }
  const pinned = sizes();

  reader.close();
  let least = pinned.log;
  for (let at = 0; at < 60; at++) {
    commit();
    least = Math.min(least, sizes().log);
    await untilMoved(sizes);
  }

  assert.ok(pinned.log >= 4000 && pinned.moved < 200, `${pinned.moved} of ${pinned.log}`);
  assert.ok(least < pinned.log, `${least}`);
});
