import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { quote } from "../../sql/names.ts";
import { ask, run, statement, type Script } from "../../sql/schema/script.ts";
import type { Collection } from "../../store.ts";
import { playOn, prepare } from "../connection.ts";
import { requireRoom } from "./room.ts";
import { firstPortion, inTransaction, nextPortion } from "./turns.ts";

// To drop a table is to look at all its pages while nobody writes. What is of no use any more is set aside under another name, in a moment,
// and removed some rows at a time. Whoever finds it later goes on with that.

/** Behind the names of tables whose rows are to be removed. */
const suffix = "_gone";

/** How the names of the triggers begin that keep them out of everybody's way. */
export const remainsPrefix = "left in ";

/** The tables that were set aside, and that nobody has removed yet: of these collections, or of all. */
export function* findRemains(collections?: readonly Pick<Collection, "name">[]): Script<readonly string[]> {
  const names =
    collections?.map(({ name }) => name) ??
    (yield* ask(statement("SELECT collection FROM latchkey_schema"))).map(({ collection }) => String(collection));
  const called = new Set(names.flatMap((name) => [goneOf(name), goneOf(wordsAsideOf(name))]));
  const found = yield* ask(statement("SELECT name FROM sqlite_schema WHERE type = 'table'"));
  return found.map(({ name }) => String(name)).filter((name) => called.has(name));
}

/** Removes those of some collections at once, before their tables are changed: nothing else has the names that are wanted then. */
export function* dropRemains(collections: readonly Pick<Collection, "name">[]): Script<void> {
  for (const table of yield* findRemains(collections)) yield* dropTable(table);
}

/** Takes a table out of sight, where it is there. `of` is the name that it had or was to have. */
export function setAside(database: DatabaseSync, table: string, of = table): void {
  const there = prepare(database, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table);
  if (there === undefined) return;
  const triggers = prepare(database, "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?").all(
    table,
  );
  for (const [trigger] of triggers) database.exec(`DROP TRIGGER ${quote(trigger as string)}`);
  database.exec(`ALTER TABLE ${quote(table)} RENAME TO ${quote(goneOf(of))}`);
}

/** Rows that nobody sees any more must keep no other from being deleted: they go before it. The tables that they refer to have their names by now. */
export function letGo(database: DatabaseSync, of: string): void {
  const gone = goneOf(of);
  const references = prepare(
    database,
    `SELECT "from", "table" FROM pragma_foreign_key_list(?) WHERE "table" IN (SELECT name FROM sqlite_schema WHERE type = 'table')`,
  ).all(gone) as [string, string][];
  for (const [at, [column, target]] of references.entries())
    database.exec(
      `CREATE TRIGGER ${quote(`${remainsPrefix}${gone} ${at}`)} BEFORE DELETE ON ${quote(target)} BEGIN ` +
        `DELETE FROM ${quote(gone)} WHERE ${quote(column)} = OLD."id"; END`,
    );
}

/** Drops the triggers whose names begin so, of all tables. */
export function* dropTriggers(beginning: string): Script<void> {
  const found = yield* ask(statement("SELECT name FROM sqlite_schema WHERE type = 'trigger'"));
  for (const name of found.map((trigger) => String(trigger["name"])))
    if (name.startsWith(beginning)) yield* run(`DROP TRIGGER ${quote(name)}`);
}

/**
 * Removes what was set aside, some milliseconds at a time, while anybody writes. Broken off, the next one goes on. `tell` is told how many rows
 * are gone.
 */
export async function removeRemains(
  database: DatabaseSync,
  tables: readonly string[],
  tell: (done: number, total: number) => void = () => undefined,
): Promise<void> {
  const total = tables.reduce((sum, table) => sum + countRows(database, table), 0);
  let gone = 0;
  for (const table of tables) {
    for (const index of uselessIndexes(database, table))
      await removing(database, () => database.exec(`DROP INDEX IF EXISTS ${quote(index)}`));
    let portion = firstPortion;
    for (let isThere = true; isThere;) {
      const rows = portion;
      const took = await removing(database, () => {
        isThere = removeSome(database, table, rows);
      });
      portion = nextPortion(rows, took);
      gone += rows;
      tell(Math.min(gone, total), total);
    }
  }
}

/** Removes something while nobody else writes. Gives how long that took, in milliseconds, and lets the others have as long. */
async function removing(database: DatabaseSync, task: () => void): Promise<number> {
  const took = await inTransaction(database, () => {
    requireRoom(database);
    const start = performance.now();
    task();
    return performance.now() - start;
  });
  // The log is brought into the file here, and not by whoever happens to write next.
  database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  await sleep(took);
  return took;
}

function countRows(database: DatabaseSync, table: string): number {
  return prepare(database, `SELECT count(*) FROM ${quote(table)}`).get()![0] as number;
}

/**
 * The indexes that nobody needs to delete rows by. The entries of a few rows are anywhere in them, each on a page that is written for its sake:
 * with three of them a row takes a hundred times as long. To drop one as a whole takes some milliseconds. Those stay that begin with a
 * reference: whoever deletes what it refers to looks there.
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

/** Removes so many rows, or the table where it has no more than these. Tells whether it is there yet. */
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
  yield* dropTriggers(`${remainsPrefix}${table} `);
  yield* run(`DROP TABLE ${quote(table)}`);
}

/** What stands for the words of a table where it is set aside. No collection has such a name. */
export function wordsAsideOf(table: string): string {
  return `${table} words`;
}

function goneOf(table: string): string {
  return `_${table}${suffix}`;
}
