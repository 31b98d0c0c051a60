import type { DatabaseSync } from "node:sqlite";
import { parametersOf } from "../../sql/dialect.ts";
import { namesOfPage, shownIn } from "../../sql/list.ts";
import { compileRestOfKey, cutArray, KEYS, shortestRecord } from "../../sql/related.ts";
import type { Table } from "../../sql/schema/table.ts";
import type { Key, RelatedQuery, RelatedText } from "../../store.ts";
import type { Statements } from "../connection.ts";
import { sqlite } from "../dialect.ts";
import { code, codeOf } from "../errors.ts";
import { jsonObject } from "./pages.ts";

/** Between the texts of two keys: in JSON text it is written otherwise. */
const NEWLINE = "\n";

/** No character has more bytes in UTF-8 than this for each of UTF-16. */
const BYTES_OF_CHARACTER = 3;

/** The place, the brackets and the end of each key, in bytes. */
const BESIDE_RECORDS = 16;

/** The limit is also one of each value that is looked at on the way, shown or not. */
const LEAST_BYTES = 4 * 1024 * 1024;

/**
 * Reads what belongs to each key. All of it comes as one text, a tenth cheaper than a row for each key, and SQLite itself stops where that is too
 * long; Node 24 knows no such limit of a connection, and asks for one key after another.
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
  const parameters = parametersOf(sqlite);
  const shown = shownIn(table, query.columns);
  const names = namesOfPage(table, shown);
  // One more than asked for tells whether there are more.
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
  const portions = limitsOf(database) === null ? keys.map((key) => [key]) : [keys];
  return portions.every(take) ? related : null;
}

/** Reads a text of so many bytes at most; null where it is longer, which SQLite finds while it makes it. */
function atMost(database: DatabaseSync, bytes: number, read: () => string): string | null {
  const limits = limitsOf(database);
  if (limits === null) return read();
  const before = limits.length;
  limits.length = Math.min(bytes, before);
  try {
    return read();
  } catch (error) {
    if (codeOf(error) === code.tooLarge) return null;
    throw error;
  } finally {
    limits.length = before;
  }
}

/** The limits of a connection; null in Node 24. */
function limitsOf(database: DatabaseSync): { length: number } | null {
  return "limits" in database ? database.limits : null;
}
