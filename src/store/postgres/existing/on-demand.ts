import { requireArguments } from "../../../checking/options.ts";
import type { Secret } from "../../../crypto/secret.ts";
import type { FoundExisting } from "../../sql/existing/found.ts";
import { aPostgresURL } from "../address.ts";

/** Every table of a PostgreSQL database that is not Latchkey's, by its name; nothing is changed. */
export async function inspectPostgres(url: Secret): Promise<ReadonlyMap<string, FoundExisting>> {
  requireArguments("inspectPostgres", arguments, { url: aPostgresURL });
  return (await import("./inspect.ts")).inspectDatabase(url);
}
