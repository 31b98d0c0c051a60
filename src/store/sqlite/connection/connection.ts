import { closeSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Cell } from "../../sql/language/dialect.ts";
import { play, type NamedRow, type Rows, type Script, type ScriptStep } from "../../sql/language/script.ts";
import { unavailable } from "./errors.ts";
import { addFunctions } from "./functions.ts";
import { DatabaseSync } from "./node-sqlite.ts";

/** A prepared statement. Its rows are arrays, which cost half as much as objects. */
export interface PreparedStatement {
  get(...parameters: readonly Cell[]): Cell[] | undefined;
  all(...parameters: readonly Cell[]): Cell[][];
  iterate(...parameters: readonly Cell[]): Iterable<Cell[]>;
  run(...parameters: readonly Cell[]): { readonly changes: number | bigint };
}

/** The default time that a write waits for another process to finish writing, in milliseconds. */
export const BUSY_TIMEOUT_MS = 5000;
/** The longest wait of a read for a lock, in milliseconds. In WAL mode, reads almost never wait. */
const readTimeoutMs = 1000;

/**
 * Opens a connection that writes. A commit is on the disk before it is acknowledged (`synchronous = FULL`). With the
 * defaults of WAL mode, a power failure could lose it.
 */
export function connect(path: string, busyMs = BUSY_TIMEOUT_MS): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyMs, returnArrays: true });
  // Cuts a log that has grown under load back to 64 MiB.
  database.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864");
  // New rows change random pages in indexes of emails and names. With a cache of 16 MiB, they cost a tenth less than
  // with SQLite's default of 2 MiB.
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

/** Runs a script over a connection, and returns its result. */
export function playOn<T>(database: DatabaseSync, script: Script<T>): T {
  return play(script, sendTo(database));
}

/** A prepared statement whose rows have named columns. */
export interface NamedStatement {
  all(...parameters: readonly Cell[]): readonly NamedRow[];
}

function prepareNamed(database: DatabaseSync, sql: string): NamedStatement {
  const statement = database.prepare(sql);
  statement.setReturnArrays(false);
  return statement as unknown as NamedStatement;
}

/** Prepares a statement of a connection that returns rows as arrays. */
export function prepare(database: DatabaseSync, sql: string): PreparedStatement {
  // The connection returns arrays, which the types of node:sqlite do not show.
  return database.prepare(sql) as unknown as PreparedStatement;
}

/** The number of pages in the log, and how many of them were moved into the file. */
export type LogSizes = readonly [pages: number, moved: number];

/**
 * Returns a function that reads the sizes of the log from SQLite. Returns null if SQLite is older than 3.51, because
 * there the same statement would run a checkpoint.
 */
export function prepareLogSizes(database: DatabaseSync): (() => LogSizes) | null {
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

/**
 * The maximum number of cached statements. A program has dozens, but callers who combine filters could create
 * thousands.
 */
const limit = 200;

/** Prepared statements by their shape, a text that identifies the statement. Calls `sql` only for a new shape. */
export interface Statements {
  (shape: string, sql: () => string): PreparedStatement;
}

/** Caches prepared statements. Drops the oldest if there are too many. */
export function createStatementCache(database: DatabaseSync): Statements {
  return rememberedBy((sql) => prepare(database, sql));
}

/** Caches prepared statements whose rows have named columns. Drops the oldest if there are too many. */
export function createNamedCache(database: DatabaseSync): (text: string) => NamedStatement {
  const statements = rememberedBy((sql) => prepareNamed(database, sql));
  return (text) => statements(text, () => text);
}

function rememberedBy<Prepared>(make: (sql: string) => Prepared): (shape: string, sql: () => string) => Prepared {
  const cache = new Map<string, Prepared>();
  // The next statement is usually the same, and comparing two texts costs less than a lookup.
  let lastShape = "";
  let last: Prepared | null = null;
  return (shape, sql) => {
    if (last !== null && lastShape === shape) return last;
    let statement = cache.get(shape);
    if (statement === undefined) {
      statement = make(sql());
      if (cache.size >= limit) cache.delete(cache.keys().next().value!);
      cache.set(shape, statement);
    }
    lastShape = shape;
    last = statement;
    return statement;
  };
}

/**
 * Returns a function that runs one step of a script and returns its rows. Consecutive steps with the same text share
 * one prepared statement.
 */
export function sendTo(database: DatabaseSync): (step: ScriptStep) => Rows {
  let last: {
    readonly text: string;
    readonly isNamed: boolean;
    readonly prepared: PreparedStatement | NamedStatement;
  } | null = null;
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

/** Creates the file if it does not exist, readable only by its owner. SQLite gives its log the same permissions. */
export function createFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
    // A new name is safely on the disk only after its directory is synced. Windows cannot open a directory.
    if (process.platform === "win32") return;
    const directory = openSync(dirname(path), "r");
    fsyncSync(directory);
    closeSync(directory);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
    throw unavailable(error);
  }
}
