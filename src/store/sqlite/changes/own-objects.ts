import type { DatabaseSync } from "node:sqlite";
import { declaredName, otherName, quote } from "../../sql/names.ts";
import { statement, type NamedRow, type Statement } from "../../sql/schema/script.ts";
import { triggerPrefix } from "../../sql/words.ts";
import type { Collection } from "../../store.ts";
import { isStoreFailure } from "../errors.ts";
import { remainsPrefix } from "./remains.ts";

// Indexes and triggers of a table that somebody else has made: they go with it to its new form.

/** An index or a trigger, as whoever made it said it. */
export interface OwnObject {
  readonly name: string;
  readonly sql: string;
}

/** Finds what goes with a table. */
export function findObjects({ name }: Pick<Collection, "name">): Statement {
  return statement(
    "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND tbl_name = ? AND sql IS NOT NULL",
    [name],
  );
}

/** Of these what is neither an index of ours nor about words: what somebody else has made, and what keeps the copy of a migration in step. */
export function objectsBeside({ name }: Collection, found: readonly NamedRow[]): readonly string[] {
  return besideIndexes(name, found).map(({ sql }) => String(sql));
}

/** Of these the indexes and triggers that are none of ours. */
export function ownObjects(
  { name: table }: Collection,
  found: readonly NamedRow[],
): { readonly indexes: readonly OwnObject[]; readonly triggers: readonly OwnObject[] } {
  const ours = [remainsPrefix, `moved in ${table} `];
  const own = besideIndexes(table, found).filter(({ name }) => !ours.some((start) => String(name).startsWith(start)));
  const of = (type: string): readonly OwnObject[] =>
    own.filter((each) => each["type"] === type).map(({ name, sql }) => ({ name: String(name), sql: String(sql) }));
  return { indexes: of("index"), triggers: of("trigger") };
}

function besideIndexes(table: string, found: readonly NamedRow[]): readonly NamedRow[] {
  const ours = [triggerPrefix, `${table}(`, `unique ${table}(`];
  return found.filter(({ name }) => !ours.some((start) => String(name).startsWith(start)));
}

const aName = /"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[^\s"'`[\](),;]+/.source;
const beginning = new RegExp(`^(CREATE (?:UNIQUE )?INDEX )(?:${aName})(\\s+ON\\s+)(?:${aName})(?=[\\s(])`, "i");

/** A name for an index that is made beside those that are there, one of that name among them. */
export function freeName(index: string, taken: ReadonlySet<string>): string {
  const name = declaredName(index);
  return taken.has(name) ? otherName(name) : name;
}

/** Makes the same index of another table, under another name. */
export function makeIndexOn(database: DatabaseSync, { name, sql }: OwnObject, called: string, table: string): void {
  const make = sql.replace(beginning, (_, create: string, on: string) => `${create}${quote(called)}${on}${table}`);
  try {
    if (make === sql) throw new Error("it is not understood");
    database.exec(make);
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    throw new Error(
      `the index ${name}, which somebody has made, does not fit it (${(error as Error).message}): ${sql}`,
      {
        cause: error,
      },
    );
  }
}
