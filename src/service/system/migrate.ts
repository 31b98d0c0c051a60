import { randomBytes } from "node:crypto";
import path from "node:path";
import {
  migratePostgres,
  migrateSQLite,
  planPostgres,
  planSQLite,
  postgresCollections,
  prefixed,
  sqliteCollections,
  tryPostgres,
  trySQLite,
  type Collection,
  type MigratedTable,
  type MigrateOptions,
  type Plan,
  type Store,
} from "../../door/stores.ts";
import { openLatchkey } from "../latchkey.ts";
import { readSettings } from "../settings/settings.ts";
import type { Database } from "../settings/values.ts";
import type { ConfigFile } from "./config-file.ts";

/** What was done to a database so that the service fits. */
export interface Migrated {
  readonly made: readonly string[];
  /** The columns that are new or declared in another way. */
  readonly changed: readonly { readonly table: string; readonly columns: readonly string[] }[];
  /** What more than a start does was done to tables. */
  readonly tables: readonly MigratedTable[];
}

/** How a migration is made. */
export interface MigrationOptions extends Partial<MigrateOptions> {
  /** New columns that are old ones under another name. */
  readonly renamed?: readonly Renamed[];
  /** Tries everything on a copy, and changes nothing. */
  readonly dryRun?: boolean;
}

/** A column under a new name. */
export type Renamed = Plan["renames"][number];

/** What would have to be done to a database so that the service with this config file fits. Nothing is changed. */
export async function planDatabase(
  database: Database,
  config: ConfigFile,
  { dropped = [], renamed = [] }: MigrationOptions = {},
): Promise<Plan> {
  const collections = withNames(await collectionsOf(database, config), renamed);
  return database.kind === "sqlite"
    ? planSQLite(path.resolve(database.path), collections, dropped)
    : planPostgres(database.url, collections, dropped);
}

/**
 * Makes the tables that the service with this config file needs, and makes those fit that are there. Throws `MigrationNeeded` with what
 * stands in the way, before anything was changed.
 */
export async function migrateDatabase(
  database: Database,
  config: ConfigFile,
  { renamed = [], dryRun = false, program = "0.0.0", ...options }: MigrationOptions = {},
): Promise<Migrated> {
  const collections = withNames(await collectionsOf(database, config), renamed);
  const before = await collectionsIn(database);
  const migrating = { ...options, program };
  if (dryRun) {
    const tables = await (database.kind === "sqlite"
      ? trySQLite(path.resolve(database.path), collections, migrating)
      : tryPostgres(database.url, collections, migrating));
    return { made: [], changed: [], tables };
  }
  const tables =
    before === null
      ? []
      : await (database.kind === "sqlite"
          ? migrateSQLite(path.resolve(database.path), collections, migrating)
          : migratePostgres(database.url, collections, migrating));
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
    tables,
  };
}

/** The start of the service is what makes the tables. Nothing is signed meanwhile, so any secret will do. */
async function openOnce(database: Database, config: ConfigFile): Promise<void> {
  const { service } = await openLatchkey({ settings: settingsFor(database), config });
  await service.close();
}

/** What the service would open its store with, without opening it, under the names that the tables have. */
export async function collectionsOf(database: Database, config: ConfigFile): Promise<readonly Collection[]> {
  const seen: { collections?: readonly Collection[] } = {};
  const over = (store: Store): Store => ({
    ...store,
    open: async (collections) => {
      seen.collections = collections;
      throw new NotOpened();
    },
  });
  try {
    await openLatchkey({ settings: settingsFor(database), config, over });
  } catch (error) {
    if (!(error instanceof NotOpened)) throw error;
  }
  return (seen.collections ?? []).map((each) => prefixed(each, database.tablePrefix ?? ""));
}

/** The declarations were all that was wanted. */
class NotOpened extends Error {
  override readonly name = "NotOpened";
}

function settingsFor(database: Database): ReturnType<typeof readSettings> {
  const named = database.kind === "sqlite" ? `sqlite:${database.path}` : database.url.reveal().toString("utf8");
  const environment = { LATCHKEY_DATABASE: named, LATCHKEY_TABLE_PREFIX: database.tablePrefix };
  return readSettings({ ...environment, LATCHKEY_SECRET: randomBytes(32).toString("base64url") }, {});
}

/** What somebody has said of columns, as if the declaration said it. */
function withNames(collections: readonly Collection[], renamed: readonly Renamed[]): readonly Collection[] {
  return collections.map((collection) => ({
    ...collection,
    columns: collection.columns.map((column) => {
      const found = renamed.find(({ table, to }) => table === collection.name && to === column.name);
      return found === undefined ? column : { ...column, origin: { ...column.origin, renamedFrom: found.from } };
    }),
  }));
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
