import type { DatabaseSync } from "node:sqlite";
import { fold } from "../fold.ts";
import type { Collection, Column } from "../store.ts";
import { prepare } from "./connection.ts";
import { createTable, defineColumn, defineShadow, indexesOf, indexPrefix, isFolded, storageOf } from "./definition.ts";
import { code, codeOf } from "./errors.ts";
import { findTable, leftOvers, requiredLeftOvers, type Found } from "./found-table.ts";
import { literal, quote, shadowOf } from "./table.ts";

/** Makes the table of a collection, or makes it fit. Gives what stands in the way, each with its cure. */
export function fitTable(database: DatabaseSync, collection: Collection): string[] {
  const found = findTable(database, collection);
  const problems = found === null ? [] : problemsWith(database, collection, found);
  if (problems.length > 0) return problems;

  if (found === null) database.exec(createTable(collection));
  else if (needsRebuild(collection, found)) database.exec(rebuild(collection, found));
  else addColumns(database, collection, found);
  fillShadows(database, collection);
  remember(database, collection, found?.types ?? {});
  return [...fitIndexes(database, collection), ...danglingIn(database, collection)];
}

/** An empty table has nothing to lose and is made anew where it does not fit. */
function problemsWith(database: DatabaseSync, collection: Collection, found: Found): string[] {
  const { name } = collection;
  const id = found.columns.get("id");
  if (id === undefined || !id.isKey || !found.columns.has("_revision")) {
    return [
      `There is a table ${name} that was not made by this store. Rename one of the two: ALTER TABLE ${quote(name)} RENAME TO …;`,
    ];
  }
  if (!found.rows) return [];
  if (id.storage !== collection.key.toUpperCase())
    return [
      `${name}: keys were ${id.storage.toLowerCase()} and are declared ${collection.key}. ${rebuildCure(collection, found)}`,
    ];
  return [
    ...collection.columns.flatMap((column) => problemsWithColumn(database, collection, column, found)),
    ...requiredLeftOvers(collection, found).map((column) => {
      const place = `${name}.${column.name}`;
      return `${place} is declared no more, but new rows would need a value for it. Declare it again, or run: ALTER TABLE ${quote(name)} DROP COLUMN ${quote(column.name)};`;
    }),
  ];
}

function problemsWithColumn(database: DatabaseSync, collection: Collection, column: Column, found: Found): string[] {
  const place = `${collection.name}.${column.name}`;
  const table = quote(collection.name);
  const name = quote(column.name);
  const there = found.columns.get(column.name);
  if (there === undefined) {
    if (column.nullable === true || column.default !== undefined) return [];
    return [
      `${place} is new and must not be null, and there are rows already. Declare it nullable or with a default, or run: ALTER TABLE ${table} ADD COLUMN ${defineColumn(column)} DEFAULT …;`,
    ];
  }
  const was = found.types[column.name];
  if (there.storage !== storageOf(column))
    return [
      `${place} was ${was ?? there.storage} and is declared ${typeOf(column)}. ${rebuildCure(collection, found)}`,
    ];
  if (was !== undefined && was !== typeOf(column)) {
    return [
      `${place} was ${was} and is declared ${typeOf(column)}. Convert what is there and confirm it: UPDATE ${table} SET ${name} = …; DELETE FROM latchkey_schema WHERE collection = ${literal(collection.name)};`,
    ];
  }
  if (
    column.nullable !== true &&
    there.nullable &&
    prepare(database, `SELECT 1 FROM ${table} WHERE ${name} IS NULL LIMIT 1`).get() !== undefined
  ) {
    return [
      `${place} is declared not nullable, and there are rows without a value. Run: UPDATE ${table} SET ${name} = … WHERE ${name} IS NULL;`,
    ];
  }
  return [];
}

/** SQLite cannot change these of a column that is there. */
function needsRebuild(collection: Collection, found: Found): boolean {
  if (!found.rows) return !isAsDeclared(collection, found);
  return collection.columns.some((column) => {
    const there = found.columns.get(column.name);
    return (
      there !== undefined &&
      (there.nullable !== (column.nullable === true) || there.references !== referencesOf(column))
    );
  });
}

function isAsDeclared(collection: Collection, found: Found): boolean {
  if (found.columns.get("id")?.storage !== collection.key.toUpperCase()) return false;
  if (requiredLeftOvers(collection, found).length > 0) return false;
  return collection.columns.every((column) => {
    const there = found.columns.get(column.name);
    return (
      there !== undefined &&
      there.storage === storageOf(column) &&
      there.nullable === (column.nullable === true) &&
      there.references === referencesOf(column)
    );
  });
}

/** Copies the rows into a table as declared. Columns that are declared no more go with them, as far as they hold something. */
function rebuild(collection: Collection, found: Found): string {
  const table = quote(collection.name);
  const fresh = `_${collection.name}`;
  const leftOver = found.rows ? leftOvers(collection, found) : [];
  const kept = [
    "id",
    "_revision",
    ...[...found.columns.keys()].filter((name) => collection.columns.some((column) => column.name === name)),
  ];
  const copied = [...kept, ...leftOver.map((column) => column.name)].map(quote).join(", ");
  const copy = `INSERT INTO ${quote(fresh)} (${copied}) SELECT ${copied} FROM ${table}`;
  return [
    createTable(collection, fresh),
    ...leftOver.map((column) => `ALTER TABLE ${quote(fresh)} ADD COLUMN ${quote(column.name)} ${column.storage}`),
    ...(found.rows ? [copy] : []),
    `DROP TABLE ${table}`,
    `ALTER TABLE ${quote(fresh)} RENAME TO ${table}`,
  ].join("; ");
}

function rebuildCure(collection: Collection, found: Found): string {
  return `Copy the rows into a table of the new form, converting what has changed: PRAGMA foreign_keys = OFF; BEGIN; ${rebuild(collection, found)}; DELETE FROM latchkey_schema WHERE collection = ${literal(collection.name)}; COMMIT;`;
}

function addColumns(database: DatabaseSync, collection: Collection, found: Found): void {
  for (const column of collection.columns) {
    if (!found.columns.has(column.name))
      database.exec(`ALTER TABLE ${quote(collection.name)} ADD COLUMN ${defineColumn(column)}`);
    if (isFolded(column) && !found.columns.has(shadowOf(column)))
      database.exec(`ALTER TABLE ${quote(collection.name)} ADD COLUMN ${defineShadow(column)}`);
  }
}

/** Folds what is not folded yet, or was written while the column was not. */
function fillShadows(database: DatabaseSync, collection: Collection): void {
  const folded = collection.columns.filter(isFolded);
  if (folded.length === 0) return;
  database.function("latchkey_fold", { deterministic: true }, (text) => (typeof text === "string" ? fold(text) : null));
  for (const column of folded) {
    const name = quote(column.name);
    const shadow = quote(shadowOf(column));
    // Two rows may change their places, so no unique index may be watching.
    const index = [...indexesOf(collection)].find(([, { unique }]) => unique === column)![0];
    const stale = prepare(
      database,
      `SELECT 1 FROM ${quote(collection.name)} WHERE ${shadow} IS NOT latchkey_fold(${name}) LIMIT 1`,
    ).get();
    if (stale === undefined) continue;
    database.exec(
      `DROP INDEX IF EXISTS ${quote(index)}; UPDATE ${quote(collection.name)} SET ${shadow} = latchkey_fold(${name})`,
    );
  }
}

/** Makes the indexes that are declared and drops ours that are declared no more. */
function fitIndexes(database: DatabaseSync, collection: Collection): string[] {
  const wanted = indexesOf(collection);
  const there = new Set(
    prepare(database, "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?")
      .all(collection.name)
      .map(([name]) => name as string),
  );
  for (const name of there) {
    const ours = [true, false].some((unique) => name.startsWith(`${indexPrefix(collection, unique)}(`));
    if (ours && !wanted.has(name)) database.exec(`DROP INDEX ${quote(name)}`);
  }
  const problems: string[] = [];
  for (const [name, { sql, unique }] of wanted) {
    if (there.has(name)) continue;
    try {
      database.exec(sql);
    } catch (error) {
      if (unique === null || codeOf(error) !== code.unique) throw error;
      const column = quote(isFolded(unique) ? shadowOf(unique) : unique.name);
      problems.push(
        `${collection.name}.${unique.name} is declared unique${isFolded(unique) ? " without regard to case" : ""}, and some values are there more than once. ` +
          `Find them and change all but one: SELECT ${isFolded(unique) ? `lower(${quote(unique.name)})` : column} AS value, count(*) FROM ${quote(collection.name)} GROUP BY value HAVING count(*) > 1;`,
      );
    }
  }
  return problems;
}

function danglingIn(database: DatabaseSync, { name }: Collection): string[] {
  const dangling = prepare(database, "SELECT DISTINCT parent FROM pragma_foreign_key_check(?)").all(name);
  return dangling.map(
    ([parent]) =>
      `${name} refers to rows of ${String(parent)} that are not there. List them and change or delete them: PRAGMA foreign_key_check(${quote(name)});`,
  );
}

function remember(database: DatabaseSync, collection: Collection, before: Readonly<Record<string, string>>): void {
  const types = { ...before, ...Object.fromEntries(collection.columns.map((column) => [column.name, typeOf(column)])) };
  prepare(database, "REPLACE INTO latchkey_schema (collection, declaration, types) VALUES (?, ?, ?)").run(
    collection.name,
    JSON.stringify(collection),
    JSON.stringify(types),
  );
}

function typeOf({ type, scale }: Column): string {
  return type === "decimal" ? `decimal(${scale ?? 0})` : type;
}

function referencesOf({ references }: Column): string {
  return references === undefined ? "" : `${references.collection} ${references.onDelete.toUpperCase()}`;
}
