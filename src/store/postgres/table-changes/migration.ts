import { tablesToCopy } from "../../sql/content.ts";
import { encodeRow, foldCell } from "../../sql/language/codec.ts";
import type { Cell } from "../../sql/language/dialect.ts";
import { quote, formatShadowName } from "../../sql/language/names.ts";
import { ask, run, statement, type NamedRow, type Script } from "../../sql/language/script.ts";
import { keyType } from "../../sql/migrations/rows-before.ts";
import { defaultLiteral, defineColumn, defineReference, collectShadows } from "../../sql/schema/definition.ts";
import { requiredLeftOvers } from "../../sql/schema/found-table.ts";
import { selectLinks } from "../../sql/schema/links.ts";
import type { FoundTable, SchemaDialect } from "../../sql/schema/schema.ts";
import type { Collection, Column } from "../../store.ts";
import { findBound } from "../bound.ts";
import { postgres, formatReferenceName, formatSequenceName } from "../dialect.ts";
import { findExisting } from "../existing/existing.ts";
import { findUnreadable, withSchemaRights } from "../existing/readable.ts";
import { findUnwritable } from "../existing/writable.ts";
import { migrationLock, ownTables, schemaVersion } from "../own-tables.ts";
import { watchWords } from "../word-triggers.ts";
import { convert, convertOrFail } from "./conversions.ts";

/**
 * The longest time between two statements of a migration, in milliseconds. After that, the server ends the connection,
 * because the process seems to be dead.
 */
const idleMs = 60_000;

/**
 * Locks a table, so that the connection refreshes its cache of table names. An advisory lock does not refresh it:
 * `to_regclass` would still return the state from before the wait.
 */
const takeNews = "SELECT FROM pg_class LIMIT 0";

/** The number of rows that are folded at a time. */
const pageSize = 1000;

/** Finds, creates and changes tables in PostgreSQL. */
export const postgresSchema: SchemaDialect = {
  ...postgres,
  convert,
  convertOrFail,
  version: schemaVersion,
  // Sets READ COMMITTED, because the database may have another default. This transaction must see the changes that
  // another process made while this one waited. The time limit ends the transaction if this process dies.
  begin: `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}; ${migrationLock}; ${takeNews}`,
  *makeOwnTables() {
    yield* run(ownTables);
  },
  *findVersion() {
    const [there] = yield* ask(statement("SELECT to_regclass('latchkey_version') IS NOT NULL AS is_there"));
    if (there!["is_there"] !== true) return 0;
    const [row] = yield* ask(statement("SELECT version FROM latchkey_version"));
    return row!["version"] as number;
  },
  findColumns: (table) =>
    statement(
      "SELECT attname::text AS name, format_type(atttypid, atttypmod) AS storage, NOT attnotnull AS nullable, " +
        // `SET DEFAULT NULL` removes the default. A numeric(19,2) column keeps the expression `NULL::numeric`, which is
        // no default.
        "EXISTS (SELECT FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum AND pg_get_expr(adbin, adrelid) NOT LIKE 'NULL::%') AS has_default, " +
        "EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid AND indisprimary AND indkey::text = attnum::text) AS is_key " +
        "FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
      [quote(table)],
    ),
  // The name includes the schema if the name alone leads to another table.
  findReferences: (table) =>
    statement(
      "SELECT a.attname::text AS column, " +
        "CASE WHEN confrelid = to_regclass(format('%I', c.relname)) THEN c.relname::text ELSE confrelid::regclass::text END AS target, " +
        "CASE confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'r' THEN 'RESTRICT' ELSE confdeltype::text END AS on_delete, conname::text AS constraint " +
        "FROM pg_constraint JOIN pg_class c ON c.oid = confrelid JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = conkey[1] " +
        "WHERE contype = 'f' AND conrelid = to_regclass($1) AND starts_with(conname::text, 'reference ')",
      [quote(table)],
    ),
  findIndexes: (table) =>
    statement(
      "SELECT c.relname::text AS name, i.indisvalid AS is_whole FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = to_regclass($1)",
      [quote(table)],
    ),
  findUnknownTables: statement(
    "SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' " +
      "AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('latchkey_schema')) " +
      "AND relname::text NOT IN (SELECT collection FROM latchkey_schema) " +
      "AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = '_revision' AND NOT attisdropped)",
  ),
  findExisting: (table) => withSchemaRights(table, findExisting(table)),
  findUnreadable,
  findUnwritable,
  // Nothing to do: PostgreSQL changes a table in place, so no old table remains. The migration drops old columns
  // itself, which is fast.
  *dropLeftovers() {},
  lock: lockTable,
  *drop(collection, found) {
    // The references to this table are restored, unless the type of its key changes.
    const sameKey = found.columns.get("id")?.storage === keyType(postgres, collection.key);
    const others = yield* referencesTo(collection);
    for (const { table, constraint } of others) yield* run(`ALTER TABLE ${table} DROP CONSTRAINT ${constraint}`);
    // Without CASCADE, because objects of other programs (a view) must not be dropped.
    yield* run(`DROP TABLE ${quote(collection.name)}`);
    return sameKey
      ? others.map(
          ({ table, constraint, definition }) => `ALTER TABLE ${table} ADD CONSTRAINT ${constraint} ${definition}`,
        )
      : [];
  },
  *complete(collection) {
    // The sequence outlives its table, so that no key is used twice.
    if (collection.key === "integer")
      yield* run(`CREATE SEQUENCE IF NOT EXISTS ${quote(formatSequenceName(collection))}`);
  },
  findBound: (collection, _, going) => findBound(collection, going ?? new Set()),
  findTriggers: (table) =>
    statement("SELECT tgname::text AS name FROM pg_trigger WHERE tgrelid = to_regclass($1) AND NOT tgisinternal", [
      quote(table),
    ]),
  watchWords,
  dropTrigger: ({ name: table }, name) => `DROP TRIGGER ${quote(name)} ON ${quote(table)}`,
  // Prevents deadlocks: a transaction that waits for a lock while it holds others soon gives up.
  beginPortion: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = 50",
  skipLocked: (table) => ` FOR NO KEY UPDATE OF ${table} SKIP LOCKED`,
  elements: (place) => `json_array_elements(${place}::json)`,
  *alter(collection, found) {
    for (const sql of compileAlterations(collection, found)) yield* run(sql);
  },
  changeReference(collection, column, before) {
    const table = `ALTER TABLE ${quote(collection.name)}`;
    return [
      ...(before === null ? [] : [`${table} DROP CONSTRAINT ${quote(before)}`]),
      ...(column === null ? [] : [`${table} ${addReference(collection, column)}`]),
    ];
  },
  insertLinks(collection, links) {
    const columns = collection.columns.map(({ name }) => quote(name)).join(", ");
    const [next, type] = [
      postgres.literal(quote(formatSequenceName(collection))),
      postgres.compileStorage(collection.columns[1]!),
    ];
    const rows = selectLinks(postgresSchema, links, `(each.value #>> '{}')::${type}`);
    return [
      `INSERT INTO ${quote(collection.name)} ("id", "_revision", ${columns}) SELECT nextval(${next}), nextval('latchkey_revision'), record, linked FROM (${rows}) AS t`,
    ];
  },
  fillShadow,
  /** Reads the next value of each sequence. For an unused sequence, this is its first value. */
  *readCounters(collections) {
    const nextKeys: Record<string, number> = {};
    for (const collection of collections)
      if (collection.key === "integer") nextKeys[collection.name] = yield* loadNextKey(formatSequenceName(collection));
    return { revision: (yield* loadNextKey("latchkey_revision")) - 1, nextKeys };
  },
  *setCounters(collections, { revision, nextKeys }) {
    yield* setNext("latchkey_revision", revision + 1);
    for (const collection of collections)
      if (collection.key === "integer") yield* setNext(formatSequenceName(collection), nextKeys[collection.name]!);
    // The planner has no statistics of the copied rows yet.
    yield* run(`ANALYZE ${[...tablesToCopy(postgres, collections).keys()].map(quote).join(", ")}`);
  },
  /** Inserts all rows with one statement: one array per column. */
  insertRows(table, rows) {
    const { name, columns } = table;
    const names = columns.map((column) => quote(column.name)).join(", ");
    const places = columns.map((column, at) => `$${at + 1}::${postgres.compileStorage(column)}[]`).join(", ");
    const encoded = rows.map((row) => encodeRow(postgres, table, row));
    const values: Cell[] = columns.map((_, at) => encoded.map((cells) => cells[at]!));
    return [statement(`INSERT INTO ${quote(name)} (${names}) SELECT * FROM unnest(${places})`, values)];
  },
};

/** Returns the SQL that locks a table against all other transactions until this one ends. */
export function lockTable(name: string): string {
  return `LOCK TABLE ${quote(name)} IN ACCESS EXCLUSIVE MODE`;
}

/** Returns the SQL that adapts a table with rows to its declaration, in at most one statement. */
export function compileAlterations(collection: Collection, found: FoundTable): readonly string[] {
  const steps = collection.columns.flatMap((column) => alterations(column, found));
  for (const shadow of collectShadows(postgres, collection))
    if (!found.columns.has(shadow.name)) steps.push(`ADD COLUMN ${defineColumn(postgres, shadow)}`);
  for (const { name } of requiredLeftOvers(collection, found)) steps.push(`ALTER COLUMN ${quote(name)} DROP NOT NULL`);
  return steps.length === 0 ? [] : [`ALTER TABLE ${quote(collection.name)} ${steps.join(", ")}`];
}

function alterations(column: Column, found: FoundTable): string[] {
  const name = quote(column.name);
  const there = found.columns.get(column.name);
  const steps =
    there === undefined
      ? [`ADD COLUMN ${defineColumn(postgres, column)}`]
      : [`ALTER COLUMN ${name} SET DEFAULT ${defaultLiteral(postgres, column)}`];
  if (there !== undefined && there.nullable !== (column.nullable === true))
    steps.push(`ALTER COLUMN ${name} ${there.nullable ? "SET" : "DROP"} NOT NULL`);
  return steps;
}

function addReference(collection: Collection, column: Column): string {
  const constraint = quote(formatReferenceName(collection, column));
  return `ADD CONSTRAINT ${constraint} FOREIGN KEY (${quote(column.name)}) ${defineReference(column.references!)}`;
}

/** Returns the references of other tables to this one. Each name is quoted. */
function* referencesTo({
  name,
}: Collection): Script<
  readonly { readonly table: string; readonly constraint: string; readonly definition: string }[]
> {
  const rows = yield* ask(
    statement(
      "SELECT conrelid::regclass::text AS table, quote_ident(conname) AS constraint, pg_get_constraintdef(oid) AS definition FROM pg_constraint " +
        "WHERE contype = 'f' AND confrelid = to_regclass($1) AND conrelid <> confrelid",
      [quote(name)],
    ),
  );
  return rows.map(({ table, constraint, definition }) => ({
    table: table as string,
    constraint: constraint as string,
    definition: definition as string,
  }));
}

/**
 * Fills a column of folded values. This process folds the values, because no function of PostgreSQL folds the same way
 * on each server.
 */
function* fillShadow(collection: Collection, column: Column): Script<void> {
  const [table, name, shadow] = [collection.name, column.name, formatShadowName(postgres, column)].map(quote);
  const key = keyType(postgres, collection.key);
  let last: Cell = null;
  for (;;) {
    const rows: readonly NamedRow[] = yield* ask(
      statement(
        `SELECT "id", ${name} AS value FROM ${table} WHERE ($1::${key} IS NULL OR "id" > $1) ORDER BY "id" LIMIT ${pageSize}`,
        [last],
      ),
    );
    yield* ask(
      statement(
        `UPDATE ${table} SET ${shadow} = page.folded FROM unnest($1::${key}[], $2::text[]) AS page (key, folded) WHERE "id" = page.key AND ${shadow} IS DISTINCT FROM page.folded`,
        [rows.map(({ id }) => id as Cell), rows.map(({ value }) => foldCell(column, value as Cell))],
      ),
    );
    if (rows.length < pageSize) return;
    last = rows.at(-1)!["id"] as Cell;
  }
}

function* setNext(sequence: string, next: number): Script<void> {
  yield* ask(statement(`SELECT setval(${postgres.literal(quote(sequence))}::regclass, $1, FALSE)`, [next]));
}

function* loadNextKey(sequence: string): Script<number> {
  const [row] = yield* ask(
    statement(`SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END AS next FROM ${quote(sequence)}`),
  );
  return row!["next"] as number;
}
