// Measures how the write-ahead log of a SQLite file grows during a backup. Compares a backup within one read
// transaction, as in `latchkey db backup`, with a backup without it.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

const rows = Number(process.env["BACKUP_ROWS"] ?? 150_000);
/** The time after which an unfinished backup is stopped, in milliseconds. */
const patienceMs = 20_000;

/**
 * Writes ten rows per transaction, with a pause after every fifth one, until the main thread sends a message. Returns
 * the number of transactions.
 */
async function write(file: string): Promise<number> {
  const database = new DatabaseSync(file, { timeout: 5000 });
  database.exec("PRAGMA synchronous = FULL");
  const update = database.prepare("UPDATE things SET content = randomblob(1000) WHERE id = ?");
  let isOver = false;
  let transactions = 0;
  parentPort!.once("message", () => (isOver = true));
  for (; !isOver; transactions++) {
    database.exec("BEGIN IMMEDIATE");
    for (let at = 0; at < 10; at++) update.run(1 + Math.floor(Math.random() * rows));
    database.exec("COMMIT");
    if (transactions % 5 === 0) await sleep(5);
  }
  database.close();
  return transactions;
}

function fill(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(
    `PRAGMA journal_mode = WAL; CREATE TABLE things (id INTEGER PRIMARY KEY, content BLOB);
     INSERT INTO things WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${rows}) SELECT n, randomblob(1000) FROM series;
     PRAGMA wal_checkpoint(TRUNCATE)`,
  );
  database.close();
}

async function measure(file: string, isOneState: boolean, rate: number): Promise<void> {
  const writer = new Worker(import.meta.filename, { workerData: file });
  await sleep(500);
  const source = new DatabaseSync(file, { readOnly: true, timeout: 1000 });
  if (isOneState) source.exec("BEGIN; SELECT count(*) FROM sqlite_schema");
  const logBytes = (): number => statSync(`${file}-wal`).size;
  const start = performance.now();
  let [most, again, last] = [0, 0, 0];
  const copied = backup(source, `${file}.copy`, {
    rate,
    progress({ totalPages, remainingPages }) {
      const done = totalPages - remainingPages;
      if (done < last) again++;
      last = done;
      most = Math.max(most, logBytes());
      if (performance.now() - start > patienceMs) throw new Error("given up");
    },
  });
  const end = await copied.then(
    () => "done",
    (error: unknown) => (error as Error).message,
  );
  const seconds = (performance.now() - start) / 1000;
  most = Math.max(most, logBytes());
  source.close();
  const beside = new Promise((resolve) => writer.once("message", resolve));
  writer.postMessage("stop");
  console.log(
    `${isOneState ? "one state" : "any state"}, ${rate} pages a step, ${(statSync(file).size / 1e6).toFixed(0)} MB: ${end} after ${seconds.toFixed(1)} s, ` +
      `started again ${again} times, ${String(await beside)} transactions beside, log ${(most / 1e6).toFixed(0)} MB`,
  );
  rmSync(`${file}.copy`, { force: true });
}

if (isMainThread) {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-backup-"));
  const file = path.join(folder, "things.db");
  fill(file);
  for (const [isOneState, rate] of [
    [true, 1000],
    [true, 100],
    [false, 1000],
    [false, 10_000],
  ] as const)
    await measure(file, isOneState, rate);
  rmSync(folder, { recursive: true });
} else parentPort!.postMessage(await write(workerData as string));
