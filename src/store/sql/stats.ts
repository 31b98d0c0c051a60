import { keptBeside } from "../copy.ts";
import type { Collection, Column } from "../store.ts";
import { quote, wordsTableOf } from "./names.ts";
import type { Schema } from "./schema/schema.ts";
import { ask, statement, type Script } from "./schema/script.ts";

/** How much a database holds. */
export interface Stats {
  /** All of it, in bytes; `freeBytes` of them are kept for what is written next, and `walBytes` stand in the log besides. Null where the database does not tell. */
  readonly bytes: number;
  readonly freeBytes: number | null;
  readonly walBytes: number | null;
  readonly tables: readonly TableStats[];
}

/** How much one table holds. */
export interface TableStats {
  readonly table: string;
  readonly rows: number;
  /** With its indexes. */
  readonly bytes: number;
  /** True where looking at all of it would have taken too long, so that `rows` or `bytes` were judged by a part. */
  readonly estimated: boolean;
  /** Its oldest time; null where no index knows it, and where there is no row. */
  readonly oldest: Oldest | null;
}

/** The oldest value of a column that holds times. */
export interface Oldest {
  readonly column: string;
  /** RFC 3339, in UTC. */
  readonly at: string;
}

/** The repeatable writes, as a collection with an age. */
const beside: readonly Collection[] = keptBeside
  .filter(({ name }) => name === "latchkey_idempotency")
  .map(({ name, columns }) => ({ name, key: "text", columns, indexes: [["expires_at"]] }));

/** The tables of a database that are ours, by name: what each was declared as, and null for what stands beside the collections. */
export function ownTables(
  schema: Schema,
  collections: readonly Collection[],
  names: readonly string[],
): ReadonlyMap<string, Collection | null> {
  const declared = new Map([...collections, ...beside].map((each) => [each.name, each]));
  const words = new Set(collections.map((each) => wordsTableOf(schema, each)));
  const isOurs = (name: string): boolean => declared.has(name) || words.has(name) || name.startsWith("latchkey_");
  return new Map(names.filter(isOurs).map((name) => [name, declared.get(name) ?? null]));
}

/** The oldest time of a collection, by an index. */
export function* findOldest(collection: Collection): Script<Oldest | null> {
  const age = ageOf(collection);
  if (age === null) return null;
  const [name, table] = [quote(age.column.name), quote(collection.name)];
  const [row] = yield* ask(
    statement(
      age.isIndexed
        ? `SELECT ${name} AS oldest FROM ${table} WHERE ${name} IS NOT NULL ORDER BY ${name} LIMIT 1`
        : `SELECT ${name} AS oldest FROM ${table} ORDER BY "id" LIMIT 1`,
    ),
  );
  const at = row === undefined ? null : timeOf(row["oldest"]);
  return at === null ? null : { column: age.column.name, at };
}

/** Where the oldest time of a collection is found without looking at all rows: first in an index, or in the row that was made first. */
interface Age {
  readonly column: Column;
  readonly isIndexed: boolean;
}

/** How a collection tells how old it is; null where it does not. */
function ageOf({ key, columns, indexes = [] }: Collection): Age | null {
  const times = columns.filter(isTime);
  const indexed = times.find(({ name }) => indexes.some(([first]) => first === name));
  if (indexed !== undefined) return { column: indexed, isIndexed: true };
  const made = times.find(({ nullable }) => nullable !== true);
  return key === "integer" && made !== undefined ? { column: made, isIndexed: false } : null;
}

/** Our own tables also keep times as milliseconds, in columns with such names. */
function isTime({ type, name }: Column): boolean {
  return type === "date-time" || (type === "integer" && (name === "at" || name.endsWith("_at")));
}

/** Whole numbers below this are no milliseconds of our days (1973). */
const firstMs = 1e11;

/** A time as it is told; null where the value is none. */
function timeOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "number" && value >= firstMs && value < 8.64e15 ? new Date(value).toISOString() : null;
}
