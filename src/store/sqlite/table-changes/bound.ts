import type { DatabaseSync } from "node:sqlite";
import { quote } from "../../sql/language/names.ts";
import { ask, statement, type Script } from "../../sql/language/script.ts";
import type { FoundTable } from "../../sql/schema/schema.ts";
import type { Collection } from "../../store.ts";
import { prepare } from "../connection/connection.ts";
import { findCode } from "../connection/errors.ts";

// Finds columns of other programs that a rebuilt table would lose, and triggers and views of other programs that would
// not work with it.

/**
 * Finds the columns of other programs that have more than a name and a type, for example a default. Returns a message
 * for each.
 */
export function* findBound({ name: table, columns }: Collection, { types }: FoundTable): Script<readonly string[]> {
  const declared = new Set(columns.map(({ name }) => name));
  const found = yield* ask(
    statement(
      `SELECT name, hidden IN (2, 3) AS is_generated, "notnull" OR dflt_value IS NOT NULL OR name IN (SELECT "from" FROM pragma_foreign_key_list(?1)) AS is_more FROM pragma_table_xinfo(?1)`,
      [table],
    ),
  );
  return found.flatMap(({ name: column, is_generated: isGenerated, is_more: isMore }) => {
    const name = String(column);
    if (name === "id" || name.startsWith("_") || declared.has(name) || types[name] !== undefined) return [];
    if (isGenerated !== 1 && isMore !== 1) return [];
    const what = isGenerated === 1 ? "is generated" : "has a default, a reference, or must have a value";
    return [
      `${table}.${name} is not a column of Latchkey and ${what}. The rebuilt table would lose this property. Remove the column, and create it again after the migration.`,
    ];
  });
}

/**
 * The statements and views that do not compile, each with the error. The statements write to the migrated table and to
 * every table with a trigger, because any trigger may use the migrated table.
 */
export type Uncompiled = ReadonlyMap<string, string>;

/**
 * Compiles every statement that could use the columns of the table. `EXPLAIN` compiles a statement with its triggers
 * and does not run it.
 */
export function findUncompiled(database: DatabaseSync, table: string): Uncompiled {
  const views = prepare(database, "SELECT name FROM sqlite_schema WHERE type = 'view'").all();
  const fired = prepare(
    database,
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ?1 UNION SELECT tbl_name FROM sqlite_schema WHERE type = 'trigger'",
  ).all(table);
  const tried = [
    ...fired.flatMap(([name]) => writesTo(database, String(name))),
    ...views.map(([name]) => [`the view ${String(name)}`, `SELECT * FROM ${quote(String(name))}`] as const),
  ];
  return new Map(
    tried.flatMap(([what, sql]) => {
      try {
        database.exec(`EXPLAIN ${sql}`);
        return [];
      } catch (error) {
        if (findCode(error) !== 1) throw error;
        return [[what, (error as Error).message]];
      }
    }),
  );
}

function writesTo(database: DatabaseSync, table: string): readonly (readonly [what: string, sql: string])[] {
  const columns = prepare(database, "SELECT name FROM pragma_table_info(?)").all(table);
  const set = columns.map(([name]) => `${quote(String(name))} = ${quote(String(name))}`).join(", ");
  return [
    [`a trigger for new rows of ${table}`, `INSERT INTO ${quote(table)} DEFAULT VALUES`],
    [`a trigger for changes of ${table}`, `UPDATE ${quote(table)} SET ${set}`],
    [`a trigger for deletions of ${table}`, `DELETE FROM ${quote(table)}`],
  ];
}

/** Throws if a statement that compiled before no longer compiles. */
export function requireCompiled(database: DatabaseSync, table: string, before: Uncompiled): void {
  for (const [what, why] of findUncompiled(database, table))
    if (!before.has(what))
      throw new Error(`${what}, which Latchkey did not create, does not fit the new table (${why})`);
}
