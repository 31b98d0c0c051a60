import type { DatabaseSync } from "node:sqlite";
import { pickOwnCollections } from "../declarations.ts";
import { pickSearched } from "../searched.ts";
import { checkComputed } from "../sql/existing/computed-check.ts";
import { asSettled, settleExisting } from "../sql/existing/settle.ts";
import { prepareTables, requireKnownVersion, requireTables, unprepared } from "../sql/migrations/prepare.ts";
import { findOutdated, findRetyped, readShapes, type Refusing, type Shapes } from "../sql/schema/table-shape.ts";
import { takeFirstWords } from "../sql/word-index.ts";
import { StoreSetupError, type Collection } from "../store.ts";
import { BUSY_TIMEOUT_MS, connect, createFile, playOn, prepare } from "./connection/connection.ts";
import { findCode } from "./connection/errors.ts";
import { whenFree } from "./connection/write-lock.ts";
import { getTable } from "./dialect.ts";
import { sqliteSchema } from "./table-changes/migration.ts";

/** The number of attempts to find the declared tables while other processes start too. */
const maxTries = 5;

/** The collections over existing tables, completed with the properties of the tables that were found. */
export type SettledCollections = ReadonlyMap<string, Collection>;

/** Prepares the file: creates it, turns on WAL mode, and creates or extends the tables of the collections. */
export function prepareFile(path: string, collections: readonly Collection[]): SettledCollections {
  createFile(path);
  const database = connect(path);
  try {
    whenFree(database, BUSY_TIMEOUT_MS, () => {
      requireUTF8(database, path);
      database.exec("PRAGMA journal_mode = WAL");
    });
    const settled = whenFree(database, BUSY_TIMEOUT_MS, () => prepareSchema(database, collections));
    playOn(database, takeFirstWords(sqliteSchema, pickSearched(collections).map(getTable)));
    return settled;
  } finally {
    database.close();
  }
}

/**
 * Throws if the file stores its texts in UTF-16. SQLite sorts texts by their bytes, and in UTF-16 this is not the order
 * of code points. Lists and ranges would return wrong rows.
 */
function requireUTF8(database: DatabaseSync, path: string): void {
  const [encoding] = prepare(database, "PRAGMA encoding").get()!;
  if (encoding === "UTF-8") return;
  throw new StoreSetupError([
    `${path} stores its texts as ${String(encoding)}, but only UTF-8 is ordered by code point. Convert it: sqlite3 ${path} .dump | sqlite3 new.db`,
  ]);
}

/** Creates missing tables and extends existing ones, all or nothing. */
export function prepareSchema(database: DatabaseSync, collections: readonly Collection[]): SettledCollections {
  try {
    // If an existing table differs from its declaration, no other table is created either.
    const settled = playOn(database, settleExisting(sqliteSchema, collections));
    playOn(database, prepareTables(sqliteSchema, collections));
    playOn(database, checkComputed(sqliteSchema, asSettled(collections, settled)));
    return settled;
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK");
    database.exec("PRAGMA foreign_keys = ON; PRAGMA legacy_alter_table = OFF");
  }
}

/** Throws if a table is missing. Does not check columns, because a newer program may have added some. */
export function requireSchema(database: DatabaseSync, collections: readonly Collection[]): void {
  playOn(database, requireKnownVersion(sqliteSchema));
  const found = prepare(
    database,
    "SELECT name FROM sqlite_schema JOIN latchkey_schema ON collection = name WHERE type = 'table'",
  );
  const names = new Set(found.all().map(([name]) => name));
  requireTables(
    "SQLite",
    pickOwnCollections(collections).flatMap(({ name }) => (names.has(name) ? [] : [name])),
  );
}

/** Returns the shapes of the tables, read while they fit the declarations. */
export function shapesIn(database: DatabaseSync, path: string, collections: readonly Collection[]): Shapes {
  for (let tries = 1; ; tries++) {
    const shapes = playOn(database, readShapes(collections.map(({ name }) => name)));
    if (tries === maxTries || playOn(database, unprepared(sqliteSchema, collections)).length === 0) return shapes;
    // Another process has changed the tables in the meantime. This call either changes them back or throws, and then
    // the start fails.
    prepareFile(path, collections);
  }
}

/**
 * Returns the cause of an error about missing columns if the tables were changed for another declaration. Otherwise
 * returns the error itself.
 */
export function explainOutdated(error: unknown, database: DatabaseSync, shapes: Shapes, refusing: Refusing): unknown {
  // If a statement no longer fits the tables, SQLite reports only SQLITE_ERROR.
  if (findCode(error) !== 1) return error;
  const [first] = playOn(database, findOutdated(shapes));
  return first === undefined ? error : refusing(first);
}

/** The collections whose columns in the database have other types than declared. */
export interface Retyped {
  /**
   * Checks the types again if tables have changed since the last check. The connection must be in the transaction of
   * the read.
   */
  look(): void;
  /** Throws if a column of the collection has another type than declared. */
  require(collection: Collection): void;
}

/** Compares the types of columns with the declared ones. */
export function createTypeCheck(
  database: DatabaseSync,
  collections: readonly Collection[],
  refusing: Refusing,
): Retyped {
  const version = prepare(database, "PRAGMA schema_version");
  let seen: unknown = null;
  let retyped: ReadonlySet<string> = new Set();
  return {
    look() {
      const now = version.get()![0];
      if (now === seen) return;
      retyped = playOn(database, findRetyped(collections));
      seen = now;
    },
    require({ name }) {
      if (retyped.has(name)) throw refusing(name);
    },
  };
}

/** The collections whose tables were changed for other declarations. */
export interface Outdated {
  /** Checks again if another connection has committed. The connection must hold the write lock until it has written. */
  look(): void;
  has(collection: string): boolean;
}

/**
 * Compares the tables with their state when the store was opened. `look` throws if a newer program has created them.
 */
export function createShapeCheck(database: DatabaseSync, knownShapes: Shapes): Outdated {
  const version = prepare(database, "PRAGMA data_version");
  const layout = prepare(database, "PRAGMA schema_version");
  const remembered = prepare(database, "SELECT group_concat(types, '') FROM latchkey_schema");
  let seen: unknown = null;
  let seenLayout: unknown = null;
  let types: unknown = null;
  let outdated: ReadonlySet<string> = new Set();
  return {
    look() {
      const now = version.get()![0];
      if (now === seen) return;
      const layoutNow = layout.get()![0];
      if (layoutNow !== seenLayout) playOn(database, requireKnownVersion(sqliteSchema));
      seenLayout = layoutNow;
      // Another process may write all the time, but it rarely changes a table.
      const found = remembered.get()![0];
      if (found !== types) outdated = playOn(database, findOutdated(knownShapes));
      [seen, types] = [now, found];
    },
    has: (collection) => outdated.has(collection),
  };
}
