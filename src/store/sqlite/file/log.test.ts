import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { connect, prepareLogSizes } from "../connection/connection.ts";
import { createLogChecks, type LogChecks } from "./log.ts";
import { filesAt } from "./place.ts";

interface LogFixture {
  readonly log: string;
  readonly checks: LogChecks;
  readonly sizes: ReturnType<typeof prepareLogSizes>;
  readonly other: DatabaseSync;
  /** The time of the test clock, in milliseconds. */
  now: number;
  insert(by?: DatabaseSync): void;
}

/** A database with a log, and the checks right after an acknowledged write. */
function writing(t: TestContext): LogFixture {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-log-"));
  const file = path.join(folder, "a.db");
  const [own, other] = [connect(file), connect(file)];
  t.after(() => {
    other.close();
    own.close();
    rmSync(folder, { recursive: true, force: true });
  });
  own.exec("PRAGMA journal_mode = wal; CREATE TABLE notes (text)");
  const sizes = prepareLogSizes(own);
  const insert = (by = own): void => by.exec("INSERT INTO notes VALUES ('one')");
  const world = { log: `${file}-wal`, sizes, other, now: 0, insert };
  const checks = createLogChecks(file, filesAt(file), () => world.now);
  checks.beforeWrite(sizes);
  insert();
  checks.beforeAcknowledgment(sizes);
  return Object.assign(world, { checks });
}

const isOverwritten = /a\.db-wal was overwritten while it was in use/;

test("acknowledges no write to a log that was cut off right after the last acknowledgment", (t) => {
  const { log, checks, sizes, insert } = writing(t);
  truncateSync(log, readFileSync(log).length / 2);

  checks.beforeWrite(sizes);
  insert();

  assert.throws(() => checks.beforeAcknowledgment(sizes), isOverwritten);
});

test("checks the log before a write if the last check is too old", (t) => {
  const world = writing(t);
  truncateSync(world.log, readFileSync(world.log).length / 2);
  world.now = 100;

  assert.throws(() => world.checks.beforeWrite(world.sizes), isOverwritten);
});

test("checks the pages of another connection before the writer adds pages after them", (t) => {
  const { log, checks, sizes, insert, other } = writing(t);
  const { length } = readFileSync(log);
  insert(other);
  truncateSync(log, length);

  assert.throws(() => checks.beforeWrite(sizes), isOverwritten);
});

test("checks again after a check that has failed", (t) => {
  const { log, checks, sizes, insert } = writing(t);
  truncateSync(log, 0);
  insert();
  assert.throws(() => checks.beforeAcknowledgment(sizes), isOverwritten);

  assert.throws(() => checks.beforeWrite(sizes), isOverwritten);
});

test("finds a single page of another log among the new pages", (t) => {
  const { log, sizes, checks, insert } = writing(t);
  for (let count = 0; count < 100; count++) insert();
  const pages = sizes!()[0];
  const original = readFileSync(log);
  const frameBytes = (original.length - 32) / pages;

  // The pages 1 to 3 were checked before the acknowledgment.
  for (let page = 4; page <= pages; page++) {
    const changed = Buffer.from(original);
    changed[32 + (page - 1) * frameBytes + 8]! ^= 1;
    writeFileSync(log, changed);
    assert.throws(() => checks.everything(sizes), isOverwritten, `page ${page} of ${pages}`);
  }

  writeFileSync(log, original);
  checks.everything(sizes);
});

test("accepts a log that SQLite restarts during each check", (t) => {
  const { sizes, checks, insert, other } = writing(t);
  const restartAfterwards = () => {
    for (let count = 0; count < 20; count++) insert(other);
    const before = sizes!();
    other.exec("PRAGMA wal_checkpoint(RESTART)");
    insert(other);
    return before;
  };

  for (const check of [checks.beforeWrite, checks.beforeAcknowledgment, checks.everything]) check(restartAfterwards);
});

test("finds a log that was cut off although SQLite restarts it during the first check", (t) => {
  const { log, sizes, checks, insert, other } = writing(t);
  for (let count = 0; count < 20; count++) insert(other);
  let isFirst = true;
  const restartOnce = () => {
    const before = sizes!();
    if (isFirst) {
      other.exec("PRAGMA wal_checkpoint(RESTART)");
      for (let count = 0; count < 30; count++) insert(other);
      truncateSync(log, readFileSync(log).length / 2);
    }
    isFirst = false;
    return before;
  };

  assert.throws(() => checks.everything(restartOnce), isOverwritten);
});
