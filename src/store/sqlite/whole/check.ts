import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { CopyError, countRows, type Checked } from "../../copy.ts";
import type { Collection } from "../../store.ts";
import { connectReadOnly, prepare } from "../connection.ts";
import { openingError, requireFile, versionOf } from "./alone.ts";
import { contentIn, rememberedIn } from "./content.ts";

/** How many problems are told of at most. */
const most = 20;

/** Looks at all of a file, also while it is in use. */
export async function checkFile(path: string): Promise<Checked> {
  requireFile(path);
  const database = connectReadOnly(path);
  try {
    // One state of it, for all that is looked at.
    database.exec("BEGIN");
    const version = versionOf(database, path);
    const problems = problemsIn(database);
    const tables = problems.length > 0 ? [] : await countRows(contentIn(database));
    return { version, tables, problems };
  } catch (error) {
    throw openingError(error, path);
  } finally {
    database.close();
  }
}

/** What the tables of a file were declared as; null where there is no file. */
export function findCollections(path: string): readonly Collection[] | null {
  if (!existsSync(path)) return null;
  const database = connectReadOnly(path);
  try {
    versionOf(database, path);
    return rememberedIn(database);
  } catch (error) {
    throw openingError(error, path);
  } finally {
    database.close();
  }
}

/** Throws where anything in the file is damaged. */
export function requireSound(database: DatabaseSync, path: string): void {
  const problems = problemsIn(database);
  if (problems.length > 0) throw new CopyError("damaged", `${path} is damaged:\n${problems.join("\n")}`);
}

function problemsIn(database: DatabaseSync): string[] {
  const said = prepare(database, `PRAGMA integrity_check(${most})`).all();
  const problems = said.map(([text]) => text as string).filter((text) => text !== "ok");
  if (problems.length > 0) return problems;
  const dangling = prepare(database, `SELECT DISTINCT "table", parent FROM pragma_foreign_key_check`).all();
  return dangling.map(([table, parent]) => `${String(table)} refers to rows of ${String(parent)} that are not there`);
}
