import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { countRows, type Checked } from "../../copy.ts";
import { rememberedCollections } from "../../sql/content.ts";
import type { Collection } from "../../store.ts";
import { playOn, prepare } from "../connection.ts";
import { sqlite } from "../dialect.ts";
import { sqliteSchema } from "../migration.ts";
import { damaged, reading } from "./alone.ts";
import { contentIn } from "./source.ts";

/** How many problems are told of at most. */
const most = 20;

/** Looks at all tables of a file, also while it is in use: at one after another, so that its log may begin anew in between. Tells how many of them are done. */
export function checkFile(
  path: string,
  tell: (done: number, total: number) => void = () => undefined,
): Promise<Checked> {
  return reading(path, async (database, version) => {
    const names = namesOfTables(database);
    const problems = names.flatMap((name, at) => {
      tell(at, names.length);
      return problemsOfTable(database, name);
    });
    const tables = problems.length > 0 ? [] : await countRows(contentIn(database));
    return { version, tables, problems: problems.slice(0, most) };
  });
}

/** What the tables of a file were declared as; null where there is no file. */
export async function findCollections(path: string): Promise<readonly Collection[] | null> {
  return existsSync(path)
    ? reading(path, (database) => playOn(database, rememberedCollections(sqliteSchema, true)))
    : null;
}

/** Throws where anything in the file is damaged. */
export function requireSound(database: DatabaseSync, path: string): void {
  const problems = problemsIn(database);
  if (problems.length > 0) throw damaged(path, problems);
}

function problemsIn(database: DatabaseSync): string[] {
  const problems = damageTold(database, String(most));
  return problems.length > 0 ? problems : dangling(database, "pragma_foreign_key_check");
}

function namesOfTables(database: DatabaseSync): string[] {
  const found = prepare(database, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  return ["sqlite_schema", ...found.map(([name]) => name as string)];
}

function problemsOfTable(database: DatabaseSync, name: string): string[] {
  const text = sqlite.literal(name);
  const problems = damageTold(database, text);
  return problems.length > 0 ? problems : dangling(database, `pragma_foreign_key_check(${text})`);
}

/** What is damaged: of one table and its indexes, or so much of all. */
function damageTold(database: DatabaseSync, of: string): string[] {
  const said = prepare(database, `PRAGMA integrity_check(${of})`).all();
  return said.map(([text]) => text as string).filter((text) => text !== "ok");
}

function dangling(database: DatabaseSync, check: string): string[] {
  const found = prepare(database, `SELECT DISTINCT "table", parent FROM ${check}`).all();
  return found.map(([table, parent]) => `${String(table)} refers to rows of ${String(parent)} that are not there`);
}
