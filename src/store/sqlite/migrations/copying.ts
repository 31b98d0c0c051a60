import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { declaredName, quote } from "../../sql/language/names.ts";
import { ask as read } from "../../sql/language/script.ts";
import {
  forgetUnfinished,
  readUnfinished,
  digestTarget,
  writeUnfinished,
  type Unfinished,
} from "../../sql/migrations/journal.ts";
import type { MigrateOptions } from "../../sql/migrations/migrating.ts";
import type { TablePlan } from "../../sql/migrations/plan-table.ts";
import type { Collection, Key } from "../../store.ts";
import { playOn, prepare } from "../connection/connection.ts";
import { requireSpace } from "../table-changes/disk-space.ts";
import { dropTriggers, findLeftovers, letGo, removeLeftovers, renameAside } from "../table-changes/leftover-tables.ts";
import { runStep, FIRST_BATCH, inTransaction, nextBatchSize, RowsDoNotFit } from "../table-changes/migration-lock.ts";
import { sqliteSchema } from "../table-changes/migration.ts";
import { findObjects, freeName, makeIndexOn, ownObjects } from "../table-changes/own-objects.ts";
import { namesFor, nextRevision, shadowFor, type Shadow, type Which } from "../table-changes/shadow.ts";

/**
 * `copyRows` ends when at most this many rows are left to copy. They are copied when the old and the new table are
 * swapped.
 */
const lastRows = 300;
/**
 * A pass copies all rows that had changed when it started. This is the number of passes in a row that may leave at
 * least as many changed rows as an earlier pass. After that, the remaining rows are copied while other writers wait.
 */
const vainRounds = 5;

/** The work on one table. */
export interface Work {
  readonly database: DatabaseSync;
  readonly plan: TablePlan;
  readonly shadow: Shadow;
  readonly options: MigrateOptions;
  readonly total: number;
  state: Unfinished;
  batch: number;
}

/** Creates the copy of a table, or continues an unfinished one. */
export async function begin(database: DatabaseSync, plan: TablePlan, options: MigrateOptions): Promise<Work> {
  const { name } = plan.collection;
  const { dropped = [] } = options;
  const target = digestTarget(plan, dropped);
  // At the end, the migration renames the old table. A table of an earlier migration may still have the new name.
  await removeLeftovers(database, playOn(database, findLeftovers([plan.collection])));
  const before = playOn(database, readUnfinished(sqliteSchema, name));
  if (before?.target !== target) await discardCopy(database, plan.collection);
  const indexes = new Set(listNames(database, "index"));
  const tables = new Set(listNames(database, "table"));
  const shadow = shadowFor(sqliteSchema, plan, dropped, { indexes, tables, folds: true });
  for (const [called, make] of shadow.functions)
    database.function(called, { varargs: true }, (...cells) => make(...cells) as string | number | null);
  const [total] = prepare(database, `SELECT count(*) FROM ${quote(name)}`).get()!;
  const state = await runStep(database, () => {
    requireSpace(database);
    const begun = before?.target === target ? before : make();
    carryIndexes({ database, plan, shadow });
    return begun;
  });
  return { database, plan, shadow, options, total: total as number, state, batch: FIRST_BATCH };

  function make(): Unfinished {
    for (const sql of shadow.make) database.exec(sql);
    const fresh = { target, cursor: null, rows: 0, filled: false };
    playOn(database, writeUnfinished(sqliteSchema, name, fresh));
    return fresh;
  }
}

/**
 * Creates the indexes of other programs on the copy too, including indexes that were added while the rows were copied.
 */
export function carryIndexes({ database, plan, shadow }: Pick<Work, "database" | "plan" | "shadow">): void {
  const { indexes } = ownObjects(plan.collection, playOn(database, read(findObjects(plan.collection))));
  const ofCopy = playOn(database, read(findObjects({ name: namesFor(plan.collection).copy })));
  const there = new Set(ofCopy.map(({ name }) => declaredName(String(name))));
  const taken = new Set(listNames(database, "index"));
  for (const index of indexes)
    if (!there.has(declaredName(index.name))) makeIndexOn(database, index, freeName(index.name, taken), shadow.name);
}

/**
 * Removes the copy of a table, its triggers and the record of the unfinished migration, even if they are incomplete.
 */
export async function discardCopy(database: DatabaseSync, collection: Collection): Promise<void> {
  const { copy } = namesFor(collection);
  await removeLeftovers(database, playOn(database, findLeftovers([collection])));
  await inTransaction(database, () => {
    dropRecording(database, collection);
    renameAside(database, copy, collection.name);
    letGo(database, collection.name);
    playOn(database, forgetUnfinished(sqliteSchema, collection.name));
  });
  await removeLeftovers(database, playOn(database, findLeftovers([collection])));
}

/** Removes the triggers that record changed rows, and the table of these records. */
export function dropRecording(database: DatabaseSync, collection: Collection): void {
  const { moved, triggersPrefix } = namesFor(collection);
  playOn(database, dropTriggers(triggersPrefix));
  database.exec(`DROP TABLE IF EXISTS ${quote(moved)}`);
}

function listNames(database: DatabaseSync, type: "index" | "table"): readonly string[] {
  return prepare(database, "SELECT name FROM sqlite_schema WHERE type = ?")
    .all(type)
    .map(([name]) => name as string);
}

/**
 * Copies rows in batches of some milliseconds, until at most `lastRows` are left or `vainRounds` passes have made no
 * progress.
 */
export async function copyRows(work: Work): Promise<void> {
  while (!work.state.filled) await sleep(await runBatch(work, work.batch, () => copyNextRows(work)));
  let fewest = Infinity;
  for (let vain = 0; vain < vainRounds;) {
    const left = countChangedRows(work);
    if (left <= lastRows) return;
    vain = left < fewest ? 0 : vain + 1;
    fewest = Math.min(fewest, left);
    for (let rest = left; rest > 0;) {
      const most = Math.min(work.batch, rest);
      const took = await runBatch(work, most, () => copyChangedRows(work, most));
      rest -= most;
      // Pauses as long as the batch took, so that clients can write. It does not pause after a pass without progress,
      // because clients then change rows at the speed of the copy.
      if (vain === 0) await sleep(took);
    }
  }
}

/**
 * Throws if a row has no copy and is not recorded as changed. The check reads one snapshot, so it blocks no writer.
 * After the check, the triggers record every further change.
 */
export function requireAll({ database, plan, shadow }: Work): void {
  const table = quote(plan.collection.name);
  const noted =
    `SELECT count(*) FROM ${shadow.moved} AS m WHERE EXISTS (SELECT 1 FROM ${table} WHERE "id" = m."id") ` +
    `AND NOT EXISTS (SELECT 1 FROM ${shadow.name} WHERE "id" = m."id")`;
  const count = (from: string): string => `(SELECT count(*) FROM ${from})`;
  const [missing] = prepare(database, `SELECT ${count(table)} - ${count(shadow.name)} - (${noted})`).get()!;
  if (missing !== 0) throw new RowsDoNotFit(`${String(missing)} rows are missing in the copy`);
}

/** Copies the remaining rows. The caller holds the write lock. */
export function copyLast(work: Work): void {
  while (countChangedRows(work) > 0) copyChangedRows(work, lastRows);
}

/** Copies the next rows. Rows that have changed in the meantime are copied later. */
function copyNextRows(work: Work): void {
  const { database, shadow, state, plan } = work;
  const table = quote(plan.collection.name);
  const behind = (id: string): string => (state.cursor === null ? "TRUE" : `${id} > ${literal(state.cursor)}`);
  const [last, count] = prepare(
    database,
    `SELECT max("id"), count(*) FROM (SELECT "id" FROM ${table} WHERE ${behind(`"id"`)} ORDER BY "id" LIMIT ${work.batch})`,
  ).get()!;
  if (last === null) return keep(work, { ...state, filled: true });
  const rows = copy(
    work,
    (id) => `${behind(id)} AND ${id} <= ${literal(last as Key)} AND ${id} NOT IN (SELECT "id" FROM ${shadow.moved})`,
  );
  // A batch that is not full ends the loop. A loop that also copied the rows that clients add in the meantime might
  // never finish. The triggers have recorded those rows.
  const filled = (count as number) < work.batch;
  keep(work, { ...state, cursor: last as Key, rows: state.rows + rows, filled });
}

/** Copies rows that have changed since they were copied. */
function copyChangedRows(work: Work, most: number): void {
  const some = `SELECT "id" FROM ${work.shadow.moved} ORDER BY "id" LIMIT ${most}`;
  const rows = copy(work, (id) => `${id} IN (${some})`);
  work.database.exec(`DELETE FROM ${work.shadow.moved} WHERE "id" IN (${some})`);
  keep(work, { ...work.state, rows: work.state.rows + rows });
}

/** Copies rows and throws if a copy differs or refers to a missing row. Returns the number of rows. */
function copy({ database, shadow }: Work, where: Which): number {
  database.exec(nextRevision);
  const { changes } = prepare(database, shadow.copy(where)).run();
  const [differing] = prepare(database, shadow.differing(where)).get()!;
  if (differing !== 0) throw new Error(`${String(differing)} rows differ in the copy`);
  const dangling = shadow.dangling(where);
  const found = dangling === null ? [] : prepare(database, dangling).all();
  if (found.length > 0) throw new Error(`rows refer to missing rows (id ${found.map(([id]) => id).join(", ")})`);
  return Number(changes);
}

function keep(work: Work, state: Unfinished): void {
  playOn(work.database, writeUnfinished(sqliteSchema, work.plan.collection.name, state));
  work.state = state;
}

/** Returns the number of rows that have changed since they were copied. */
function countChangedRows({ database, shadow }: Work): number {
  return prepare(database, `SELECT count(*) FROM ${shadow.moved}`).get()![0] as number;
}

/** Copies a batch of rows. Returns how long other writers had to wait for it, in milliseconds. */
async function runBatch(work: Work, rows: number, task: () => void): Promise<number> {
  const { database, options, plan, total } = work;
  const took = await runStep(database, () => {
    requireSpace(database);
    // The measured time does not include the wait until other connections have finished writing.
    const start = performance.now();
    task();
    return performance.now() - start;
  });
  work.batch = nextBatchSize(rows, took);
  options.report?.(plan.collection.name, work.state.rows, total);
  // Checkpoints the log here, so the next writer does not have to do it.
  database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  return took;
}

function literal(key: Key): string {
  return typeof key === "number" ? String(key) : sqliteSchema.literal(key);
}
