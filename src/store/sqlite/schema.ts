import type { DatabaseSync } from "node:sqlite";
import { ownOf } from "../declarations.ts";
import { fold } from "../fold.ts";
import { firstIndexingMs, searchedOf } from "../searched.ts";
import { settleExisting } from "../sql/existing/settle.ts";
import { prepareTables, requireKnownVersion } from "../sql/schema/prepare.ts";
import { play } from "../sql/schema/script.ts";
import { StoreUnavailable, type Collection } from "../store.ts";
import { connect, createFile, prepare, sendTo } from "./connection.ts";
import { isBusy } from "./errors.ts";
import { sqliteSchema } from "./migration.ts";
import { takeSomeWords } from "./words.ts";

/** How long to go on asking for the WAL mode while another process opens the same file, in milliseconds. */
const walPatienceMs = 5000;

/** Collections that are kept in tables which were there before, as these were found. */
export type Settled = ReadonlyMap<string, Collection>;

/** Makes the file ready: WAL mode and the tables of the collections. */
export function prepareFile(path: string, collections: readonly Collection[]): Settled {
  createFile(path);
  const database = connect(path);
  try {
    setWriteAheadLog(database);
    const settled = prepareSchema(database, collections);
    takeFirstWords(database, collections);
    return settled;
  } finally {
    database.close();
  }
}

/** What takes longer is done beside all else, and so is what a full disk does not take: a start on one is for reading. */
function takeFirstWords(database: DatabaseSync, collections: readonly Collection[]): void {
  const due = performance.now() + firstIndexingMs;
  try {
    while (performance.now() < due && takeSomeWords(database, searchedOf(collections)));
  } catch {
    // It is tried again behind the writes; until then these rows are looked at one by one.
  }
}

/** Creates what is not there and adds to what is; all of it or nothing. */
export function prepareSchema(database: DatabaseSync, collections: readonly Collection[]): Settled {
  database.function("latchkey_fold", { deterministic: true }, (text) => (typeof text === "string" ? fold(text) : null));
  try {
    const send = sendTo(database);
    // Where a table of others is not as declared, none of ours is made.
    const settled = play(settleExisting(sqliteSchema, collections), send);
    play(prepareTables(sqliteSchema, collections), send);
    return settled;
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK");
    database.exec("PRAGMA foreign_keys = ON");
  }
}

/** Throws unless the tables are there. A newer program may meanwhile have added columns to them. */
export function requireSchema(database: DatabaseSync, collections: readonly Collection[]): void {
  play(requireKnownVersion(sqliteSchema), sendTo(database));
  const remembered = prepare(database, "SELECT 1 FROM latchkey_schema WHERE collection = ?");
  for (const { name } of ownOf(collections)) {
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
