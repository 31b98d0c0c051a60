import type { DatabaseSync } from "node:sqlite";
import { fold } from "../fold.ts";
import { prepareTables, requireKnownVersion } from "../sql/prepare.ts";
import { play, type Rows, type Step } from "../sql/script.ts";
import { StoreUnavailable, type Collection } from "../store.ts";
import { connect, createFile, prepare } from "./connection.ts";
import { isBusy } from "./errors.ts";
import { sqliteSchema } from "./migration.ts";

/** How long to go on asking for the WAL mode while another process opens the same file, in milliseconds. */
const walPatienceMs = 5000;

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
  database.function("latchkey_fold", { deterministic: true }, (text) => (typeof text === "string" ? fold(text) : null));
  try {
    play(prepareTables(sqliteSchema, collections), sendTo(database));
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK");
    database.exec("PRAGMA foreign_keys = ON");
  }
}

/** Answers the steps of scripts at once. */
export function sendTo(database: DatabaseSync): (step: Step) => Rows {
  return (step) => {
    if (!("run" in step)) return prepare(database, step.text).all(...step.values);
    database.exec(step.run);
    return [];
  };
}

/** Throws unless the tables are there. A newer program may meanwhile have added columns to them. */
export function requireSchema(database: DatabaseSync, collections: readonly Collection[]): void {
  play(requireKnownVersion(sqliteSchema), sendTo(database));
  const remembered = prepare(database, "SELECT 1 FROM latchkey_schema WHERE collection = ?");
  for (const { name } of collections) {
    if (remembered.get(name) === undefined)
      throw new StoreUnavailable(`SQLite: the table ${name} is not there any more`);
  }
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
