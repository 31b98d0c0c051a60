import { encodeRow } from "../../sql/language/codec.ts";
import { quote, formatShadowName } from "../../sql/language/names.ts";
import { ask, run, statement } from "../../sql/language/script.ts";
import { createTable, defineColumn, collectShadows } from "../../sql/schema/definition.ts";
import { leftOvers, referringLeftOvers, requiredLeftOvers } from "../../sql/schema/found-table.ts";
import { selectLinks } from "../../sql/schema/links.ts";
import { formatReference, type FoundTable, type SchemaDialect } from "../../sql/schema/schema.ts";
import type { Collection, Column } from "../../store.ts";
import { compileFold } from "../connection/functions.ts";
import { sqlite } from "../dialect.ts";
import { findUnwritable } from "../existing/compiling.ts";
import { findExisting } from "../existing/existing.ts";
import { findVersion, makeOwnTables, version } from "../version.ts";
import { watchWords } from "../word-triggers.ts";
import { findBound } from "./bound.ts";
import { convert, convertOrFail } from "./conversions.ts";
import { dropLeftovers } from "./leftover-tables.ts";
import { findObjects, listOtherObjects } from "./own-objects.ts";

/** Finds, creates and changes tables in SQLite. */
export const sqliteSchema: SchemaDialect = {
  ...sqlite,
  convert,
  convertOrFail,
  version,
  // Tables that the operator's views use may be rebuilt and dropped. `legacy_alter_table` keeps SQLite from checking
  // these views. References are checked only at the end.
  begin: "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; BEGIN IMMEDIATE",
  makeOwnTables,
  findVersion,
  findColumns: (table) =>
    statement(
      `SELECT name, type AS storage, NOT "notnull" AS nullable, dflt_value IS NOT NULL AS has_default, pk AS is_key FROM pragma_table_info(?)`,
      [table],
    ),
  findReferences: (table) =>
    statement(
      `SELECT "from" AS "column", "table" AS target, on_delete, NULL AS "constraint" FROM pragma_foreign_key_list(?)`,
      [table],
    ),
  findIndexes: (table) =>
    statement("SELECT name, TRUE AS is_whole FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?", [table]),
  findUnknownTables: statement(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN (SELECT collection FROM latchkey_schema) " +
      // Excludes the tables that a migration has created and not removed yet.
      "AND name NOT IN (SELECT '_' || collection || '_next' FROM latchkey_schema UNION SELECT '_' || collection || '_gone' FROM latchkey_schema) " +
      "AND EXISTS (SELECT 1 FROM pragma_table_info(sqlite_schema.name) AS c WHERE c.name = '_revision')",
  ),
  findExisting,
  // SQLite has no privileges.
  *findUnreadable() {
    yield* [];
    return [];
  },
  findUnwritable,
  dropLeftovers,
  lock: null,
  *drop({ name }) {
    yield* run(`DROP TABLE ${quote(name)}`);
    return [];
  },
  *complete() {},
  *findBound(collection, found, going) {
    return going === null && !needsRebuild(collection, found) ? [] : yield* findBound(collection, found);
  },
  findTriggers: (table) => statement("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?", [table]),
  watchWords,
  dropTrigger: (_, name) => `DROP TRIGGER ${quote(name)}`,
  beginPortion: "BEGIN IMMEDIATE",
  skipLocked: () => "",
  elements: (place) => `json_each(${place})`,
  *alter(collection, found) {
    const steps = needsRebuild(collection, found)
      ? [...rebuild(collection, found), ...listOtherObjects(collection, yield* ask(findObjects(collection)))]
      : addColumns(collection, found);
    for (const sql of steps) yield* run(sql);
  },
  changeReference: () => [],
  insertLinks(collection, links) {
    const [record, linked] = collection.columns.map(({ name }) => quote(name));
    const [name, called] = [quote(collection.name), sqlite.literal(collection.name)];
    const last = `coalesce((SELECT next - 1 FROM latchkey_keys WHERE collection = ${called}), 0)`;
    const rows = selectLinks(sqliteSchema, links, "each.value");
    return [
      `UPDATE latchkey_revision SET revision = revision + 1 WHERE EXISTS (SELECT 1 FROM (${rows}))`,
      `INSERT INTO ${name} ("id", "_revision", ${record!}, ${linked!}) SELECT ${last} + row_number() OVER (), (SELECT revision FROM latchkey_revision), record, linked FROM (${rows})`,
      `INSERT INTO latchkey_keys (collection, next) SELECT ${called}, max("id") + 1 FROM ${name} HAVING count(*) > 0 ON CONFLICT DO UPDATE SET next = excluded.next`,
    ];
  },
  *fillShadow(collection, column) {
    const [name, shadow] = [quote(column.name), quote(formatShadowName(sqlite, column))];
    const folded = compileFold(column, name);
    yield* run(`UPDATE ${quote(collection.name)} SET ${shadow} = ${folded} WHERE ${shadow} IS NOT ${folded}`);
  },
  *readCounters(collections) {
    const [row] = yield* ask(statement("SELECT revision FROM latchkey_revision"));
    const storedKeys = yield* ask(statement("SELECT collection, next FROM latchkey_keys"));
    const next = new Map(storedKeys.map((row) => [row["collection"], row["next"] as number]));
    const keyed = collections.filter(({ key }) => key === "integer");
    return {
      revision: row!["revision"] as number,
      nextKeys: Object.fromEntries(keyed.map(({ name }) => [name, next.get(name) ?? 1])),
    };
  },
  *setCounters(_, { revision, nextKeys }) {
    yield* ask(statement("UPDATE latchkey_revision SET revision = ?", [revision]));
    for (const [name, next] of Object.entries(nextKeys))
      yield* ask(statement("INSERT INTO latchkey_keys (collection, next) VALUES (?, ?)", [name, next]));
  },
  insertRows(table, rows) {
    const { name, columns } = table;
    const names = columns.map((column) => quote(column.name)).join(", ");
    const text = `INSERT INTO ${quote(name)} (${names}) VALUES (${columns.map(() => "?").join(", ")})`;
    return rows.map((row) => statement(text, encodeRow(sqlite, table, row)));
  },
};

/** Returns true if a change needs a new table: SQLite cannot change these properties of an existing column. */
function needsRebuild(collection: Collection, found: FoundTable): boolean {
  if (requiredLeftOvers(collection, found).length + referringLeftOvers(collection, found).length > 0) return true;
  return collection.columns.some((column) => {
    const there = found.columns.get(column.name);
    if (there === undefined) return false;
    const target = found.references.get(column.name)?.target ?? "";
    return there.nullable !== (column.nullable === true) || target !== formatReference(column);
  });
}

/**
 * Returns the statements that copy the rows into a new table with the declared columns. The new table also gets the
 * columns that are no longer declared.
 */
function rebuild(collection: Collection, found: FoundTable): string[] {
  const [table, fresh] = [quote(collection.name), quote(`_${collection.name}`)];
  const leftOver = leftOvers(collection, found);
  const retainedNames = [...found.columns.keys()].filter((name) =>
    collection.columns.some((column) => column.name === name),
  );
  const copied = ["id", "_revision", ...retainedNames, ...leftOver.map(({ name }) => name)].map(quote).join(", ");
  return [
    createTable(sqlite, collection, `_${collection.name}`),
    ...leftOver.map(({ name, storage }) => `ALTER TABLE ${fresh} ADD COLUMN ${quote(name)} ${storage}`),
    `INSERT INTO ${fresh} (${copied}) SELECT ${copied} FROM ${table}`,
    `DROP TABLE ${table}`,
    `ALTER TABLE ${fresh} RENAME TO ${table}`,
  ];
}

function addColumns(collection: Collection, found: FoundTable): string[] {
  const { name, columns } = collection;
  const missing = (column: Column): boolean => !found.columns.has(column.name);
  return [
    ...columns.filter(missing).map((column) => defineColumn(sqlite, column)),
    ...collectShadows(sqlite, collection)
      .filter(missing)
      .map((column) => defineColumn(sqlite, column)),
  ].map((definition) => `ALTER TABLE ${quote(name)} ADD COLUMN ${definition}`);
}
