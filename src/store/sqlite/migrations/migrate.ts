import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { pickOwnCollections } from "../../declarations.ts";
import { quote, formatWordsTable } from "../../sql/language/names.ts";
import { ask as read } from "../../sql/language/script.ts";
import {
  forgetUnfinished,
  makeJournal,
  readHistory,
  readUnfinished,
  requireOwnHistory,
  writeDone,
} from "../../sql/migrations/journal.ts";
import {
  planTables,
  requirePossible,
  describeChanges,
  type MigratedTable,
  type MigrateOptions,
} from "../../sql/migrations/migrating.ts";
import { rememberDeclaration } from "../../sql/migrations/migration.ts";
import type { TablePlan } from "../../sql/migrations/plan-table.ts";
import { excludesOldPrograms } from "../../sql/migrations/schema-changes.ts";
import { emptiedLinks } from "../../sql/schema/links.ts";
import { fitWords } from "../../sql/word-index.ts";
import { MigrationNeeded, type Collection } from "../../store.ts";
import { connect, playOn, prepare } from "../connection/connection.ts";
import { prepareFile } from "../schema.ts";
import { findUncompiled, requireCompiled } from "../table-changes/bound.ts";
import {
  findLeftovers,
  letGo,
  removeLeftovers,
  renameAside,
  formatAsideWords,
} from "../table-changes/leftover-tables.ts";
import { runStep, takeMigrationLock, RowsDoNotFit } from "../table-changes/migration-lock.ts";
import { sqliteSchema } from "../table-changes/migration.ts";
import { findObjects, ownObjects } from "../table-changes/own-objects.ts";
import {
  begin,
  carryIndexes,
  copyLast,
  copyRows,
  discardCopy,
  requireAll,
  dropRecording,
  type Work,
} from "./copying.ts";
import { removeDryRuns } from "./dry-run-cleanup.ts";
import { needsCopy } from "./moved.ts";
import { addObstacles } from "./precheck.ts";

/** The page cache during a migration, in KiB. */
const cacheKiB = 65_536;

/** Migrates the tables of a file while other processes read and write. Continues an interrupted migration. */
export async function migrateFile(
  path: string,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  if (!existsSync(path)) {
    prepareFile(path, collections);
    return [];
  }
  const release = takeMigrationLock(path);
  try {
    removeDryRuns(path);
    return await migrateTables(path, collections, options);
  } finally {
    release();
  }
}

async function migrateTables(
  path: string,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  const database = connect(path);
  try {
    // The migration replaces each table by a new table with the same name. With these settings, references from other
    // tables keep the name and do not follow the renamed old table.
    database.exec("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON");
    // The rows of a batch change index pages in many places. With a small cache, SQLite would evict these pages and
    // read and write them again.
    database.exec(`PRAGMA cache_size = -${cacheKiB}`);
    const migrated: MigratedTable[] = [];
    const { dropped = [] } = options;
    const planned = playOn(database, planTables(sqliteSchema, collections, dropped));
    const plans = addObstacles(database, planned.plans, dropped);
    requirePossible(plans, dropped, playOn(database, readHistory(sqliteSchema)));
    playOn(database, requireOwnHistory(sqliteSchema, options.program));
    for (const plan of plans) {
      if (needsCopy(plan, countRows(database, plan))) {
        playOn(database, makeJournal(sqliteSchema));
        migrated.push(await migrateTable(database, plan, options));
      } else await dropUnfinished(database, plan);
    }
    prepareFile(path, collections);
    for (const steps of playOn(database, emptiedLinks(sqliteSchema, pickOwnCollections(collections))).values())
      await runStep(database, () => database.exec(steps.join(";\n")));
    await removeOldTables(database, options);
    return migrated;
  } finally {
    database.close();
  }
}

/**
 * Removes the old tables at the end. Calls `settled` first, because the new version of the service can start without
 * waiting for the removal.
 */
async function removeOldTables(database: DatabaseSync, { settled, reportRemoved }: MigrateOptions): Promise<void> {
  const leftoverTables = playOn(database, findLeftovers());
  if (leftoverTables.length === 0) return;
  settled?.();
  await removeLeftovers(database, leftoverTables, reportRemoved);
}

function countRows(database: DatabaseSync, { collection, changes }: TablePlan): number {
  if (changes.length === 0) return 0;
  return prepare(database, `SELECT count(*) FROM ${quote(collection.name)}`).get()![0] as number;
}

async function migrateTable(database: DatabaseSync, plan: TablePlan, options: MigrateOptions): Promise<MigratedTable> {
  const start = performance.now();
  const { collection } = plan;
  try {
    const work = await begin(database, plan, options);
    await copyRows(work);
    requireAll(work);
    // Copies the rows that have changed during the check, so that few are left for the final swap.
    await copyRows(work);
    const done = (): MigratedTable => ({
      table: collection.name,
      words: describeChanges(plan),
      rows: work.state.rows,
      ms: performance.now() - start,
    });
    const switched = done();
    await runStep(database, () => swapTables(work, switched));
    return switched;
  } catch (error) {
    if (!(error instanceof RowsDoNotFit)) throw error;
    await discardCopy(database, collection);
    throw new MigrationNeeded([
      `${collection.name} was not changed: ${error.message}. Check it with latchkey db plan, correct it, and migrate again.`,
    ]);
  }
}

/** Copies the last rows and swaps the tables. Writers wait only briefly, even if the table is large. */
function swapTables(work: Work, done: MigratedTable): void {
  const { database, shadow, plan, options } = work;
  const { collection, found } = plan;
  const { name } = collection;
  const uncompiled = findUncompiled(database, name);
  copyLast(work);
  carryIndexes(work);
  const { triggers } = ownObjects(collection, playOn(database, read(findObjects(collection))));
  renameAside(database, name);
  renameAside(database, formatWordsTable(sqliteSchema, collection), formatAsideWords(name));
  database.exec(`ALTER TABLE ${shadow.name} RENAME TO ${quote(name)}`);
  dropRecording(database, collection);
  letGo(database, name);
  for (const { sql } of triggers) database.exec(sql);
  requireCompiled(database, name, uncompiled);
  playOn(database, fitWords(sqliteSchema, collection));
  playOn(
    database,
    rememberDeclaration(sqliteSchema, collection, { before: found, alone: excludesOldPrograms(plan.changes) }),
  );
  playOn(database, forgetUnfinished(sqliteSchema, name));
  playOn(database, writeDone(sqliteSchema, { ...done, program: options.program }, done.words));
}

/**
 * Removes an unfinished migration to an older declaration. Otherwise its triggers would update an unused copy forever.
 */
async function dropUnfinished(database: DatabaseSync, { collection }: TablePlan): Promise<void> {
  if (playOn(database, readUnfinished(sqliteSchema, collection.name)) !== null) await discardCopy(database, collection);
}
