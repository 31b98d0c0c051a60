import { randomBytes } from "node:crypto";
import path from "node:path";
import type { SendMail } from "../../door/features.ts";
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
} from "../../door/stores.ts";
import { assembleLatchkey } from "../latchkey.ts";
import type { ConfigFile } from "../settings/config-file/config-file.ts";
import { readSettings } from "../settings/settings.ts";
import type { Database } from "../settings/values.ts";

/** The changes of a migration. */
export interface Migrated {
  readonly made: readonly string[];
  /** The columns that are new or have a new declaration. */
  readonly changed: readonly { readonly table: string; readonly columns: readonly string[] }[];
  /** The changes of tables beyond those of a normal start. */
  readonly tables: readonly MigratedTable[];
}

/** The options of a migration. */
export interface MigrationOptions extends Partial<MigrateOptions> {
  /** New columns that are renamed old ones. */
  readonly renamed?: readonly Renamed[];
  /** Tries everything on a copy, and changes nothing. */
  readonly dryRun?: boolean;
}

/** A renamed column. */
export type Renamed = Plan["renames"][number];

/** The service whose tables a database should have. It is assembled once, and opened at most once. */
export interface Target {
  readonly database: Database;
  /** Its tables, with the prefix of the database. */
  readonly collections: readonly Collection[];
  /** Starts and stops the service, which creates the tables. Nothing is signed, so any secret works. */
  start(): Promise<void>;
}

/**
 * Assembles the service with this config file over a database. Opens nothing. With `mail`, it has the features that
 * send mails, and their tables.
 */
export async function assembleFor(database: Database, config: ConfigFile, mail = false): Promise<Target> {
  const assembled = await assembleLatchkey({ settings: settingsFor(database, mail), config, overMail });
  const { collections } = assembled;
  return {
    database,
    collections: collections.map((each) => prefixed(each, database.tablePrefix ?? "", collections)),
    async start() {
      const { service } = await assembled.open();
      await service.close();
    },
  };
}

/** Returns the changes that the database needs. Changes nothing. */
export async function planDatabase(
  { database, collections: declared }: Target,
  { dropped = [], renamed = [] }: MigrationOptions = {},
): Promise<Plan> {
  const collections = withNames(declared, renamed);
  return database.kind === "sqlite"
    ? planSQLite(path.resolve(database.path), collections, dropped)
    : planPostgres(database.url, collections, dropped);
}

/** Creates and changes the tables of the database. Throws `MigrationNeeded` with all obstacles before any change. */
export async function migrateDatabase(
  { database, collections: declared, start }: Target,
  { renamed = [], dryRun = false, program = "0.0.0", ...options }: MigrationOptions = {},
): Promise<Migrated> {
  const collections = withNames(declared, renamed);
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
  await start();
  const after = (await collectionsIn(database)) ?? [];
  const previousTables = new Map((before ?? []).map((collection) => [collection.name, collection]));
  const there = after.filter(({ name }) => previousTables.has(name));
  return {
    made: after.filter(({ name }) => !previousTables.has(name)).map(({ name }) => name),
    changed: there
      .filter((collection) => JSON.stringify(collection) !== JSON.stringify(previousTables.get(collection.name)))
      .map((collection) => ({
        table: collection.name,
        columns: changedColumns(previousTables.get(collection.name)!, collection),
      })),
    tables,
  };
}

/** Sends no mail, because its link would be signed with the wrong secret. The service sends the queued mails later. */
const overMail = (): SendMail => () => Promise.reject(new Error("A migration sends no mail."));

function settingsFor(database: Database, mail: boolean): ReturnType<typeof readSettings> {
  const named = database.kind === "sqlite" ? `sqlite:${database.path}` : database.url.reveal().toString("utf8");
  const mails = mail ? { LATCHKEY_MAIL_URL: "file:unused", LATCHKEY_MAIL_FROM: "unused@localhost" } : {};
  const environment = { LATCHKEY_DATABASE: named, LATCHKEY_TABLE_PREFIX: database.tablePrefix, ...mails };
  return readSettings({ ...environment, LATCHKEY_SECRET: randomBytes(32).toString("base64url") }, {});
}

/** Returns the collections with the given renamed columns, as if they were declared. */
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
