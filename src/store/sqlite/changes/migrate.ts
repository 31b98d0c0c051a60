import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { fold } from "../../fold.ts";
import { endsOthers } from "../../sql/changes/changes.ts";
import {
  forgetUnfinished,
  makeJournal,
  readHistory,
  readUnfinished,
  requireOwnHistory,
  writeDone,
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
import { MigrationNeeded, type Collection } from "../../store.ts";
import { connect, prepare, sendTo } from "../connection.ts";
import { sqliteSchema } from "../migration.ts";
import { prepareFile } from "../schema.ts";
import { begin, change, copyLast, copyRows, Unfit, type Work } from "./copying.ts";
import { findOwnObjects, ownObjects, shadowFor } from "./shadow.ts";
import { inTransaction, takeTurn } from "./turns.ts";

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
    requirePossible(plans, dropped, ask(database, readHistory(sqliteSchema)));
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

async function moveTable(database: DatabaseSync, plan: TablePlan, options: MigrateOptions): Promise<MigratedTable> {
  const start = performance.now();
  const { collection } = plan;
  const work = await begin(database, plan, options);
  try {
    await copyRows(work);
    const done = (): MigratedTable => ({
      table: collection.name,
      words: wordsOf(plan),
      rows: work.state.rows,
      ms: performance.now() - start,
    });
    await change(database, () => takePlace(work, done()));
    return done();
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    await inTransaction(database, () => giveUp(work));
    throw new MigrationNeeded([
      `${collection.name} stays as it was: ${error.message}. Look at it with latchkey db plan, mend it, and migrate again.`,
    ]);
  }
}

/** The last rows are copied and the tables change places: nobody writes in between. */
function takePlace(work: Work, done: MigratedTable): void {
  const { database, shadow, plan, options } = work;
  const { collection, found } = plan;
  const table = quote(collection.name);
  copyLast(work);
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
  ask(database, rememberDeclaration(sqliteSchema, collection, { before: found, alone: endsOthers(plan.changes) }));
  ask(database, forgetUnfinished(sqliteSchema, collection.name));
  ask(database, writeDone(sqliteSchema, { ...done, program: options.program }, done.words));
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
