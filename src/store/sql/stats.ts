import { internalTables } from "../copy.ts";
import type { Collection, Column } from "../store.ts";
import { quote, formatWordsTable } from "./language/names.ts";
import { ask, statement, type Script } from "./language/script.ts";
import type { SchemaDialect } from "./schema/schema.ts";

/** The size of a database. */
export interface Stats {
  /**
   * The total size in bytes. `freeBytes` is the part of it that is reserved for future writes. `walBytes` is the size
   * of the log, which the total does not include. Both are null if the database does not report them.
   */
  readonly bytes: number;
  readonly freeBytes: number | null;
  readonly walBytes: number | null;
  readonly tables: readonly TableStats[];
}

/** The size of one table. */
export interface TableStats {
  readonly table: string;
  readonly rows: number;
  /** The size in bytes, including the indexes. */
  readonly bytes: number;
  /** True if `rows` or `bytes` is an estimate from a part of the table, because a full scan would take too long. */
  readonly estimated: boolean;
  /** The oldest value of a time column. Null if the table is empty, or if finding this value would need a full scan. */
  readonly oldest: Oldest | null;
}

/** The oldest value of a time column. */
export interface Oldest {
  readonly column: string;
  /** RFC 3339, in UTC. */
  readonly at: string;
}

/** The table of idempotency records, declared as a collection, so that `findOldest` can read its time column. */
const idempotencyTable: readonly Collection[] = internalTables
  .filter(({ name }) => name === "latchkey_idempotency")
  .map(({ name, columns }) => ({ name, key: "text", columns, indexes: [["expires_at"]] }));

/**
 * Returns the tables of a database that belong to the store, by name, each with its declaration. Null for tables that
 * are not collections.
 */
export function ownTables(
  schema: SchemaDialect,
  collections: readonly Collection[],
  names: readonly string[],
): ReadonlyMap<string, Collection | null> {
  const declared = new Map([...collections, ...idempotencyTable].map((each) => [each.name, each]));
  const words = new Set(collections.map((each) => formatWordsTable(schema, each)));
  const isOurs = (name: string): boolean => declared.has(name) || words.has(name) || name.startsWith("latchkey_");
  return new Map(names.filter(isOurs).map((name) => [name, declared.get(name) ?? null]));
}

/** Finds the oldest time of a collection without a full scan. */
export function* findOldest(collection: Collection): Script<Oldest | null> {
  const age = findAgeColumn(collection);
  if (age === null) return null;
  const [name, table] = [quote(age.column.name), quote(collection.name)];
  const [row] = yield* ask(
    statement(
      age.isIndexed
        ? `SELECT ${name} AS oldest FROM ${table} WHERE ${name} IS NOT NULL ORDER BY ${name} LIMIT 1`
        : `SELECT ${name} AS oldest FROM ${table} ORDER BY "id" LIMIT 1`,
    ),
  );
  const at = row === undefined ? null : formatTime(row["oldest"]);
  return at === null ? null : { column: age.column.name, at };
}

/**
 * A time column whose oldest value can be found without a full scan: by an index, or in the row with the lowest key.
 */
interface Age {
  readonly column: Column;
  readonly isIndexed: boolean;
}

/** Returns a time column whose oldest value can be found without a full scan, or null if there is none. */
function findAgeColumn({ key, columns, indexes = [] }: Collection): Age | null {
  const times = columns.filter(isTime);
  const indexed = times.find(({ name }) => indexes.some(([first]) => first === name));
  if (indexed !== undefined) return { column: indexed, isIndexed: true };
  const made = times.find(({ nullable }) => nullable !== true);
  return key === "integer" && made !== undefined ? { column: made, isIndexed: false } : null;
}

/**
 * True if a column contains times. The store's own tables also have times in milliseconds, in integer columns named
 * `at` or `…_at`.
 */
function isTime({ type, name }: Column): boolean {
  return type === "date-time" || (type === "integer" && (name === "at" || name.endsWith("_at")));
}

/** The smallest whole number that counts as a time in milliseconds (1973). */
const firstMs = 1e11;

/** Formats a time. Returns null if the value is not a time. */
function formatTime(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "number" && value >= firstMs && value < 8.64e15 ? new Date(value).toISOString() : null;
}
