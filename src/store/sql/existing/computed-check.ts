import { StoreSetupError, type Collection, type Column } from "../../store.ts";
import { quote } from "../language/names.ts";
import { ask, run, statement, type Script } from "../language/script.ts";
import { unfitIn, wordsFor } from "../schema/checked.ts";
import { collectComputed, seenColumns, compileSource, type Computing } from "../schema/computed.ts";
import { shownKeySQL } from "../schema/found.ts";
import type { SchemaDialect } from "../schema/schema.ts";
import { createTableLookup } from "../schema/table.ts";

/** The number of rows that are checked at the start. */
const lookedAt = 10_000;

/** The PostgreSQL types that are allowed for each kind of value. */
const typesFor: Readonly<Record<Column["type"], readonly string[]>> = {
  integer: ["smallint", "integer", "bigint"],
  boolean: ["boolean"],
  double: ["double precision", "real", "numeric", "smallint", "integer", "bigint"],
  decimal: ["numeric", "smallint", "integer", "bigint"],
  date: ["text", "character varying", "date"],
  "date-time": ["text", "character varying"],
  json: ["json", "jsonb"],
  text: ["text", "character varying", "uuid", "character"],
};

/**
 * Checks the columns that SQL computes, after the tables exist. Each must be one expression over the columns of its
 * row. It must be deterministic, as an index requires, have the declared type, and have a value for the existing rows.
 * The check changes nothing.
 */
export function* checkComputed(schema: SchemaDialect, collections: readonly Collection[]): Script<void> {
  const problems: string[] = [];
  for (const collection of collections)
    for (const computing of collectComputed(schema, collection)) {
      const wrong = yield* mistakeIn(schema, collection, computing);
      if (wrong !== null) problems.push(`${collection.name}.${computing.column.name}: ${wrong}.`);
    }
  if (problems.length > 0) throw new StoreSetupError(problems);
}

function* mistakeIn(schema: SchemaDialect, collection: Collection, computing: Computing): Script<string | null> {
  const expression = computing.column.sql[schema.engine];
  if (expression === undefined) return `sql has no expression for this database; add ${schema.engine}`;
  const type = yield* tried(tryExpression(schema, collection, computing.column, expression));
  if (type instanceof Error) return `the database refuses ${expression}: ${type.message}`;
  if (type !== null && !typesFor[computing.column.type].includes(type))
    return `${expression} is of type ${type}, but is declared as ${wordsFor(computing.column)}; add a cast`;
  const rows = yield* tried(unfitRows(schema, collection, computing));
  if (rows instanceof Error) return `it has no value for some rows: ${rows.message}`;
  return rows.length === 0
    ? null
    : `the result of ${expression} is not ${wordsFor(computing.column)} in the rows ${rows.join(", ")}; mend it, or change the declaration`;
}

/**
 * Tries an expression in an index. An index accepts only expressions over one row, without random values, clock or
 * other tables.
 */
function* tryExpression(
  schema: SchemaDialect,
  collection: Collection,
  { type }: Column,
  expression: string,
): Script<string | null> {
  const table = createTableLookup(schema)(collection);
  const seen = [quote("id"), ...seenColumns(schema, collection)].join(", ");
  yield* run(`CREATE TEMP TABLE latchkey_made AS SELECT ${seen} FROM ${table.name} LIMIT 0`);
  const indexed = type === "json" && schema.engine === "postgres" ? `(${expression})::text` : expression;
  yield* run(`CREATE INDEX latchkey_made_once ON latchkey_made ((${indexed}))`);
  const typed = schema.compileTypeQuery(expression, "latchkey_made");
  if (typed === null) return null;
  const [row] = yield* ask(statement(typed));
  return String(row!["type"]);
}

function* unfitRows(schema: SchemaDialect, collection: Collection, computing: Computing): Script<readonly string[]> {
  const table = createTableLookup(schema)(collection);
  const name = quote(computing.column.name);
  const unfit = unfitIn(computing, name) ?? "FALSE";
  const source = compileSource(schema, collection, table.name);
  const rows = yield* ask(
    statement(
      `SELECT ${shownKeySQL('"id"')} AS key FROM (SELECT "id", ${name} FROM ${source} LIMIT ${lookedAt}) AS t WHERE ${unfit} LIMIT 3`,
    ),
  );
  return rows.map(({ key }) => String(key));
}

/** Runs a script and rolls it back. Returns the error if it fails. */
function* tried<T>(script: Script<T>): Script<T | Error> {
  yield* run("BEGIN");
  try {
    return yield* script;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    yield* run("ROLLBACK");
  }
}
