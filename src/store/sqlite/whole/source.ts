import type { DatabaseSync } from "node:sqlite";
import { requireVersion, type Content, type StoreSource } from "../../copy.ts";
import { createContent, rememberedCollections } from "../../sql/content.ts";
import type { Collection } from "../../store.ts";
import { playOn, sendTo } from "../connection.ts";
import { sqliteSchema } from "../migration.ts";
import { openAlone, openingError, loadVersion } from "./alone.ts";

/** Opens a file to copy it. No other connection can open it until it is closed, so the copy misses no write. */
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

/** Returns the whole content of a database, over a connection without other writers. */
export function contentIn(database: DatabaseSync): Content {
  const send = sendTo(database);
  return createContent(sqliteSchema, rememberedIn(database), async (step) => send(step));
}

/**
 * Returns every collection that the database remembers. Throws `CopyError` if the database has a table of Latchkey that
 * it does not remember.
 */
export function rememberedIn(database: DatabaseSync): readonly Collection[] {
  return playOn(database, rememberedCollections(sqliteSchema));
}
