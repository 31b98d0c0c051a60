import type { DatabaseSync } from "node:sqlite";
import type { Content } from "../../copy.ts";
import { contentOf, rememberedCollections } from "../../sql/content.ts";
import { play } from "../../sql/schema/script.ts";
import type { Collection } from "../../store.ts";
import { sendTo } from "../connection.ts";
import { sqliteSchema } from "../migration.ts";

/** All that stands in a database, over a connection that nobody else writes beside: what it remembers where nothing is named. */
export function contentIn(database: DatabaseSync, collections = rememberedIn(database)): Content {
  const send = sendTo(database);
  return contentOf(sqliteSchema, collections, async (step) => send(step));
}

/** Every collection that the database remembers. Throws `CopyError` where it holds what nobody remembers. */
export function rememberedIn(database: DatabaseSync): readonly Collection[] {
  return play(rememberedCollections(sqliteSchema), sendTo(database));
}
