import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { readUnfinished, targetOf, writeUnfinished, type Unfinished } from "../../sql/changes/journal.ts";
import type { MigrateOptions } from "../../sql/changes/migrating.ts";
import type { TablePlan } from "../../sql/changes/plan-table.ts";
import { quote } from "../../sql/names.ts";
import { play, type Script } from "../../sql/schema/script.ts";
import { StoreFull, type Key } from "../../store.ts";
import { prepare, sendTo } from "../connection.ts";
import { isStoreFailure } from "../errors.ts";
import { sqliteSchema } from "../migration.ts";
import { requireRoom } from "./room.ts";
import { nextRevision, shadowFor, type Shadow, type Which } from "./shadow.ts";
import { inTransaction } from "./turns.ts";

/** How many rows a portion begins with, and how long it may take in milliseconds: whoever writes waits for it. */
const firstPortion = 200;
const portionMs = 15;
/** With no more rows than these left, the tables change places. */
const lastRows = 300;
/** So many rounds in which nothing is gained: who writes faster than rows are copied is let wait in the end. */
const vainRounds = 5;

/** What is there cannot become what is declared. Everything else (a full disk, a lock) passes, and what was copied stays. */
export class Unfit extends Error {
  override readonly name = "Unfit";
}

/** The work on one table. */
export interface Work {
  readonly database: DatabaseSync;
  readonly plan: TablePlan;
  readonly shadow: Shadow;
  readonly options: MigrateOptions;
  readonly total: number;
  state: Unfinished;
  portion: number;
}

/** Makes the copy of a table, or finds it where it was left. */
export async function begin(database: DatabaseSync, plan: TablePlan, options: MigrateOptions): Promise<Work> {
  const { name } = plan.collection;
  const { dropped = [] } = options;
  const target = targetOf(plan, dropped);
  const indexes = new Set(
    prepare(database, "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?")
      .all(name)
      .map(([each]) => each as string),
  );
  const shadow = shadowFor(sqliteSchema, plan, dropped, { indexes, folds: true });
  for (const [called, make] of shadow.functions)
    database.function(called, { varargs: true }, (...cells) => make(...cells) as string | number | null);
  const [total] = prepare(database, `SELECT count(*) FROM ${quote(name)}`).get()!;
  const state = await inTransaction(database, () => {
    requireRoom(database);
    const before = ask(database, readUnfinished(sqliteSchema, name));
    if (before !== null && before.target === target) return before;
    for (const sql of shadow.make) database.exec(sql);
    const fresh = { target, cursor: null, rows: 0, filled: false };
    ask(database, writeUnfinished(sqliteSchema, name, fresh));
    return fresh;
  });
  return { database, plan, shadow, options, total: total as number, state, portion: firstPortion };
}

/** Copies rows until hardly any is left, some milliseconds at a time. */
export async function copyRows(work: Work): Promise<void> {
  while (!work.state.filled) await sleep(await portionOf(work, work.portion, () => fill(work)));
  let fewest = Infinity;
  for (let vain = 0; vain < vainRounds;) {
    const left = waiting(work);
    if (left <= lastRows) return;
    vain = left < fewest ? 0 : vain + 1;
    fewest = Math.min(fewest, left);
    for (let rest = left; rest > 0;) {
      const most = Math.min(work.portion, rest);
      const took = await portionOf(work, most, () => catchUp(work, most));
      rest -= most;
      // The others' turn is as long, unless they write more in it than is copied.
      if (vain === 0) await sleep(took);
    }
  }
}

/** Copies what is left. Nobody else may write meanwhile. */
export function copyLast(work: Work): void {
  while (waiting(work) > 0) catchUp(work, lastRows);
}

/** All of a task or nothing, as soon as nobody else writes. What fails for the sake of the rows is `Unfit`. */
export function change<T>(database: DatabaseSync, task: () => T): Promise<T> {
  return inTransaction(database, () => {
    try {
      return task();
    } catch (error) {
      if (error instanceof StoreFull || isStoreFailure(error)) throw error;
      throw new Unfit(error instanceof Error ? error.message : String(error), { cause: error });
    }
  });
}

/** Copies the next rows. Those that have changed meanwhile are copied later. */
function fill(work: Work): void {
  const { database, shadow, state, plan } = work;
  const table = quote(plan.collection.name);
  const behind = (id: string): string => (state.cursor === null ? "TRUE" : `${id} > ${literal(state.cursor)}`);
  const [last, count] = prepare(
    database,
    `SELECT max("id"), count(*) FROM (SELECT "id" FROM ${table} WHERE ${behind(`"id"`)} ORDER BY "id" LIMIT ${work.portion})`,
  ).get()!;
  if (last === null) return keep(work, { ...state, filled: true });
  const rows = copy(
    work,
    (id) => `${behind(id)} AND ${id} <= ${literal(last as Key)} AND ${id} NOT IN (SELECT "id" FROM ${shadow.moved})`,
  );
  // Rows that are made from now on are noted: whoever went after them would never come to an end.
  const filled = (count as number) < work.portion;
  keep(work, { ...state, cursor: last as Key, rows: state.rows + rows, filled });
}

/** Copies rows that have changed since they were copied. */
function catchUp(work: Work, most: number): void {
  const some = `SELECT "id" FROM ${work.shadow.moved} ORDER BY "id" LIMIT ${most}`;
  const rows = copy(work, (id) => `${id} IN (${some})`);
  work.database.exec(`DELETE FROM ${work.shadow.moved} WHERE "id" IN (${some})`);
  keep(work, { ...work.state, rows: work.state.rows + rows });
}

/** Copies rows and looks whether they are what they were. */
function copy({ database, shadow }: Work, where: Which): number {
  database.exec(nextRevision);
  const { changes } = prepare(database, shadow.copy(where)).run();
  const [differing] = prepare(database, shadow.differing(where)).get()!;
  if (differing !== 0) throw new Error(`${String(differing)} rows were not copied as they are`);
  return Number(changes);
}

function keep(work: Work, state: Unfinished): void {
  ask(work.database, writeUnfinished(sqliteSchema, work.plan.collection.name, state));
  work.state = state;
}

/** How many rows have changed since they were copied. */
function waiting({ database, shadow }: Work): number {
  return prepare(database, `SELECT count(*) FROM ${shadow.moved}`).get()![0] as number;
}

/** A portion of so many rows. Gives how long others have waited for it, in milliseconds. */
async function portionOf(work: Work, rows: number, task: () => void): Promise<number> {
  const { database, options, plan, total } = work;
  const took = await change(database, () => {
    requireRoom(database);
    // Without the wait for those who write.
    const start = performance.now();
    task();
    return performance.now() - start;
  });
  work.portion = Math.min(Math.max(Math.round((rows * portionMs) / Math.max(took, 1)), 100), 5000);
  options.tell?.(plan.collection.name, work.state.rows, total);
  // The log is brought into the file here, and not by whoever happens to write next.
  database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  return took;
}

function literal(key: Key): string {
  return typeof key === "number" ? String(key) : sqliteSchema.literal(key);
}

function ask<T>(database: DatabaseSync, script: Script<T>): T {
  return play(script, sendTo(database));
}
