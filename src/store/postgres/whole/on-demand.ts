import { requireArguments } from "../../../checking/options.ts";
import type { Secret } from "../../../crypto/secret.ts";
import type { Checked, StoreSource, StoreTarget } from "../../copy.ts";
import type { Stats } from "../../sql/stats.ts";
import type { Collection } from "../../store.ts";
import { aPostgresURL } from "../address.ts";

// Loaded by those who ask for it alone, as the client of PostgreSQL is.

/** Opens a PostgreSQL database to copy it; nobody writes to it until it is closed. */
export async function postgresSource(url: Secret): Promise<StoreSource> {
  requireArguments("postgresSource", arguments, { url: aPostgresURL });
  return (await import("./source.ts")).openSource(url);
}

/** Begins to fill an empty PostgreSQL database, in one transaction. */
export async function postgresTarget(url: Secret): Promise<StoreTarget> {
  requireArguments("postgresTarget", arguments, { url: aPostgresURL });
  return (await import("./target.ts")).openTarget(url);
}

/** Looks at a PostgreSQL database, also while it is in use. */
export async function checkPostgres(url: Secret): Promise<Checked> {
  requireArguments("checkPostgres", arguments, { url: aPostgresURL });
  return (await import("./source.ts")).checkDatabase(url);
}

/** How much a PostgreSQL database holds, table by table, also while it is in use. */
export async function measurePostgres(url: Secret): Promise<Stats> {
  requireArguments("measurePostgres", arguments, { url: aPostgresURL });
  return (await import("./stats.ts")).statsOfDatabase(url);
}

/** What the tables of a PostgreSQL database were declared as; null where there are none of a Latchkey. */
export async function postgresCollections(url: Secret): Promise<readonly Collection[] | null> {
  requireArguments("postgresCollections", arguments, { url: aPostgresURL });
  return (await import("./source.ts")).findCollections(url);
}
