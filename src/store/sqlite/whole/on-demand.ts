import { aBoolean, aFunction, optional, text, texts } from "../../../checking/members.ts";
import { requireArguments } from "../../../checking/options.ts";
import type { Checked, StoreSource, StoreTarget } from "../../copy.ts";
import type { Stats } from "../../sql/stats.ts";
import type { Collection } from "../../store.ts";
import type { TellPages } from "./backup.ts";
import type { Restoring } from "./restore.ts";

// Loaded by those who ask for it alone: a service that serves has no use for it.

/** Opens a SQLite file to copy it; nobody else can open it until it is closed. */
export async function sqliteSource(path: string): Promise<StoreSource> {
  requireArguments("sqliteSource", arguments, { path: text });
  return (await import("./source.ts")).openSource(path);
}

/** Begins a new SQLite file to copy into. */
export async function sqliteTarget(path: string): Promise<StoreTarget> {
  requireArguments("sqliteTarget", arguments, { path: text });
  return (await import("./target.ts")).openTarget(path);
}

/** Looks at all of a SQLite file, also while it is in use; `tell` is told how many of its tables are done. */
export async function checkSQLite(path: string, tell: TellPages = () => undefined): Promise<Checked> {
  requireArguments("checkSQLite", arguments, { path: text, tell: optional(aFunction) });
  return (await import("./check.ts")).checkFile(path, tell);
}

/** How much a SQLite file holds, table by table, also while it is in use. */
export async function measureSQLite(path: string): Promise<Stats> {
  requireArguments("measureSQLite", arguments, { path: text });
  return (await import("./stats.ts")).statsOfFile(path);
}

/** Writes one state of a SQLite file into another, also while it is in use. Gives the size in bytes. */
export async function backupSQLite(path: string, to: string, replace: boolean, tell: TellPages): Promise<number> {
  requireArguments("backupSQLite", arguments, { path: text, to: text, replace: aBoolean, tell: aFunction });
  return (await import("./backup.ts")).backupFile(path, to, replace, tell);
}

/** Begins to put a backup in the place of a SQLite file. */
export async function restoreSQLite(file: string, place: string, tell: TellPages): Promise<Restoring> {
  requireArguments("restoreSQLite", arguments, { file: text, place: text, tell: aFunction });
  return (await import("./restore.ts")).beginRestore(file, place, tell);
}

/** What the tables of a SQLite file were declared as; null where there is no file. */
export async function sqliteCollections(path: string): Promise<readonly Collection[] | null> {
  requireArguments("sqliteCollections", arguments, { path: text });
  return (await import("./check.ts")).findCollections(path);
}

/** Removes every row of tables of a SQLite file that nobody has open, and what goes with them. Gives how many there were. */
export async function emptySQLite(path: string, tables: readonly string[]): Promise<number> {
  requireArguments("emptySQLite", arguments, { path: text, tables: texts });
  return (await import("./emptying.ts")).emptyFile(path, tables);
}
