import type { Table } from "../../sql/schema/table.ts";
import type { Statements } from "../connection/connection.ts";

/** Tables with at most this many rows are counted. Counting them takes at most a tenth of a millisecond. */
const mostCounted = 10_000;

/**
 * The number of sampled keys. If one sampled key in twenty exists, three of four estimates are wrong by less than a
 * tenth.
 */
const samples = 2000;

/** Steps of the golden ratio spread the samples evenly, and they match no regular pattern of keys. */
const golden = (Math.sqrt(5) - 1) / 2;

/**
 * Returns the number of rows in a table. For a large table, estimates it: samples keys between the first and the last,
 * and counts the keys that exist. Returns null if the keys are not integers, or if too few of them exist.
 */
export function estimateRows({ name, collection }: Table, statements: Statements): number | null {
  const few = statements("few", () => `SELECT count(*) FROM (SELECT 1 FROM ${name} LIMIT ${mostCounted + 1})`);
  const counted = few.get()![0] as number;
  if (counted <= mostCounted) return counted;
  if (collection.key !== "integer") return null;
  const ends = statements("ends", () => `SELECT (SELECT min("id") FROM ${name}), (SELECT max("id") FROM ${name})`);
  const [first, last] = ends.get() as [number, number];
  const span = last - first + 1;
  const keys = Array.from({ length: samples }, (_, at) => first + Math.floor(span * ((at * golden) % 1)));
  const there = statements(
    "there",
    () => `SELECT count(*) FROM json_each(?) AS sample WHERE EXISTS (SELECT 1 FROM ${name} WHERE "id" = sample.value)`,
  );
  const found = there.get(JSON.stringify(keys))![0] as number;
  // If less than a twentieth of the keys exist, the estimate is not useful.
  return found < samples / 20 ? null : Math.round((span * found) / samples);
}
