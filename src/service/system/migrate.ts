import { randomBytes } from "node:crypto";
import path from "node:path";
import { postgresCollections, sqliteCollections, type Collection } from "../../door/stores.ts";
import { openLatchkey } from "../latchkey.ts";
import { readSettings } from "../settings/settings.ts";
import type { Database } from "../settings/values.ts";
import type { ConfigFile } from "./config-file.ts";

/** What was done to a database so that the service fits. */
export interface Migrated {
  readonly made: readonly string[];
  /** The columns that are new or declared in another way. */
  readonly changed: readonly { readonly table: string; readonly columns: readonly string[] }[];
}

/**
 * Makes the tables that the service with this config file needs, and makes those fit that are there, as far as nothing is lost. Throws
 * `MigrationNeeded` with what stands in the way.
 */
export async function migrateDatabase(database: Database, config: ConfigFile): Promise<Migrated> {
  const before = await collectionsIn(database);
  await openOnce(database, config);
  const after = (await collectionsIn(database)) ?? [];
  const known = new Map((before ?? []).map((collection) => [collection.name, collection]));
  const there = after.filter(({ name }) => known.has(name));
  return {
    made: after.filter(({ name }) => !known.has(name)).map(({ name }) => name),
    changed: there
      .filter((collection) => JSON.stringify(collection) !== JSON.stringify(known.get(collection.name)))
      .map((collection) => ({
        table: collection.name,
        columns: changedColumns(known.get(collection.name)!, collection),
      })),
  };
}

/** The start of the service is what makes the tables. Nothing is signed meanwhile, so any secret will do. */
async function openOnce(database: Database, config: ConfigFile): Promise<void> {
  const named = database.kind === "sqlite" ? `sqlite:${database.path}` : database.url.reveal().toString("utf8");
  const settings = readSettings(
    { LATCHKEY_DATABASE: named, LATCHKEY_SECRET: randomBytes(32).toString("base64url") },
    {},
  );
  const { service } = await openLatchkey({ settings, config });
  await service.close();
}

async function collectionsIn(database: Database): Promise<readonly Collection[] | null> {
  return database.kind === "sqlite"
    ? sqliteCollections(path.resolve(database.path))
    : postgresCollections(database.url);
}

function changedColumns(before: Collection, after: Collection): readonly string[] {
  const was = new Map(before.columns.map((column) => [column.name, JSON.stringify(column)]));
  return after.columns.filter((column) => was.get(column.name) !== JSON.stringify(column)).map(({ name }) => name);
}
