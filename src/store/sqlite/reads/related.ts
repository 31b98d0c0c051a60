import type { DatabaseSync } from "node:sqlite";
import { createParameters } from "../../sql/language/dialect.ts";
import { namesOfPage, shownIn } from "../../sql/list.ts";
import { compileRestOfKey, cutArray, KEYS, shortestRecord } from "../../sql/related.ts";
import type { Table } from "../../sql/schema/table.ts";
import type { Key, RelatedQuery, RelatedText } from "../../store.ts";
import type { Statements } from "../connection/connection.ts";
import { code, findCode } from "../connection/errors.ts";
import { sqlite } from "../dialect.ts";
import { jsonObject } from "./pages.ts";

/** The separator between the texts of two keys. JSON text contains it only escaped. */
const NEWLINE = "\n";

/** The maximum number of UTF-8 bytes for one UTF-16 code unit. */
const BYTES_OF_CHARACTER = 3;

/** The bytes of each key in addition to its records: its position, brackets and the separator. */
const BESIDE_RECORDS = 16;

/**
 * The smallest limit, in bytes. SQLite's limit also applies to each value that a statement reads, even if the value is
 * not in the result.
 */
const LEAST_BYTES = 4 * 1024 * 1024;

/**
 * Reads the related records of all keys as one text, which costs a tenth less than a row for each key. SQLite stops if
 * the text exceeds a limit, and this function then returns null. In Node 24, a connection has no such limit, so each
 * key is read separately.
 */
export function readRelated(
  {
    table,
    statements,
    database,
  }: { readonly table: Table; readonly statements: Statements; readonly database: DatabaseSync },
  query: RelatedQuery,
): readonly RelatedText[] | null {
  const { keys, limit, maxLength } = query;
  if (keys.length === 0) return [];
  const parameters = createParameters(sqlite);
  const shown = shownIn(table, query.columns);
  const names = namesOfPage(table, shown);
  // One record above the limit shows whether there are more.
  const rest = compileRestOfKey(table, query, parameters, 1);
  const sql =
    `SELECT group_concat(${KEYS}.key || (SELECT json_group_array(${jsonObject(shown)}) FROM (SELECT ${names} ${rest})), char(10)) ` +
    `FROM json_each(?) AS ${KEYS}`;
  const read = (sent: string): string => (statements(sql, () => sql).get(...parameters.values, sent) as [string])[0];
  const shortest = (limit + 1) * shortestRecord(shown);
  const related: RelatedText[] = [];
  let left = maxLength;
  const take = (some: readonly Key[]): boolean => {
    const sent = JSON.stringify(some);
    const bytes = BYTES_OF_CHARACTER * (left + sent.length) + BESIDE_RECORDS * some.length;
    const text = atMost(database, Math.max(bytes, LEAST_BYTES), () => read(sent));
    for (const line of text?.split(NEWLINE) ?? []) {
      const begin = line.indexOf("[");
      const json = line.slice(begin);
      if (json === "[]") continue;
      left -= json.length;
      const key = some[Number(line.slice(0, begin))]!;
      related.push({ key, ...cutArray(json, limit, shortest) });
    }
    return text !== null && left >= 0;
  };
  const batches = findLimits(database) === null ? keys.map((key) => [key]) : [keys];
  return batches.every(take) ? related : null;
}

/**
 * Reads a text of at most this number of bytes. Returns null if the text is longer. SQLite detects this while it builds
 * the text.
 */
function atMost(database: DatabaseSync, bytes: number, read: () => string): string | null {
  const limits = findLimits(database);
  if (limits === null) return read();
  const before = limits.length;
  limits.length = Math.min(bytes, before);
  try {
    return read();
  } catch (error) {
    if (findCode(error) === code.tooLarge) return null;
    throw error;
  } finally {
    limits.length = before;
  }
}

/** Returns the limits of a connection. Returns null in Node 24. */
function findLimits(database: DatabaseSync): { length: number } | null {
  return "limits" in database ? database.limits : null;
}
