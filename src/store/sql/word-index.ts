import { splitWords, WORDS_VERSION } from "../../core/words/words.ts";
import { findTextAfterPrefix } from "../prefix.ts";
import type { Where } from "../rows.ts";
import { firstIndexingMs, isSearched } from "../searched.ts";
import type { Collection, WordCounts } from "../store.ts";
import { wordsAsCell } from "./language/codec.ts";
import { reading, type Cell, type Dialect, type BoundValues, type ReadStatement } from "./language/dialect.ts";
import { quote, formatWordsColumn, formatWordsTable } from "./language/names.ts";
import { ask, orUndone, run, statement, type Script } from "./language/script.ts";
import { defineColumn } from "./schema/definition.ts";
import type { SchemaDialect } from "./schema/schema.ts";
import type { Table, TableColumn } from "./schema/table.ts";

/*
 * The words of a collection's rows are in a separate table, `(word, id)`. If a program changes or deletes a row, a
 * trigger deletes the row's words and adds its id under PENDING. The pending rows are indexed soon after, many at a
 * time, so the write itself costs almost nothing more. Until then, they are scanned.
 *
 * Words from another version of `splitWords` are made again in the same way, under separate marks, which a process with
 * an older version ignores. Until then, rows are found by their old words.
 */

/**
 * Marks rows whose words are not in the table yet. No word is empty, because words have only letters and digits.
 * `TAKEN` marks how far the rows that are older than the table have been read.
 */
export const PENDING = "''";
const TAKEN = "'>'";
/** Marks the version of the words that are in the table, or that are being made again. It is not a word either. */
const CURRENT = `'=${WORDS_VERSION}'`;

/** The marks of rows whose words must be indexed, and of the progress through the older rows. */
interface Marks {
  readonly pending: string;
  readonly taken: string;
}

const added: Marks = { pending: PENDING, taken: TAKEN };
const renewed: Marks = { pending: `'<${WORDS_VERSION}'`, taken: `'>${WORDS_VERSION}'` };

/**
 * The number of rows that are indexed at a time, and the approximate limit for the number of their words. Writers wait
 * while a portion is indexed.
 */
const portion = 250;
const portionWords = 2000;

/** The prefix of the trigger names. */
export const triggerPrefix = "words of ";

/** Returns the condition for rows with a word that begins with `word`, in all searched columns or in some of them. */
export function compileWord(
  table: Table,
  { word, few, columns }: Extract<Where, { readonly word: string }>,
  values: BoundValues,
): string {
  const { dialect, id, wordsTable } = table;
  const candidates =
    few === true
      ? `SELECT "id" FROM ${wordsTable} WHERE ${begins(word, values)} UNION ALL SELECT "id" FROM ${wordsTable} WHERE "word" = ${PENDING}`
      : null;
  const among = candidates === null ? "" : `${dialect.isAmong(id.sql, candidates)} AND `;
  const searched = searchedIn(table).filter(({ name }) => columns === undefined || columns.includes(name));
  const found = searched.map(({ words }) => dialect.contains(words!, values.place(`"${word}`)));
  return `(${among}(${found.join(" OR ")}))`;
}

/**
 * Counts the rows with each word and the rows that are not indexed yet, each up to a limit. Returns null while the word
 * index is incomplete.
 */
export function readWordCounts(
  { dialect, wordsTable }: Table,
  words: readonly string[],
  atMost: number,
): ReadStatement<WordCounts | null> {
  // `ORDER BY` makes the database use the index. Otherwise PostgreSQL would scan the table for a common word, and the
  // rows with this word may all be at the end.
  const count = (where: string): string =>
    `(SELECT count(*) FROM (SELECT 1 FROM ${wordsTable} WHERE ${where} ORDER BY "word", "id" LIMIT ${Math.trunc(atMost) + 1}) AS t)`;
  const write = (values: BoundValues): string => {
    const counts = words.map((word, at) => `${count(begins(word, values))} AS rows_${at}`);
    const own = [`${count(`"word" = ${TAKEN}`)} AS taken`, `${count(`"word" = ${PENDING}`)} AS waiting`];
    return `SELECT ${[...own, ...counts].join(", ")}`;
  };
  return reading(dialect, write, ([found]) => {
    const counted = (name: string): number => found![name] as number;
    const rows = words.map((_, at) => counted(`rows_${at}`));
    return counted("taken") === 0 ? { rows, waiting: counted("waiting") } : null;
  });
}

/**
 * Makes the words table and its triggers if they differ from the declaration. Removes them if the collection no longer
 * has a searched column.
 */
export function* fitWords(schema: SchemaDialect, collection: Collection): Script<void> {
  const wanted = schema.watchWords(collection);
  const found = yield* ask(schema.findTriggers(collection.name));
  const there = new Set(found.map(({ name }) => name as string).filter((name) => name.startsWith(triggerPrefix)));
  if (there.size === wanted.size && [...wanted.keys()].every((name) => there.has(name))) return;
  for (const name of there) yield* run(schema.dropTrigger(collection, name));
  const words = quote(formatWordsTable(schema, collection));
  const table = quote(collection.name);
  yield* run(`DROP TABLE IF EXISTS ${words}`);
  if (wanted.size === 0) return;
  const columns = [
    defineColumn(schema, { name: "word", type: "text" }),
    defineColumn(schema, { name: "id", type: collection.key }),
  ];
  const { options } = schema.defineKey({ ...collection, key: "text" });
  yield* run(`CREATE TABLE ${words} (${columns.join(", ")}, PRIMARY KEY ("word", "id"))${options}`);
  for (const sql of wanted.values()) yield* run(sql);
  const first = compileLeastKey(collection);
  yield* run(`INSERT INTO ${words} VALUES (${CURRENT}, ${first})`);
  yield* run(`INSERT INTO ${words} SELECT ${TAKEN}, ${first} WHERE EXISTS (SELECT 1 FROM ${table})`);
}

/** Returns SQL for a value that sorts before all keys. */
function compileLeastKey({ key }: Collection): string {
  return key === "integer" ? "0" : "''";
}

/** Indexes the words of some rows of each table. Returns false if no row was left. Rolls back a portion that fails. */
export function* takeSomeWords(schema: SchemaDialect, tables: readonly Table[]): Script<boolean> {
  let hasTaken = false;
  for (const table of tables) hasTaken = (yield* orUndone(takeWords(schema, table))) || hasTaken;
  return hasTaken;
}

/**
 * Indexes words at startup, for a limited time. The rest is done in the background. A full disk is no error here,
 * because the service must be able to start for reading.
 */
export function* takeFirstWords(schema: SchemaDialect, tables: readonly Table[]): Script<void> {
  const due = performance.now() + firstIndexingMs;
  try {
    while (performance.now() < due && (yield* takeSomeWords(schema, tables)));
  } catch {
    // Later writes try again. Until then, lists scan these rows.
  }
}

function* takeWords(schema: SchemaDialect, table: Table): Script<boolean> {
  const { wordsTable } = table;
  const has = (name: string, ...marks: readonly string[]): string =>
    `(SELECT count(*) FROM (SELECT 1 FROM ${wordsTable} WHERE "word" IN (${marks.join(", ")}) LIMIT 1) AS t) AS ${name}`;
  const countColumns = [
    has("is_current", CURRENT),
    has("has_added", added.pending, added.taken),
    has("has_anew", renewed.pending, renewed.taken),
  ];
  const [found] = yield* ask(statement(`SELECT ${countColumns.join(", ")}`));
  const isSet = (name: string): boolean => found![name] === 1;
  const [isCurrent, hasAdded, hasRebuilt] = [isSet("is_current"), isSet("has_added"), isSet("has_anew")];
  if (isCurrent && !hasAdded && !hasRebuilt) return false;
  yield* run(schema.beginPortion);
  if (!isCurrent) yield* beginRenewal(table);
  const hasTaken =
    !isCurrent ||
    (hasAdded && (yield* takeMarked(schema, table, added))) ||
    (hasRebuilt && (yield* takeMarked(schema, table, renewed)));
  yield* run("COMMIT");
  return hasTaken;
}

function* takeMarked(schema: SchemaDialect, table: Table, marks: Marks): Script<boolean> {
  const hasTaken = (yield* takePending(schema, table, marks)) || (yield* takeMore(schema, table, marks));
  if (!hasTaken) yield* deleteStaleMarks(table, marks);
  return hasTaken;
}

/** Records that the words of all rows must be made again with the rule of this version. */
function* beginRenewal({ collection, name, wordsTable }: Table): Script<void> {
  const first = compileLeastKey(collection);
  yield* run(`INSERT INTO ${wordsTable} VALUES (${CURRENT}, ${first}) ON CONFLICT DO NOTHING`);
  yield* run(
    `INSERT INTO ${wordsTable} SELECT ${renewed.taken}, ${first} WHERE EXISTS (SELECT 1 FROM ${name}) ON CONFLICT DO NOTHING`,
  );
}

function* takePending(schema: SchemaDialect, table: Table, { pending }: Marks): Script<boolean> {
  const { name, wordsTable } = table;
  const searched = searchedIn(table);
  const read = searched
    .map(({ sql, words }, at) => `${name}.${sql} AS text_${at}, ${name}.${words!} AS words_${at}`)
    .join(", ");
  const rows = yield* ask(
    statement(
      `SELECT ${name}."id" AS id, ${read} FROM ${wordsTable} AS pending JOIN ${name} ON ${name}."id" = pending."id" ` +
        `WHERE pending."word" = ${pending} LIMIT ${portion}${schema.skipLocked(name)}`,
    ),
  );
  const changed: Cell[][] = [];
  const found: [word: string, id: Cell][] = [];
  const taken: [id: Cell][] = [];
  for (const row of rows) {
    if (found.length >= portionWords) break;
    const id = row["id"] as Cell;
    const words = searched.map((_, at) => splitWords(String(row[`text_${at}`] ?? "")));
    const wordCells = words.map(wordsAsCell);
    if (wordCells.some((each, at) => each !== row[`words_${at}`])) changed.push([id, ...wordCells]);
    for (const word of new Set(words.flat())) found.push([word, id]);
    taken.push([id]);
  }
  if (taken.length === 0) return false;
  const key = schema.compileStorage(table.id);
  const send = (sql: string, page: readonly unknown[]): Script<unknown> => ask(statement(sql, [JSON.stringify(page)]));
  const page = schema.elements(schema.place(1));
  // This update comes first, because its trigger deletes the old words.
  if (changed.length > 0) yield* send(updateFrom(table, key, page), changed);
  // Adjacent entries are written together.
  found.sort(([one], [other]) => (one < other ? -1 : 1));
  yield* send(
    `INSERT INTO ${wordsTable} SELECT value->>0, CAST(value->>1 AS ${key}) FROM ${page} WHERE TRUE ON CONFLICT DO NOTHING`,
    found,
  );
  yield* send(
    `DELETE FROM ${wordsTable} WHERE "word" IN (${PENDING}, ${renewed.pending}) AND "id" IN (SELECT CAST(value->>0 AS ${key}) FROM ${page})`,
    taken,
  );
  return true;
}

/**
 * Deletes the marks of rows that no longer exist. If a transaction marks a row while another transaction deletes the
 * row, the trigger of the deletion does not see the mark.
 */
function* deleteStaleMarks({ name, wordsTable }: Table, { pending }: Marks): Script<void> {
  const isGone = `NOT EXISTS (SELECT 1 FROM ${name} WHERE ${name}."id" = pending."id")`;
  yield* run(`DELETE FROM ${wordsTable} AS pending WHERE pending."word" = ${pending} AND ${isGone}`);
}

/** Returns SQL that stores the words in the rows of a table. `page` is SQL for the rows and their words. */
function updateFrom(table: Table, key: string, page: string): string {
  const { name } = table;
  const searched = searchedIn(table);
  const columns = searched.map((_, at) => `value->>${at + 1} AS c${at}`).join(", ");
  const set = searched.map(({ words }, at) => `${words!} = page.c${at}`).join(", ");
  return (
    `UPDATE ${name} SET ${set} FROM (SELECT CAST(value->>0 AS ${key}) AS key, ${columns} FROM ${page}) AS page ` +
    `WHERE ${name}."id" = page.key`
  );
}

/** Marks the next rows that are older than the words table. */
function* takeMore(
  schema: SchemaDialect,
  { name, wordsTable }: Table,
  { pending, taken: mark }: Marks,
): Script<boolean> {
  const [taken] = yield* ask(
    statement(`SELECT "id" FROM ${wordsTable} WHERE "word" = ${mark}${schema.skipLocked(wordsTable)}`),
  );
  if (taken === undefined) return false;
  const from = taken["id"] as Cell;
  const [first, second] = [schema.place(1), schema.place(2)];
  const [row] = yield* ask(
    statement(
      `SELECT max("id") AS last FROM (SELECT "id" FROM ${name} WHERE "id" > ${first} ORDER BY "id" LIMIT ${portion}) AS t`,
      [from],
    ),
  );
  const to = row!["last"] as Cell;
  if (to === null) {
    yield* ask(statement(`DELETE FROM ${wordsTable} WHERE "word" = ${mark}`));
    return false;
  }
  yield* ask(
    statement(
      `INSERT INTO ${wordsTable} SELECT ${pending}, "id" FROM ${name} WHERE "id" > ${first} AND "id" <= ${second} ON CONFLICT DO NOTHING`,
      [from, to],
    ),
  );
  yield* ask(statement(`UPDATE ${wordsTable} SET "id" = ${first} WHERE "word" = ${mark}`, [to]));
  return true;
}

/**
 * Returns the searched columns and their words columns. A change of one of these columns changes the words of its row.
 */
export function watchedColumns(dialect: Dialect, { columns }: Collection): readonly string[] {
  return columns.filter(isSearched).flatMap((column) => [column.name, formatWordsColumn(dialect, column)].map(quote));
}

function searchedIn({ columns, collection }: Table): readonly TableColumn[] {
  const searched = [...columns.values()].filter(isSearched);
  if (searched.length > 0) return searched;
  throw new TypeError(`Collection ${collection.name} has no searchable column`);
}

function begins(word: string, values: BoundValues): string {
  const end = findTextAfterPrefix(word);
  const start = `"word" >= ${values.place(word)}`;
  return end === null ? start : `${start} AND "word" < ${values.place(end)}`;
}
