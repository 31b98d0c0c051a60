import { existsSync } from "node:fs";
import { aBoolean, aFunction, aList, optional, text, texts } from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import type { Checked, StoreSource, StoreTarget } from "../copy.ts";
import { migrateOptions, type MigratedTable, type MigrateOptions, type Plan } from "../sql/changes/migrating.ts";
import type { FoundExisting } from "../sql/existing/found.ts";
import { quote } from "../sql/names.ts";
import type { Stats } from "../sql/stats.ts";
import type { Collection } from "../store.ts";
import { connectReadOnly, prepare } from "./connection.ts";
import { storeError } from "./errors.ts";
import type { TellPages } from "./whole/backup.ts";
import type { Restoring } from "./whole/restore.ts";

// Loaded by those who ask for it alone: a service that serves has no use for it.

/** Opens a SQLite file to copy it; nobody else can open it until it is closed. */
export async function sqliteSource(path: string): Promise<StoreSource> {
  requireArguments("sqliteSource", arguments, { path: text });
  return (await import("./whole/source.ts")).openSource(path);
}

/** Begins a new SQLite file to copy into. */
export async function sqliteTarget(path: string): Promise<StoreTarget> {
  requireArguments("sqliteTarget", arguments, { path: text });
  return (await import("./whole/target.ts")).openTarget(path);
}

/** Looks at all of a SQLite file, also while it is in use; `tell` is told how many of its tables are done. */
export async function checkSQLite(path: string, tell: TellPages = () => undefined): Promise<Checked> {
  requireArguments("checkSQLite", arguments, { path: text, tell: optional(aFunction) });
  return (await import("./whole/check.ts")).checkFile(path, tell);
}

/** How much a SQLite file holds, table by table, also while it is in use. */
export async function measureSQLite(path: string): Promise<Stats> {
  requireArguments("measureSQLite", arguments, { path: text });
  return (await import("./whole/stats.ts")).statsOfFile(path);
}

/** Writes one state of a SQLite file into another, also while it is in use. Gives the size in bytes. */
export async function backupSQLite(path: string, to: string, replace: boolean, tell: TellPages): Promise<number> {
  requireArguments("backupSQLite", arguments, { path: text, to: text, replace: aBoolean, tell: aFunction });
  return (await import("./whole/backup.ts")).backupFile(path, to, replace, tell);
}

/** Begins to put a backup in the place of a SQLite file. */
export async function restoreSQLite(file: string, place: string, tell: TellPages): Promise<Restoring> {
  requireArguments("restoreSQLite", arguments, { file: text, place: text, tell: aFunction });
  return (await import("./whole/restore.ts")).beginRestore(file, place, tell);
}

/** What the tables of a SQLite file were declared as; null where there is no file. */
export async function sqliteCollections(path: string): Promise<readonly Collection[] | null> {
  requireArguments("sqliteCollections", arguments, { path: text });
  return (await import("./whole/check.ts")).findCollections(path);
}

/** Removes every row of tables of a SQLite file that nobody has open, and what goes with them. Gives how many there were. */
export async function emptySQLite(path: string, tables: readonly string[]): Promise<number> {
  requireArguments("emptySQLite", arguments, { path: text, tables: texts });
  return (await import("./whole/emptying.ts")).emptyFile(path, tables);
}

/** What would be done to a SQLite file so that it fits declarations; nothing is changed. */
export async function planSQLite(
  path: string,
  collections: readonly Collection[],
  dropped: readonly string[] = [],
): Promise<Plan> {
  requireArguments("planSQLite", arguments, { path: text, collections: aList, dropped: optional(texts) });
  return told(path, async () => (await import("./changes/plan.ts")).planFile(path, collections, dropped));
}

/** Does what `planSQLite` tells, while anybody reads and writes. What was broken off goes on where it was. */
export async function migrateSQLite(
  path: string,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  requireArguments("migrateSQLite", arguments, { path: text, collections: aList, options: migrateOptions });
  return told(path, async () => (await import("./changes/migrate.ts")).migrateFile(path, collections, options));
}

/** Does what `migrateSQLite` does to a copy of the file, which is removed again. */
export async function trySQLite(
  path: string,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  requireArguments("trySQLite", arguments, { path: text, collections: aList, options: migrateOptions });
  return told(path, async () => (await import("./changes/try.ts")).tryFile(path, collections, options));
}

/** Every table of a SQLite file that is not Latchkey's, by its name; nothing is changed. */
export async function inspectSQLite(path: string): Promise<ReadonlyMap<string, FoundExisting>> {
  requireArguments("inspectSQLite", arguments, { path: text });
  return (await import("./existing/inspect.ts")).inspectFile(path);
}

/** What the disk or the file fails with is told in words that name the cure. */
async function told<T>(path: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    const { unreadable } = await import("./whole/alone.ts");
    throw unreadable(error, path) ?? storeError(error);
  }
}

/** Whether a table of a SQLite file has any row, also while it is in use. False where there is no such file or table, and where it cannot be read. */
export function sqliteHasRows(path: string, table: string): boolean {
  requireArguments("sqliteHasRows", arguments, { path: text, table: text });
  if (!existsSync(path)) return false;
  try {
    const database = connectReadOnly(path);
    try {
      return prepare(database, `SELECT 1 FROM ${quote(table)} LIMIT 1`).get() !== undefined;
    } finally {
      database.close();
    }
  } catch {
    // Whoever opens it to serve from it is told what is wrong.
    return false;
  }
}
