import type { Table } from "../../sql/schema/table.ts";
import type { Statements } from "../connection.ts";

/** As many rows are counted rather than guessed: a tenth of a millisecond. */
const mostCounted = 10_000;

/** How many keys are looked for. With one of twenty there, three guesses of four are less than a tenth off. */
const samples = 2000;

/** Two that follow each other are far apart, and no pattern of keys keeps step with them. */
const golden = (Math.sqrt(5) - 1) / 2;

/** How many rows a table has, by how many of the keys between the first and the last are there; null where keys are not numbers. */
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
  // Of too few nothing can be told.
  return found < samples / 20 ? null : Math.round((span * found) / samples);
}
