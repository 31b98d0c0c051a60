import type { DatabaseSync } from "node:sqlite";
import { requireVersion, type Content, type StoreSource } from "../../copy.ts";
import { createContent, rememberedCollections } from "../../sql/content.ts";
import type { Collection } from "../../store.ts";
import { playOn, sendTo } from "../connection/connection.ts";
import { sqliteSchema } from "../table-changes/migration.ts";
import { openAlone, openingError, loadVersion } from "./alone.ts";

/**
 * Opens a file to copy it. Until the source is closed, no other connection can open the file, so the copy contains
 * every write.
 */
export function openSource(path: string): StoreSource {
  const database = openAlone(path);
  try {
    requireVersion(loadVersion(database, path), sqliteSchema.version);
    return { ...contentIn(database), close: async () => database.close() };
  } catch (error) {
    database.close();
    throw openingError(error, path);
  }
}

/** Returns the whole content of a database. No other connection may write in the meantime. */
export function contentIn(database: DatabaseSync): Content {
  const send = sendTo(database);
  return createContent(sqliteSchema, rememberedIn(database), async (step) => send(step));
}

/**
 * Returns every collection whose declaration is stored in the database. Throws `CopyError` if a table of Latchkey has
 * no stored declaration.
 */
export function rememberedIn(database: DatabaseSync): readonly Collection[] {
  return playOn(database, rememberedCollections(sqliteSchema));
}
