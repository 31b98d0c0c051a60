import { existsSync } from "node:fs";
import path from "node:path";
import type { Settings } from "../service/settings/settings.ts";

/**
 * Returns a notice for a start that finds the secret of a service but no database: its disk may be missing. Returns null if there is
 * nothing to report.
 */
export function missingDatabaseNotice({ database, secretFile, secretIsNew }: Settings): string | null {
  if (database.kind !== "sqlite" || database.path === ":memory:" || secretFile === null || secretIsNew) return null;
  const file = path.resolve(database.path);
  if (existsSync(file)) return null;
  return `There is a secret (${path.resolve(secretFile)}) and no database: an empty one is made, ${file}. If there was one, stop, and mount its disk, name its file in LATCHKEY_DATABASE, or bring a backup back: latchkey db restore.`;
}
