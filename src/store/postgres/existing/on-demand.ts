import type { Secret } from "../../../crypto/secret.ts";
import type { FoundExisting } from "../../sql/existing/found.ts";

/** Every table of a PostgreSQL database that is not Latchkey's, by its name; nothing is changed. */
export async function inspectPostgres(url: Secret): Promise<ReadonlyMap<string, FoundExisting>> {
  return (await import("./inspect.ts")).inspectDatabase(url);
}
