import { requireVersion, type StoreSource } from "../../copy.ts";
import { sqliteSchema } from "../migration.ts";
import { openAlone, openingError, versionOf } from "./alone.ts";
import { contentIn } from "./content.ts";

/** Opens a file to copy it. Nobody else can open it until it is closed, so nothing is written that would be left behind. */
export function openSource(path: string): StoreSource {
  const database = openAlone(path);
  try {
    requireVersion(versionOf(database, path), sqliteSchema.version);
    const content = contentIn(database);
    return {
      ...content,
      async close() {
        database.close();
      },
    };
  } catch (error) {
    database.close();
    throw openingError(error, path);
  }
}
