import { randomBytes } from "node:crypto";
import { quote } from "../../sql/names.ts";
import { statement } from "../../sql/schema/script.ts";
import type { Session } from "../network/session.ts";

const beginning = "latchkey_try_";

/** The name of a schema in which a migration is tried, quoted. */
export function makeTryName(): string {
  return quote(`${beginning}${randomBytes(6).toString("hex")}`);
}

/** Removes what dry runs have left that were killed. Whoever calls has the turn to migrate, and so no other runs. */
export async function removeTries(session: Session): Promise<void> {
  const left = await session.send(
    statement("SELECT nspname::text AS name FROM pg_namespace WHERE nspname ~ $1 AND pg_has_role(nspowner, 'USAGE')", [
      `^${beginning}[0-9a-f]{12}$`,
    ]),
  );
  for (const { name } of left) await session.run(`DROP SCHEMA IF EXISTS ${quote(String(name))} CASCADE`);
}
