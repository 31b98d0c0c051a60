import type { DatabaseSync } from "node:sqlite";
import { declaredName, otherName, quote } from "../../sql/language/names.ts";
import { statement, type NamedRow, type Statement } from "../../sql/language/script.ts";
import { triggerPrefix } from "../../sql/word-index.ts";
import type { Collection } from "../../store.ts";
import { isStoreFailure } from "../connection/errors.ts";
import { leftoverPrefix } from "./leftover-tables.ts";

// Finds the indexes and triggers that other programs have added to a table. A migration creates them on the new table
// too.

/** An index or trigger of another program, with its original SQL. */
export interface OwnObject {
  readonly name: string;
  readonly sql: string;
}

/** Returns the statement that finds the indexes and triggers of a table. */
export function findObjects({ name }: Pick<Collection, "name">): Statement {
  return statement(
    "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND tbl_name = ? AND sql IS NOT NULL",
    [name],
  );
}

/**
 * Returns the SQL of the indexes and triggers of other programs, and of the triggers of a migration. Leaves out the
 * store's own indexes and the triggers of the word index.
 */
export function listOtherObjects({ name }: Collection, found: readonly NamedRow[]): readonly string[] {
  return filterOtherObjects(name, found).map(({ sql }) => String(sql));
}

/** Returns the indexes and triggers of other programs. */
export function ownObjects(
  { name: table }: Collection,
  found: readonly NamedRow[],
): { readonly indexes: readonly OwnObject[]; readonly triggers: readonly OwnObject[] } {
  const ours = [leftoverPrefix, `moved in ${table} `];
  const own = filterOtherObjects(table, found).filter(
    ({ name }) => !ours.some((start) => String(name).startsWith(start)),
  );
  const of = (type: string): readonly OwnObject[] =>
    own.filter((each) => each["type"] === type).map(({ name, sql }) => ({ name: String(name), sql: String(sql) }));
  return { indexes: of("index"), triggers: of("trigger") };
}

function filterOtherObjects(table: string, found: readonly NamedRow[]): readonly NamedRow[] {
  const ours = [triggerPrefix, `${table}(`, `unique ${table}(`];
  return found.filter(({ name }) => !ours.some((start) => String(name).startsWith(start)));
}

const aName = /"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[^\s"'`[\](),;]+/.source;
const beginning = new RegExp(`^(CREATE (?:UNIQUE )?INDEX )(?:${aName})(\\s+ON\\s+)(?:${aName})(?=[\\s(])`, "i");

/**
 * Returns a free name for an index. Index names alternate between two forms, because the index of the old table still
 * exists.
 */
export function freeName(index: string, taken: ReadonlySet<string>): string {
  const name = declaredName(index);
  return taken.has(name) ? otherName(name) : name;
}

/** Creates the same index on another table, with another name. */
export function makeIndexOn(database: DatabaseSync, { name, sql }: OwnObject, called: string, table: string): void {
  const make = sql.replace(beginning, (_, create: string, on: string) => `${create}${quote(called)}${on}${table}`);
  try {
    if (make === sql) throw new Error("its SQL cannot be parsed");
    database.exec(make);
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    throw new Error(
      `the index ${name}, which Latchkey did not create, does not fit the new table (${(error as Error).message}): ${sql}`,
      {
        cause: error,
      },
    );
  }
}
