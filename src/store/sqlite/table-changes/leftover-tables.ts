import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { quote } from "../../sql/language/names.ts";
import { ask, run, statement, type Script } from "../../sql/language/script.ts";
import type { Collection } from "../../store.ts";
import { playOn, prepare } from "../connection/connection.ts";
import { requireSpace } from "./disk-space.ts";
import { FIRST_BATCH, inTransaction, nextBatchSize } from "./migration-lock.ts";

// If SQLite drops a table, it reads all pages of the table, and writers wait. So the migration only renames the old
// table, which is fast, and then deletes its rows in small steps. A later run continues an interrupted removal.

/** The suffix of the names of tables that are being removed. */
const suffix = "_gone";

/** The prefix of the names of the triggers that `letGo` creates. */
export const leftoverPrefix = "left in ";

/** Returns the renamed old tables that are not removed yet: those of the given collections, or all. */
export function* findLeftovers(collections?: readonly Pick<Collection, "name">[]): Script<readonly string[]> {
  const names =
    collections?.map(({ name }) => name) ??
    (yield* ask(statement("SELECT collection FROM latchkey_schema"))).map(({ collection }) => String(collection));
  const called = new Set(names.flatMap((name) => [formatGoneTable(name), formatGoneTable(formatAsideWords(name))]));
  const found = yield* ask(statement("SELECT name FROM sqlite_schema WHERE type = 'table'"));
  return found.map(({ name }) => String(name)).filter((name) => called.has(name));
}

/**
 * Drops the renamed old tables of some collections in one step. This runs before the tables of these collections
 * change, because the change needs the names.
 */
export function* dropLeftovers(collections: readonly Pick<Collection, "name">[]): Script<void> {
  for (const table of yield* findLeftovers(collections)) yield* dropTable(table);
}

/**
 * Renames a table, if it exists, so that it can be removed later. The new name follows from `of`: the name of the
 * table, or for an unfinished copy the name of the table that the copy would have replaced.
 */
export function renameAside(database: DatabaseSync, table: string, of = table): void {
  const there = prepare(database, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table);
  if (there === undefined) return;
  const triggers = prepare(database, "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?").all(
    table,
  );
  for (const [trigger] of triggers) database.exec(`DROP TRIGGER ${quote(trigger as string)}`);
  database.exec(`ALTER TABLE ${quote(table)} RENAME TO ${quote(formatGoneTable(of))}`);
}

/**
 * Creates triggers for a renamed old table whose rows refer to other tables. Before a referenced row is deleted, a
 * trigger deletes the rows of the old table that refer to it. Otherwise these unused rows would block the deletion. The
 * referenced tables already have their final names.
 */
export function letGo(database: DatabaseSync, of: string): void {
  const gone = formatGoneTable(of);
  const references = prepare(
    database,
    `SELECT "from", "table" FROM pragma_foreign_key_list(?) WHERE "table" IN (SELECT name FROM sqlite_schema WHERE type = 'table')`,
  ).all(gone) as [string, string][];
  for (const [at, [column, target]] of references.entries())
    database.exec(
      `CREATE TRIGGER ${quote(`${leftoverPrefix}${gone} ${at}`)} BEFORE DELETE ON ${quote(target)} BEGIN ` +
        `DELETE FROM ${quote(gone)} WHERE ${quote(column)} = OLD."id"; END`,
    );
}

/** Drops all triggers whose names begin with `beginning`. */
export function* dropTriggers(beginning: string): Script<void> {
  const found = yield* ask(statement("SELECT name FROM sqlite_schema WHERE type = 'trigger'"));
  for (const name of found.map((trigger) => String(trigger["name"])))
    if (name.startsWith(beginning)) yield* run(`DROP TRIGGER ${quote(name)}`);
}

/**
 * Removes renamed old tables in steps of some milliseconds, while clients write. A later run continues an interrupted
 * removal. `report` receives the number of removed rows.
 */
export async function removeLeftovers(
  database: DatabaseSync,
  tables: readonly string[],
  report: (done: number, total: number) => void = () => undefined,
): Promise<void> {
  const total = tables.reduce((sum, table) => sum + countRows(database, table), 0);
  let gone = 0;
  for (const table of tables) {
    for (const index of uselessIndexes(database, table))
      await removing(database, () => database.exec(`DROP INDEX IF EXISTS ${quote(index)}`));
    let batch = FIRST_BATCH;
    for (let isThere = true; isThere;) {
      const rows = batch;
      const took = await removing(database, () => {
        isThere = removeSome(database, table, rows);
      });
      batch = nextBatchSize(rows, took);
      gone += rows;
      report(Math.min(gone, total), total);
    }
  }
}

/**
 * Runs one step of the removal while writers wait, and then pauses for as long as the step took, so that clients can
 * write. Returns the duration of the step, in milliseconds.
 */
async function removing(database: DatabaseSync, task: () => void): Promise<number> {
  const took = await inTransaction(database, () => {
    requireSpace(database);
    const start = performance.now();
    task();
    return performance.now() - start;
  });
  // Checkpoints the log here, so the next writer does not have to do it.
  database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  await sleep(took);
  return took;
}

function countRows(database: DatabaseSync, table: string): number {
  return prepare(database, `SELECT count(*) FROM ${quote(table)}`).get()![0] as number;
}

/**
 * Returns the indexes that the removal does not need. The index entries of a few rows are spread over many pages, and
 * each of these pages must be written: with three such indexes, a row takes a hundred times as long. Dropping a whole
 * index takes some milliseconds. Indexes that begin with a reference stay, because SQLite uses them when a referenced
 * row is deleted.
 */
function uselessIndexes(database: DatabaseSync, table: string): readonly string[] {
  return prepare(
    database,
    `SELECT name FROM sqlite_schema AS i WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?1 AND NOT EXISTS
       (SELECT 1 FROM pragma_index_info(i.name) AS part JOIN pragma_foreign_key_list(?1) AS reference ON reference."from" = part.name WHERE part.seqno = 0)`,
  )
    .all(table)
    .map(([name]) => name as string);
}

/** Removes this many rows, or drops the table if it has no more. Returns true if the table still exists. */
function removeSome(database: DatabaseSync, table: string, rows: number): boolean {
  const key = prepare(database, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk")
    .all(table)
    .map(([name]) => quote(name as string))
    .join(", ");
  const last = `SELECT ${key} FROM ${quote(table)} ORDER BY ${key} LIMIT 1 OFFSET ${rows - 1}`;
  const { changes } = prepare(database, `DELETE FROM ${quote(table)} WHERE (${key}) <= (${last})`).run();
  if (changes !== 0) return true;
  playOn(database, dropTable(table));
  return false;
}

function* dropTable(table: string): Script<void> {
  yield* dropTriggers(`${leftoverPrefix}${table} `);
  yield* run(`DROP TABLE ${quote(table)}`);
}

/** Returns the name for the words table of a table that is set aside. No collection has such a name. */
export function formatAsideWords(table: string): string {
  return `${table} words`;
}

function formatGoneTable(table: string): string {
  return `_${table}${suffix}`;
}
