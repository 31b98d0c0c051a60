import { mkdtempSync, rmSync } from "node:fs";
import type { MigratedTable, MigrateOptions } from "../../sql/migrations/migrating.ts";
import type { Collection } from "../../store.ts";
import { DatabaseSync } from "../connection/node-sqlite.ts";
import { requireSpaceForCopy } from "../table-changes/disk-space.ts";
import { takeMigrationLock } from "../table-changes/migration-lock.ts";
import { copyFile } from "../whole/backup.ts";
import { requireSound } from "../whole/check.ts";
import { formatCopyPrefix, copyIn, removeDryRuns } from "./dry-run-cleanup.ts";
import { migrateFile } from "./migrate.ts";

/** Copies a file into a folder next to it, migrates the copy, checks the whole copy and deletes it. */
export async function dryRunFile(
  path: string,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  const release = takeMigrationLock(path);
  let folder: string | null = null;
  try {
    removeDryRuns(path);
    requireSpaceForCopy(path);
    folder = mkdtempSync(formatCopyPrefix(path));
    const copy = copyIn(folder);
    await copyFile(path, copy, () => undefined);
    const tables = await migrateFile(copy, collections, options);
    const database = new DatabaseSync(copy, { returnArrays: true });
    try {
      requireSound(database, copy);
    } finally {
      database.close();
    }
    return tables;
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
    release();
  }
}
