import { existsSync } from "node:fs";
import { aBoolean, aFunction, aList, optional, text, texts } from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import type { Checked, StoreSource, StoreTarget } from "../copy.ts";
import { quote } from "../sql/language/names.ts";
import { migrateOptions, type MigratedTable, type MigrateOptions, type Plan } from "../sql/migrations/migrating.ts";
import type { FoundExisting } from "../sql/schema/found.ts";
import type { Stats } from "../sql/stats.ts";
import type { Collection } from "../store.ts";
import { connectReadOnly, prepare } from "./connection/connection.ts";
import { storeError } from "./connection/errors.ts";
import type { ReportPages } from "./whole/backup.ts";
import type { Restoring } from "./whole/restore.ts";

// Each function imports its code when it is called, because a running service does not need this code.

/** Opens a SQLite file to copy it. Other connections cannot open the file until the source is closed. */
export async function sqliteSource(path: string): Promise<StoreSource> {
  requireArguments("sqliteSource", arguments, { path: text });
  return (await import("./whole/source.ts")).openSource(path);
}

/** Starts a new SQLite file to copy into. */
export async function sqliteTarget(path: string): Promise<StoreTarget> {
  requireArguments("sqliteTarget", arguments, { path: text });
  return (await import("./whole/target.ts")).openTarget(path);
}

/** Checks a whole SQLite file, also while it is in use. `report` receives the number of finished tables. */
export async function checkSQLite(path: string, report: ReportPages = () => undefined): Promise<Checked> {
  requireArguments("checkSQLite", arguments, { path: text, report: optional(aFunction) });
  return (await import("./whole/check.ts")).checkFile(path, report);
}

/** Measures the size of each table of a SQLite file, also while it is in use. */
export async function measureSQLite(path: string): Promise<Stats> {
  requireArguments("measureSQLite", arguments, { path: text });
  return (await import("./whole/stats.ts")).statsOfFile(path);
}

/**
 * Writes one state of a SQLite file into another file, also while the first file is in use. Returns the size of the
 * copy in bytes.
 */
export async function backupSQLite(path: string, to: string, replace: boolean, report: ReportPages): Promise<number> {
  requireArguments("backupSQLite", arguments, { path: text, to: text, replace: aBoolean, report: aFunction });
  return (await import("./whole/backup.ts")).backupFile(path, to, replace, report);
}

/** Starts to replace a SQLite file with a backup. */
export async function restoreSQLite(file: string, place: string, report: ReportPages): Promise<Restoring> {
  requireArguments("restoreSQLite", arguments, { file: text, place: text, report: aFunction });
  return (await import("./whole/restore.ts")).beginRestore(file, place, report);
}

/** Returns the declarations of the tables of a SQLite file. Returns null if the file does not exist. */
export async function sqliteCollections(path: string): Promise<readonly Collection[] | null> {
  requireArguments("sqliteCollections", arguments, { path: text });
  return (await import("./whole/check.ts")).findCollections(path);
}

/**
 * Deletes every row of some tables of a SQLite file, and the rows that depend on them. The file must not be in use.
 * Returns the number of deleted rows of these tables.
 */
export async function emptySQLite(path: string, tables: readonly string[]): Promise<number> {
  requireArguments("emptySQLite", arguments, { path: text, tables: texts });
  return (await import("./whole/emptying.ts")).emptyFile(path, tables);
}

/** Returns the changes that would make a SQLite file fit the declarations. Changes nothing. */
export async function planSQLite(
  path: string,
  collections: readonly Collection[],
  dropped: readonly string[] = [],
): Promise<Plan> {
  requireArguments("planSQLite", arguments, { path: text, collections: aList, dropped: optional(texts) });
  return explainErrors(path, async () => (await import("./migrations/plan.ts")).planFile(path, collections, dropped));
}

/** Makes the changes that `planSQLite` returns, while clients read and write. Continues an interrupted migration. */
export async function migrateSQLite(
  path: string,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  requireArguments("migrateSQLite", arguments, { path: text, collections: aList, options: migrateOptions });
  return explainErrors(path, async () =>
    (await import("./migrations/migrate.ts")).migrateFile(path, collections, options),
  );
}

/** Tries a migration: makes the changes of `migrateSQLite` in a copy of the file, and deletes the copy. */
export async function trySQLite(
  path: string,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  requireArguments("trySQLite", arguments, { path: text, collections: aList, options: migrateOptions });
  return explainErrors(path, async () =>
    (await import("./migrations/dry-run.ts")).dryRunFile(path, collections, options),
  );
}

/** Returns every table of a SQLite file that is not Latchkey's, by name. Changes nothing. */
export async function inspectSQLite(path: string): Promise<ReadonlyMap<string, FoundExisting>> {
  requireArguments("inspectSQLite", arguments, { path: text });
  return (await import("./existing/inspect.ts")).inspectFile(path);
}

/** Runs a task. Turns errors of the disk or the file into messages that name the fix. */
async function explainErrors<T>(path: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    const { unreadable } = await import("./whole/alone.ts");
    throw unreadable(error, path) ?? storeError(error);
  }
}

/**
 * Returns true if a table of a SQLite file has a row, also while the file is in use. Returns false if there is no such
 * file or table, or if the file cannot be read.
 */
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
    // The service reports the error when it starts.
    return false;
  }
}
