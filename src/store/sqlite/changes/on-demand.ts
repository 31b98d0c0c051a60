import { aList, optional, texts, text } from "../../../checking/members.ts";
import { requireArguments } from "../../../checking/options.ts";
import { migrateOptions, type MigratedTable, type MigrateOptions, type Plan } from "../../sql/changes/migrating.ts";
import type { Collection } from "../../store.ts";
import { storeError } from "../errors.ts";

// Loaded by those who ask for it alone: a service that serves has no use for it.

/** What would be done to a SQLite file so that it fits declarations; nothing is changed. */
export async function planSQLite(
  path: string,
  collections: readonly Collection[],
  dropped: readonly string[] = [],
): Promise<Plan> {
  requireArguments("planSQLite", arguments, { path: text, collections: aList, dropped: optional(texts) });
  return told(async () => (await import("./plan.ts")).planFile(path, collections, dropped));
}

/** Does what `planSQLite` tells, while anybody reads and writes. What was broken off goes on where it was. */
export async function migrateSQLite(
  path: string,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  requireArguments("migrateSQLite", arguments, { path: text, collections: aList, options: migrateOptions });
  return told(async () => (await import("./migrate.ts")).migrateFile(path, collections, options));
}

/** Does what `migrateSQLite` does to a copy of the file, which is removed again. */
export async function trySQLite(
  path: string,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  requireArguments("trySQLite", arguments, { path: text, collections: aList, options: migrateOptions });
  return told(async () => (await import("./try.ts")).tryFile(path, collections, options));
}

/** What the disk or the file fails with is told in words that name the cure. */
async function told<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    throw storeError(error);
  }
}
