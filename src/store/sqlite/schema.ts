import type { DatabaseSync } from "node:sqlite";
import { requireSoundDeclarations } from "../declarations.ts";
import { MigrationNeeded, StoreUnavailable, type Collection } from "../store.ts";
import { encode } from "./codec.ts";
import { connect, createFile, prepare } from "./connection.ts";
import { isBusy } from "./errors.ts";
import { fitTable } from "./migration.ts";

/** The version of what this file makes. A database with a higher one was written by a newer program. */
export const schemaVersion = 1;

/** How long to go on asking for the WAL mode while another process opens the same file, in milliseconds. */
const walPatienceMs = 5000;

/** What the store keeps beside the collections. `rows` of a write that can be repeated are JSON, `expires_at` is in milliseconds. */
const ownTables = `
  CREATE TABLE latchkey_schema (collection TEXT NOT NULL PRIMARY KEY, declaration TEXT NOT NULL, types TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE latchkey_revision (revision INTEGER NOT NULL) STRICT;
  INSERT INTO latchkey_revision (revision) VALUES (0);
  CREATE TABLE latchkey_keys (collection TEXT NOT NULL PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE latchkey_taken_keys (collection TEXT NOT NULL, key INTEGER NOT NULL, PRIMARY KEY (collection, key)) WITHOUT ROWID, STRICT;
  CREATE TABLE latchkey_idempotency (key TEXT NOT NULL PRIMARY KEY, fingerprint TEXT NOT NULL, rows TEXT NOT NULL, expires_at INTEGER NOT NULL) STRICT;
  CREATE INDEX latchkey_idempotency_expiry ON latchkey_idempotency (expires_at);
  PRAGMA user_version = ${schemaVersion};
`;

/** Makes the file ready: WAL mode and the tables of the collections. */
export function prepareFile(path: string, collections: readonly Collection[]): void {
  createFile(path);
  const database = connect(path);
  try {
    setWriteAheadLog(database);
    prepareSchema(database, collections);
  } finally {
    database.close();
  }
}

/** Creates what is not there and adds to what is; all of it or nothing. */
export function prepareSchema(database: DatabaseSync, collections: readonly Collection[]): void {
  requireSoundDeclarations(collections, encode);
  if (unprepared(database, collections).length === 0) return;
  // Tables are rebuilt and dropped below. What refers to what is checked before the end.
  database.exec("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE");
  try {
    // Asked again: another process may have been first.
    if (requireKnownVersion(database) === 0) database.exec(ownTables);
    const problems = unprepared(database, collections).flatMap((collection) => fitTable(database, collection));
    if (problems.length > 0) throw new MigrationNeeded(problems);
    database.exec("COMMIT");
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK");
    database.exec("PRAGMA foreign_keys = ON");
  }
}

/** Throws unless the tables are there. A newer program may meanwhile have added columns to them. */
export function requireSchema(database: DatabaseSync, collections: readonly Collection[]): void {
  requireKnownVersion(database);
  const remembered = prepare(database, "SELECT 1 FROM latchkey_schema WHERE collection = ?");
  for (const { name } of collections) {
    if (remembered.get(name) === undefined)
      throw new StoreUnavailable(`SQLite: the table ${name} is not there any more`);
  }
}

/** The collections whose tables are not as declared. */
function unprepared(database: DatabaseSync, collections: readonly Collection[]): readonly Collection[] {
  if (requireKnownVersion(database) === 0) return collections;
  const remembered = prepare(database, "SELECT 1 FROM latchkey_schema WHERE collection = ? AND declaration = ?");
  return collections.filter((collection) => remembered.get(collection.name, JSON.stringify(collection)) === undefined);
}

/** The version of the tables; 0 where there are none. Throws where a newer program has made them. */
function requireKnownVersion(database: DatabaseSync): number {
  const version = prepare(database, "PRAGMA user_version").get()![0] as number;
  if (version <= schemaVersion) return version;
  throw new MigrationNeeded([
    `The database has schema version ${version} and this program knows ${schemaVersion}. Run the newer program, or restore a backup from before it ran.`,
  ]);
}

/** Asks again while another process is doing the same: SQLite does not wait by itself here. */
function setWriteAheadLog(database: DatabaseSync): void {
  const start = performance.now();
  for (;;) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() - start > walPatienceMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
