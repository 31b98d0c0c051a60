import { existsSync } from "node:fs";
import path from "node:path";
import type { Settings } from "../service/settings/settings.ts";

/** What a start has to say that finds the secret of a service and no database: its disk may not be there. Null where nothing is to be said. */
export function missingDatabaseNotice({ database, secretFile, secretIsNew }: Settings): string | null {
  if (database.kind !== "sqlite" || database.path === ":memory:" || secretFile === null || secretIsNew) return null;
  const file = path.resolve(database.path);
  if (existsSync(file)) return null;
  return `There is a secret (${path.resolve(secretFile)}) and no database: an empty one is made, ${file}. If there was one, stop, and mount its disk, name its file in LATCHKEY_DATABASE, or bring a backup back: latchkey db restore.`;
}
