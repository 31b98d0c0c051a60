import { existsSync } from "node:fs";
import path from "node:path";
import type { Settings } from "../service/settings/settings.ts";

/**
 * Returns a notice if the secret file exists but the database file does not. The disk of the database may not be
 * mounted. Otherwise, returns null.
 */
export function missingDatabaseNotice({ database, secretFile, secretIsNew }: Settings): string | null {
  if (database.kind !== "sqlite" || database.path === ":memory:" || secretFile === null || secretIsNew) return null;
  const file = path.resolve(database.path);
  if (existsSync(file)) return null;
  return `There is a secret (${path.resolve(secretFile)}) but no database, so an empty one is created: ${file}. If there was a database, stop the service and mount its disk, set LATCHKEY_DATABASE to its file, or restore a backup: latchkey db restore.`;
}
