import { createHash } from "node:crypto";
import { valueOfJSON } from "../../../core/exact-numbers.ts";
import { asData } from "../../declarations.ts";
import { MigrationNeeded, type Key } from "../../store.ts";
import { ask, run, statement, type Script } from "../language/script.ts";
import type { SchemaDialect } from "../schema/schema.ts";
import type { TablePlan } from "./plan-table.ts";

/** One completed step of a migration. */
export interface CompletedStep {
  /** The time of completion: `2026-01-31T09:30:00.000Z`. */
  readonly at: string;
  /** The version of the program that completed the step. */
  readonly program: string;
  /** The name of the table: `books`. */
  readonly table: string;
  readonly words: string;
  /** The number of rows that were written. */
  readonly rows: number;
  readonly ms: number;
}

/** A migration of a table that has started and is not finished. */
export interface Unfinished {
  /**
   * A digest of the declaration and the wanted table. A process that finds another digest starts from the beginning.
   */
  readonly target: string;
  /** The last key of the completed rows. Null before the first row is completed. */
  readonly cursor: Key | null;
  readonly rows: number;
  readonly filled: boolean;
}

/** Creates the tables in which a migration records its work. */
export function* makeJournal(schema: SchemaDialect): Script<void> {
  const integer = schema.compileStorage({ name: "ms", type: "integer" });
  const text = `TEXT${schema.collation} NOT NULL`;
  yield* run(
    `CREATE TABLE IF NOT EXISTS latchkey_migrations (at ${text}, program ${text}, collection ${text}, words ${text}, written ${integer} NOT NULL, ms ${integer} NOT NULL);
     CREATE TABLE IF NOT EXISTS latchkey_unfinished (collection TEXT NOT NULL PRIMARY KEY, target TEXT NOT NULL, reached TEXT NOT NULL, written ${integer} NOT NULL, filled ${integer} NOT NULL)`,
  );
}

/** Returns the migrations of a database, with the latest last. Empty if there were none. */
export function* readHistory(schema: SchemaDialect): Script<readonly CompletedStep[]> {
  if (!(yield* hasJournal(schema))) return [];
  const rows = yield* ask(
    statement("SELECT at, program, collection, words, written, ms FROM latchkey_migrations ORDER BY at"),
  );
  return rows.map((row) => ({
    at: String(row["at"]),
    program: String(row["program"]),
    table: String(row["collection"]),
    words: String(row["words"]),
    rows: Number(row["written"]),
    ms: Number(row["ms"]),
  }));
}

/**
 * Throws `MigrationNeeded` if a newer program has migrated the database, because this program does not know the result.
 */
export function* requireOwnHistory(schema: SchemaDialect, program: string): Script<void> {
  const newer = (yield* readHistory(schema)).find((done) => isNewer(done.program, program));
  if (newer !== undefined)
    throw new MigrationNeeded([
      `The database was migrated by version ${newer.program} on ${newer.at}, but this is version ${program}. Use the newer program.`,
    ]);
}

/** Records a completed migration: one row of the history for each description in `words`. */
export function* writeDone(
  schema: SchemaDialect,
  { program, table, rows, ms }: Omit<CompletedStep, "at" | "words">,
  words: readonly string[],
): Script<void> {
  const at = new Date().toISOString();
  const values = words.flatMap((each) => [at, program, table, each, rows, Math.round(ms)]);
  if (values.length === 0) return;
  const width = values.length / words.length;
  const lines = words.map(
    (_, line) =>
      `(${Array.from({ length: width }, (_, column) => schema.place(line * width + column + 1)).join(", ")})`,
  );
  yield* ask(
    statement(
      `INSERT INTO latchkey_migrations (at, program, collection, words, written, ms) VALUES ${lines.join(", ")}`,
      values,
    ),
  );
}

/** Returns the unfinished migration of a table, or null if there is none. */
export function* readUnfinished(schema: SchemaDialect, table: string): Script<Unfinished | null> {
  if (!(yield* hasJournal(schema))) return null;
  const [row] = yield* ask(
    statement(
      `SELECT target, reached, written, filled FROM latchkey_unfinished WHERE collection = ${schema.place(1)}`,
      [table],
    ),
  );
  if (row === undefined) return null;
  return {
    target: String(row["target"]),
    cursor: valueOfJSON(String(row["reached"])) as Key | null,
    rows: Number(row["written"]),
    filled: Number(row["filled"]) === 1,
  };
}

/** Records the progress of a migration. */
export function* writeUnfinished(schema: SchemaDialect, table: string, work: Unfinished): Script<void> {
  const values = [table, work.target, JSON.stringify(work.cursor), work.rows, work.filled ? 1 : 0];
  const places = values.map((_, at) => schema.place(at + 1)).join(", ");
  yield* ask(
    statement(
      `INSERT INTO latchkey_unfinished (collection, target, reached, written, filled) VALUES (${places}) ` +
        "ON CONFLICT (collection) DO UPDATE SET target = excluded.target, reached = excluded.reached, written = excluded.written, filled = excluded.filled",
      values,
    ),
  );
}

/** Deletes the record of an unfinished migration. */
export function* forgetUnfinished(schema: SchemaDialect, table: string): Script<void> {
  yield* ask(statement(`DELETE FROM latchkey_unfinished WHERE collection = ${schema.place(1)}`, [table]));
}

/**
 * Returns a digest of the wanted table. It includes the source of the functions, the SQL and the values of a
 * declaration.
 */
export function digestTarget({ collection, found }: TablePlan, dropped: readonly string[]): string {
  const targetState = {
    // Names that start with an underscore belong to the store, also the columns of an unfinished migration.
    columns: [...found.columns.keys()].filter((name) => !name.startsWith("_")),
    declared: asData([collection])[0],
    // Older versions did not write new revisions. With this member, their unfinished work has another digest and starts
    // again.
    revisions: true,
    origins: collection.columns.map(({ origin }) => origin),
    dropped,
  };
  const asText = (_: string, value: unknown): unknown => (typeof value === "function" ? String(value) : value);
  return createHash("sha256").update(JSON.stringify(targetState, asText)).digest("hex");
}

function* hasJournal(schema: SchemaDialect): Script<boolean> {
  return (yield* ask(schema.findColumns("latchkey_migrations"))).length > 0;
}

function isNewer(one: string, other: string): boolean {
  const [a, b] = [one, other].map((version) => version.split(/[.-]/).slice(0, 3).map(Number));
  const at = a!.findIndex((number, place) => number !== b![place]);
  return at !== -1 && a![at]! > b![at]!;
}
