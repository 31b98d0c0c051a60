import { readFileSync } from "node:fs";
import path from "node:path";
import { askPostgres } from "./postgres.ts";

/** The URLs of one database for its two roles. */
export interface Roles {
  readonly owner: string;
  readonly service: string;
}

const passwords: Readonly<Record<string, string>> = { owner: "it's the owner's", service: "of who 'serves'" };

/** Runs deploy/postgres-roles.sql on a database, like psql. */
export async function makeRoles(database: string): Promise<Roles> {
  await askPostgres(database, rolesScript());
  const as = (username: string, password: string): string =>
    Object.assign(new URL(database), { username, password }).href;
  return { owner: as("latchkey_owner", passwords["owner"]!), service: as("latchkey_service", passwords["service"]!) };
}

/** Returns the SQL that psql would send: without psql commands, and with the passwords of this test as variables. */
function rolesScript(): string {
  const text = readFileSync(path.join(import.meta.dirname, "../../deploy/postgres-roles.sql"), "utf8");
  return text
    .replaceAll(/^\\set .*$/gm, "")
    .replaceAll(/:'(\w+)_password'/g, (_, name: string) => `'${passwords[name]!.replaceAll("'", "''")}'`);
}
