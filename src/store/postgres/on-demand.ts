import { aList, optional, texts } from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import type { Secret } from "../../core/crypto/secret.ts";
import type { Checked, StoreSource, StoreTarget } from "../copy.ts";
import { migrateOptions, type MigratedTable, type MigrateOptions, type Plan } from "../sql/migrations/migrating.ts";
import type { FoundExisting } from "../sql/schema/found.ts";
import type { Stats } from "../sql/stats.ts";
import type { Collection } from "../store.ts";
import { aPostgresURL } from "./network/address.ts";

// Each function loads its code, and the PostgreSQL client, only when it is called.

/** Opens a PostgreSQL database to copy it. Blocks all writes to the database until the source is closed. */
export async function postgresSource(url: Secret): Promise<StoreSource> {
  requireArguments("postgresSource", arguments, { url: aPostgresURL });
  return (await import("./whole/source.ts")).openSource(url);
}

/** Starts to fill an empty PostgreSQL database, in one transaction. */
export async function postgresTarget(url: Secret): Promise<StoreTarget> {
  requireArguments("postgresTarget", arguments, { url: aPostgresURL });
  return (await import("./whole/target.ts")).openTarget(url);
}

/** Checks a PostgreSQL database, also while it is in use. */
export async function checkPostgres(url: Secret): Promise<Checked> {
  requireArguments("checkPostgres", arguments, { url: aPostgresURL });
  return (await import("./whole/source.ts")).checkDatabase(url);
}

/** Measures the size of each table of a PostgreSQL database, also while it is in use. */
export async function measurePostgres(url: Secret): Promise<Stats> {
  requireArguments("measurePostgres", arguments, { url: aPostgresURL });
  return (await import("./whole/stats.ts")).statsOfDatabase(url);
}

/** Returns the declarations of the tables of a PostgreSQL database. Returns null if it has no tables of Latchkey. */
export async function postgresCollections(url: Secret): Promise<readonly Collection[] | null> {
  requireArguments("postgresCollections", arguments, { url: aPostgresURL });
  return (await import("./whole/source.ts")).findCollections(url);
}

/** Returns the changes that would make a PostgreSQL database fit the declarations. Changes nothing. */
export async function planPostgres(
  url: Secret,
  collections: readonly Collection[],
  dropped: readonly string[] = [],
): Promise<Plan> {
  requireArguments("planPostgres", arguments, { url: aPostgresURL, collections: aList, dropped: optional(texts) });
  return (await import("./migrations/plan.ts")).planDatabase(url, collections, dropped);
}

/** Makes the changes that `planPostgres` returns, while clients read and write. Resumes an interrupted migration. */
export async function migratePostgres(
  url: Secret,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  requireArguments("migratePostgres", arguments, { url: aPostgresURL, collections: aList, options: migrateOptions });
  return (await import("./migrations/migrate.ts")).migrateDatabase(url, collections, options);
}

/**
 * Tries a migration: does what `migratePostgres` does, to a sample of the rows in a separate schema. Removes the schema
 * afterwards.
 */
export async function tryPostgres(
  url: Secret,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  requireArguments("tryPostgres", arguments, { url: aPostgresURL, collections: aList, options: migrateOptions });
  return (await import("./migrations/dry-run.ts")).dryRunDatabase(url, collections, options);
}

/** Returns every table of a PostgreSQL database that is not Latchkey's, by name. Changes nothing. */
export async function inspectPostgres(url: Secret): Promise<ReadonlyMap<string, FoundExisting>> {
  requireArguments("inspectPostgres", arguments, { url: aPostgresURL });
  return (await import("./existing/inspect.ts")).inspectDatabase(url);
}
