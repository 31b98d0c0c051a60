import { randomBytes } from "node:crypto";
import { quote } from "../../sql/language/names.ts";
import { statement } from "../../sql/language/script.ts";
import type { Session } from "../network/session.ts";

const beginning = "latchkey_try_";

/** Returns the quoted name of a schema for a dry run of a migration. */
export function makeDryRunName(): string {
  return quote(`${beginning}${randomBytes(6).toString("hex")}`);
}

/**
 * Removes the schemas of dry runs that were killed. The caller has the lock for migrations, so no other dry run is
 * running.
 */
export async function removeDryRuns(session: Session): Promise<void> {
  const left = await session.send(
    statement("SELECT nspname::text AS name FROM pg_namespace WHERE nspname ~ $1 AND pg_has_role(nspowner, 'USAGE')", [
      `^${beginning}[0-9a-f]{12}$`,
    ]),
  );
  for (const { name } of left) await session.run(`DROP SCHEMA IF EXISTS ${quote(String(name))} CASCADE`);
}
