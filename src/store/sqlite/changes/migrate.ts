import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fold } from "../../fold.ts";
import {
  forgetUnfinished,
  makeJournal,
  readUnfinished,
  requireOwnHistory,
  targetOf,
  writeDone,
  writeUnfinished,
  type Unfinished,
} from "../../sql/changes/journal.ts";
import {
  isMoreThanStart,
  planTables,
  requirePossible,
  wordsOf,
  type MigratedTable,
  type MigrateOptions,
} from "../../sql/changes/migrating.ts";
import type { TablePlan } from "../../sql/changes/plan-table.ts";
import { quote } from "../../sql/names.ts";
import { rememberDeclaration } from "../../sql/schema/migration.ts";
import { ask as read, play, type Script } from "../../sql/schema/script.ts";
import { fitWords } from "../../sql/words.ts";
import { MigrationNeeded, type Collection, type Key } from "../../store.ts";
import { connect, prepare, sendTo } from "../connection.ts";
import { isBusy } from "../errors.ts";
import { sqliteSchema } from "../migration.ts";
import { prepareFile } from "../schema.ts";
import { findOwnObjects, nextRevision, ownObjects, shadowFor, type Shadow, type Which } from "./shadow.ts";
import { inTransaction, takeTurn } from "./turns.ts";

/** How many rows a portion begins with, and how long it may take in milliseconds: whoever writes waits for it. */
const firstPortion = 200;
const portionMs = 15;
/** With no more rows than these left, the tables change places. */
const lastRows = 300;
/** Who writes faster than rows are copied is let wait in the end. */
const mostAtOnce = 100_000;
/** A table with so many rows gets new indexes beside its writers. */
const largeTable = 20_000;

/** Makes the tables of a file fit, while anybody reads and writes. What was broken off goes on where it was. */
export async function migrateFile(
  path: string,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  if (!existsSync(path)) {
    prepareFile(path, collections);
    return [];
  }
  const release = takeTurn(path);
  const database = connect(path);
  try {
    // Tables take the place of others, and what refers to them stays as it is.
    database.exec("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON");
    database.function("latchkey_fold", { deterministic: true }, (text) =>
      typeof text === "string" ? fold(text) : null,
    );
    const migrated: MigratedTable[] = [];
    const { dropped = [] } = options;
    const { plans } = ask(database, planTables(sqliteSchema, collections, dropped));
    requirePossible(plans, dropped);
    ask(database, requireOwnHistory(sqliteSchema, options.program));
    for (const plan of plans) {
      if (isMoreThanStart(plan) || (isIndexed(plan) && isLarge(database, plan))) {
        ask(database, makeJournal(sqliteSchema));
        migrated.push(await moveTable(database, plan, options));
      } else await dropUnfinished(database, plan);
    }
    prepareFile(path, collections);
    return migrated;
  } finally {
    database.close();
    release();
  }
}

function ask<T>(database: DatabaseSync, script: Script<T>): T {
  return play(script, sendTo(database));
}

function isIndexed({ changes }: TablePlan): boolean {
  return changes.some(({ words }) => words.startsWith("make the index"));
}

function isLarge(database: DatabaseSync, { collection }: TablePlan): boolean {
  const found = prepare(
    database,
    `SELECT count(*) FROM (SELECT 1 FROM ${quote(collection.name)} LIMIT ${largeTable})`,
  ).get();
  return found![0] === largeTable;
}

/** The work on one table. */
interface Work {
  readonly database: DatabaseSync;
  readonly plan: TablePlan;
  readonly shadow: Shadow;
  readonly options: MigrateOptions;
  readonly total: number;
  state: Unfinished;
  portion: number;
}

async function moveTable(database: DatabaseSync, plan: TablePlan, options: MigrateOptions): Promise<MigratedTable> {
  const start = performance.now();
  const { collection } = plan;
  const work = await begin(database, plan, options);
  try {
    while (!work.state.filled) await portionOf(work, () => fill(work));
    // More at each turn, so that it comes to an end however fast others write.
    for (let most = lastRows; waiting(work) > lastRows && most < mostAtOnce; most *= 2)
      await portionOf(work, () => catchUp(work, most));
    const done = (): MigratedTable => ({
      table: collection.name,
      words: wordsOf(plan),
      rows: work.state.rows,
      ms: performance.now() - start,
    });
    await inTransaction(database, () => takePlace(work, done()));
    return done();
  } catch (error) {
    if (isBusy(error)) throw error;
    // What cannot become what is declared leaves the table as it was.
    await inTransaction(database, () => giveUp(work));
    throw new MigrationNeeded([
      `${collection.name} stays as it was: ${error instanceof Error ? error.message : String(error)}. Look at it with latchkey db plan, mend it, and migrate again.`,
    ]);
  }
}

async function begin(database: DatabaseSync, plan: TablePlan, options: MigrateOptions): Promise<Work> {
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
    const before = ask(database, readUnfinished(sqliteSchema, name));
    if (before !== null && before.target === target) return before;
    for (const sql of shadow.make) database.exec(sql);
    const fresh = { target, cursor: null, rows: 0, filled: false };
    ask(database, writeUnfinished(sqliteSchema, name, fresh));
    return fresh;
  });
  return { database, plan, shadow, options, total: total as number, state, portion: firstPortion };
}

/** Copies the next rows. Those that have changed meanwhile are copied later. */
function fill(work: Work): void {
  const { database, shadow, state, plan } = work;
  const table = quote(plan.collection.name);
  const behind = (id: string): string => (state.cursor === null ? "TRUE" : `${id} > ${literal(state.cursor)}`);
  const [last] = prepare(
    database,
    `SELECT max("id") FROM (SELECT "id" FROM ${table} WHERE ${behind(`"id"`)} ORDER BY "id" LIMIT ${work.portion})`,
  ).get()!;
  if (last === null) return keep(work, { ...state, filled: true });
  const rows = copy(
    work,
    (id) => `${behind(id)} AND ${id} <= ${literal(last as Key)} AND ${id} NOT IN (SELECT "id" FROM ${shadow.moved})`,
  );
  keep(work, { ...state, cursor: last as Key, rows: state.rows + rows });
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

function waiting({ database, shadow }: Work): number {
  return prepare(
    database,
    `SELECT count(*) FROM (SELECT 1 FROM ${shadow.moved} LIMIT ${lastRows + 1})`,
  ).get()![0] as number;
}

/** The last rows are copied and the tables change places: nobody writes in between. */
function takePlace(work: Work, done: MigratedTable): void {
  const { database, shadow, plan, options } = work;
  const { collection, found } = plan;
  const table = quote(collection.name);
  while (waiting(work) > 0) catchUp(work, lastRows);
  const [differ] = prepare(
    database,
    `SELECT (SELECT count(*) FROM ${table}) - (SELECT count(*) FROM ${shadow.name})`,
  ).get()!;
  if (differ !== 0) throw new Error(`${String(differ)} rows are missing in the copy`);
  const own = ownObjects(collection, ask(database, read(findOwnObjects(collection))));
  database.exec(`DROP TABLE ${table}`);
  database.exec(`ALTER TABLE ${shadow.name} RENAME TO ${table}`);
  database.exec(`DROP TABLE ${shadow.moved}`);
  for (const sql of own) database.exec(sql);
  ask(database, fitWords(sqliteSchema, collection));
  requireReferences(database, plan);
  ask(database, rememberDeclaration(sqliteSchema, collection, found));
  ask(database, forgetUnfinished(sqliteSchema, collection.name));
  const at = new Date().toISOString();
  for (const words of done.words)
    ask(database, writeDone(sqliteSchema, { ...done, at, program: options.program, words }));
}

/** Rows that refer to none are found by SQLite itself, where references have changed. */
function requireReferences(database: DatabaseSync, { collection, changes }: TablePlan): void {
  if (!changes.some(({ words }) => words.includes("refer"))) return;
  const dangling = prepare(database, "SELECT rowid FROM pragma_foreign_key_check(?) LIMIT 5").all(collection.name);
  if (dangling.length > 0)
    throw new Error(`rows refer to what is not there (id ${dangling.map(([id]) => id).join(", ")})`);
}

/** What was begun for a declaration that is there no more: its triggers would keep a copy in step for ever. */
async function dropUnfinished(database: DatabaseSync, plan: TablePlan): Promise<void> {
  if (ask(database, readUnfinished(sqliteSchema, plan.collection.name)) === null) return;
  const shadow = shadowFor(sqliteSchema, plan, [], { indexes: new Set(), folds: false });
  await inTransaction(database, () => giveUp({ database, shadow, plan }));
}

function giveUp({ database, shadow, plan }: Pick<Work, "database" | "shadow" | "plan">): void {
  for (const sql of shadow.discard) database.exec(sql);
  ask(database, forgetUnfinished(sqliteSchema, plan.collection.name));
}

/** A portion, and then the others' turn for as long as it took. */
async function portionOf(work: Work, task: () => void): Promise<void> {
  const { database, options, plan, total } = work;
  const took = await inTransaction(database, () => {
    // Without the wait for those who write.
    const start = performance.now();
    task();
    return performance.now() - start;
  });
  work.portion = Math.min(Math.max(Math.round((work.portion * portionMs) / Math.max(took, 1)), 100), 5000);
  options.tell?.(plan.collection.name, work.state.rows, total);
  // The log is brought into the file here, and not by whoever happens to write next.
  database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  await sleep(took);
}

function literal(key: Key): string {
  return typeof key === "number" ? String(key) : sqliteSchema.literal(key);
}
