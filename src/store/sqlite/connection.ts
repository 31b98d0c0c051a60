import { closeSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Cell } from "../sql/dialect.ts";
import { play, type NamedRow, type Rows, type Script, type Step } from "../sql/schema/script.ts";
import { unavailable } from "./errors.ts";
import { addFunctions } from "./existing/functions.ts";
import { DatabaseSync } from "./node-sqlite.ts";

/** A prepared statement. Rows are arrays: half the price of objects. */
export interface Statement {
  get(...parameters: readonly Cell[]): Cell[] | undefined;
  all(...parameters: readonly Cell[]): Cell[][];
  iterate(...parameters: readonly Cell[]): Iterable<Cell[]>;
  run(...parameters: readonly Cell[]): { readonly changes: number | bigint };
}

/** How long a write waits for another process that is writing where nobody says it, in milliseconds. */
export const BUSY_TIMEOUT_MS = 5000;
/** How long a read waits, in milliseconds. In WAL mode it hardly ever has to. */
const readTimeoutMs = 1000;

/** Opens a connection that writes. An acknowledged commit is on the disk: WAL alone would lose it when the power goes. */
export function connect(path: string, busyMs = BUSY_TIMEOUT_MS): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyMs, returnArrays: true });
  // A log that has grown in a rush is cut back to 64 MiB.
  database.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864");
  // Each new row goes anywhere into indexes of e-mails and names: with 16 MiB of pages at hand it costs a tenth less than with SQLite's 2.
  database.exec("PRAGMA cache_size = -16384");
  addFunctions(database);
  return database;
}

/** Opens a connection that only reads. */
export function connectReadOnly(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, timeout: readTimeoutMs, returnArrays: true });
  addFunctions(database);
  return database;
}

/** Plays a script over a connection. */
export function playOn<T>(database: DatabaseSync, script: Script<T>): T {
  return play(script, sendTo(database));
}

/** A prepared statement whose rows come by the names of their columns. */
export interface NamedStatement {
  all(...parameters: readonly Cell[]): readonly NamedRow[];
}

function prepareNamed(database: DatabaseSync, sql: string): NamedStatement {
  const statement = database.prepare(sql);
  statement.setReturnArrays(false);
  return statement as unknown as NamedStatement;
}

/** Prepares a statement of a connection made here. */
export function prepare(database: DatabaseSync, sql: string): Statement {
  // The connection returns arrays, which the types of node:sqlite cannot know.
  return database.prepare(sql) as unknown as Statement;
}

/** How many pages the log has, and how many of them were moved into the file. */
export type LogSizes = readonly [pages: number, moved: number];

/** What SQLite itself says of that; null where it is too old to say it: before 3.51 it takes the question for a checkpoint. */
export function logSizesOf(database: DatabaseSync): (() => LogSizes) | null {
  if (!isFrom(process.versions["sqlite"] ?? "", [3, 51])) return null;
  const sizes = prepare(database, "PRAGMA wal_checkpoint(NOOP)");
  return () => {
    const [, pages, moved] = sizes.get() as [number, number, number];
    return [pages, moved];
  };
}

function isFrom(version: string, [major, minor]: readonly [number, number]): boolean {
  const [itsMajor = 0, itsMinor = 0] = version.split(".").map(Number);
  return itsMajor > major || (itsMajor === major && itsMinor >= minor);
}

/** How many shapes are remembered. Programs have dozens; callers who combine filters could make thousands. */
const limit = 200;

/** Prepared statements by their shape. `sql` is asked for only where the shape is new. */
export interface Statements {
  (shape: string, sql: () => string): Statement;
}

/** Remembers prepared statements; the oldest goes when there are too many. */
export function statementsOf(database: DatabaseSync): Statements {
  return rememberedBy((sql) => prepare(database, sql));
}

/** The same for statements whose rows come by name. */
export function namedStatementsOf(database: DatabaseSync): (text: string) => NamedStatement {
  const statements = rememberedBy((sql) => prepareNamed(database, sql));
  return (text) => statements(text, () => text);
}

function rememberedBy<Prepared>(make: (sql: string) => Prepared): (shape: string, sql: () => string) => Prepared {
  const known = new Map<string, Prepared>();
  // Mostly the same is asked again, and to look up a text that was just put together costs more than to compare it.
  let lastShape = "";
  let last: Prepared | null = null;
  return (shape, sql) => {
    if (last !== null && lastShape === shape) return last;
    let statement = known.get(shape);
    if (statement === undefined) {
      statement = make(sql());
      if (known.size >= limit) known.delete(known.keys().next().value!);
      known.set(shape, statement);
    }
    lastShape = shape;
    last = statement;
    return statement;
  };
}

/** Answers the steps of scripts at once. Of many rows each has the same statement. */
export function sendTo(database: DatabaseSync): (step: Step) => Rows {
  let last: { readonly text: string; readonly isNamed: boolean; readonly prepared: Statement | NamedStatement } | null =
    null;
  return (step) => {
    if ("run" in step) {
      database.exec(step.run);
      return [];
    }
    const isNamed = !("cells" in step);
    const { text, values } = isNamed ? step : step.cells;
    if (last?.text !== text || last.isNamed !== isNamed)
      last = { text, isNamed, prepared: (isNamed ? prepareNamed : prepare)(database, text) };
    return last.prepared.all(...values);
  };
}

/** Makes the file where there is none, readable by its owner alone. SQLite gives its log the same rights. */
export function createFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
    // A new name is on the disk only when its directory is; Windows opens none.
    if (process.platform === "win32") return;
    const directory = openSync(dirname(path), "r");
    fsyncSync(directory);
    closeSync(directory);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
    throw unavailable(error);
  }
}
