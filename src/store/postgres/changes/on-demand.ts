import { aList, optional, texts } from "../../../checking/members.ts";
import { requireArguments } from "../../../checking/options.ts";
import type { Secret } from "../../../crypto/secret.ts";
import { migrateOptions, type MigratedTable, type MigrateOptions, type Plan } from "../../sql/changes/migrating.ts";
import type { Collection } from "../../store.ts";
import { aPostgresURL } from "../address.ts";

// Loaded by those who ask for it alone, as the client of PostgreSQL is.

/** What would be done to a PostgreSQL database so that it fits declarations; nothing is changed. */
export async function planPostgres(
  url: Secret,
  collections: readonly Collection[],
  dropped: readonly string[] = [],
): Promise<Plan> {
  requireArguments("planPostgres", arguments, { url: aPostgresURL, collections: aList, dropped: optional(texts) });
  return (await import("./plan.ts")).planDatabase(url, collections, dropped);
}

/** Does what `planPostgres` tells, while anybody reads and writes. What was broken off goes on where it was. */
export async function migratePostgres(
  url: Secret,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  requireArguments("migratePostgres", arguments, { url: aPostgresURL, collections: aList, options: migrateOptions });
  return (await import("./migrate.ts")).migrateDatabase(url, collections, options);
}

/** Does what `migratePostgres` does to a sample in a schema of its own, which is removed again. */
export async function tryPostgres(
  url: Secret,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  requireArguments("tryPostgres", arguments, { url: aPostgresURL, collections: aList, options: migrateOptions });
  return (await import("./try.ts")).tryDatabase(url, collections, options);
}
