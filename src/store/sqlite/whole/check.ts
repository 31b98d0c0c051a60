import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { countRows, type Checked } from "../../copy.ts";
import { rememberedCollections } from "../../sql/content.ts";
import type { Collection } from "../../store.ts";
import { playOn, prepare } from "../connection/connection.ts";
import { sqlite } from "../dialect.ts";
import { sqliteSchema } from "../table-changes/migration.ts";
import { damaged, reading } from "./alone.ts";
import { contentIn } from "./source.ts";

/** The maximum number of problems to report. */
const most = 20;

/**
 * Checks all tables of a file, also while it is in use. Checks one table at a time, so that the log can restart between
 * two checks. Calls `report` with the number of finished tables.
 */
export function checkFile(
  path: string,
  report: (done: number, total: number) => void = () => undefined,
): Promise<Checked> {
  return reading(path, async (database, version) => {
    const names = namesOfTables(database);
    const problems = names.flatMap((name, at) => {
      report(at, names.length);
      return problemsOfTable(database, name);
    });
    const tables = problems.length > 0 ? [] : await countRows(contentIn(database));
    return { version, tables, problems: problems.slice(0, most) };
  });
}

/** Returns the declarations of the tables of a file. Returns null if the file does not exist. */
export async function findCollections(path: string): Promise<readonly Collection[] | null> {
  return existsSync(path)
    ? reading(path, (database) => playOn(database, rememberedCollections(sqliteSchema, true)))
    : null;
}

/** Throws if any part of the file is damaged. */
export function requireSound(database: DatabaseSync, path: string): void {
  const problems = problemsIn(database);
  if (problems.length > 0) throw damaged(path, problems);
}

function problemsIn(database: DatabaseSync): string[] {
  const problems = findDamage(database, String(most));
  return problems.length > 0 ? problems : dangling(database, "pragma_foreign_key_check");
}

function namesOfTables(database: DatabaseSync): string[] {
  const found = prepare(database, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  return ["sqlite_schema", ...found.map(([name]) => name as string)];
}

function problemsOfTable(database: DatabaseSync, name: string): string[] {
  const text = sqlite.literal(name);
  const problems = findDamage(database, text);
  return problems.length > 0 ? problems : dangling(database, `pragma_foreign_key_check(${text})`);
}

/**
 * Returns the damage that SQLite finds in one table and its indexes (`of` is a name), or in the whole file (`of` is the
 * maximum number of problems).
 */
function findDamage(database: DatabaseSync, of: string): string[] {
  const found = prepare(database, `PRAGMA integrity_check(${of})`).all();
  return found.map(([text]) => text as string).filter((text) => text !== "ok");
}

function dangling(database: DatabaseSync, check: string): string[] {
  const found = prepare(database, `SELECT DISTINCT "table", parent FROM ${check}`).all();
  return found.map(([table, parent]) => `${String(table)} refers to missing rows of ${String(parent)}`);
}
