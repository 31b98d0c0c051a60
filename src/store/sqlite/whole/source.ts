import type { DatabaseSync } from "node:sqlite";
import { requireVersion, type Content, type StoreSource } from "../../copy.ts";
import { contentOf, rememberedCollections } from "../../sql/content.ts";
import type { Collection } from "../../store.ts";
import { playOn, sendTo } from "../connection.ts";
import { sqliteSchema } from "../migration.ts";
import { openAlone, openingError, versionOf } from "./alone.ts";

/** Opens a file to copy it. Nobody else can open it until it is closed, so nothing is written that would be left behind. */
export function openSource(path: string): StoreSource {
  const database = openAlone(path);
  try {
    requireVersion(versionOf(database, path), sqliteSchema.version);
    return { ...contentIn(database), close: async () => database.close() };
  } catch (error) {
    database.close();
    throw openingError(error, path);
  }
}

/** All that stands in a database, over a connection that nobody else writes beside. */
export function contentIn(database: DatabaseSync): Content {
  const send = sendTo(database);
  return contentOf(sqliteSchema, rememberedIn(database), async (step) => send(step));
}

/** Every collection that the database remembers. Throws `CopyError` where it holds what nobody remembers. */
export function rememberedIn(database: DatabaseSync): readonly Collection[] {
  return playOn(database, rememberedCollections(sqliteSchema));
}
