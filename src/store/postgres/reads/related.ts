import { valueOfJSON } from "../../../core/exact-numbers.ts";
import { createParameters, type BoundValues } from "../../sql/language/dialect.ts";
import type { NamedRow } from "../../sql/language/script.ts";
import { shownIn } from "../../sql/list.ts";
import { compileRestOfKey, cutArray, KEYS, shortestRecord } from "../../sql/related.ts";
import { requireColumn } from "../../sql/schema/table.ts";
import type { RelatedQuery, RelatedText } from "../../store.ts";
import { postgres, getTable } from "../dialect.ts";
import { prepared, type PostgresStatement } from "../parameters.ts";
import { compileRecord, SHOWN } from "./list.ts";

/** A query without its keys. */
type KeylessQuery = Omit<RelatedQuery, "keys">;

/**
 * The separators between a key and its records, and between two keys with their records. JSON contains these characters
 * only escaped.
 */
const [ofKey, ofKeys] = ["\u001E", "\u001F"] as const;

/**
 * The maximum number of UTF-8 octets for one JavaScript character. PostgreSQL stores the number of octets of a text,
 * but must count its characters, which is slow.
 */
const mostOctets = 3;

/** Returns a statement for one row with the records of the keys, in the form of `selectRelated`. */
export function compileRelated(query: RelatedQuery): PostgresStatement {
  const values = createParameters(postgres);
  const keys = `unnest(${values.place(query.keys)}::${isText(query) ? "text" : "bigint"}[])`;
  return prepared(selectRelated(query, keys, values), values.values);
}

/**
 * Returns the SQL for the JSON of the records of all keys, and their size in octets. Leaves out records beyond the size
 * limit. The result is one row, because a row per key would cost as much as its records. `at` distinguishes several
 * such queries in one statement: their column names end with it.
 */
export function selectRelated(query: KeylessQuery, keys: string, values: BoundValues, at = 0): string {
  const table = getTable(query.collection);
  // One record above the limit shows whether there are more.
  const rest = compileRestOfKey(table, query, values, 1);
  const most = `${values.place(query.maxLength * mostOctets)}::bigint`;
  const between = (separator: string): string => `chr(${separator.charCodeAt(0)})`;
  const key = isText(query) ? "to_json(key)" : "key";
  return (
    `SELECT string_agg(${key} || ${between(ofKey)} || json, ${between(ofKeys)}) FILTER (WHERE total <= ${most}) AS related_${at}, max(total) AS octets_${at} FROM (` +
    `SELECT ${KEYS}.value AS key, json, sum(octet_length(json)) OVER (ROWS UNBOUNDED PRECEDING) AS total ` +
    `FROM ${keys} AS ${KEYS}(value), LATERAL (` +
    `SELECT string_agg(row_to_json(${SHOWN})::text, ',') AS json ` +
    `FROM (SELECT * ${rest}) AS t, LATERAL (SELECT ${compileRecord(table, query.columns)}) AS ${SHOWN}` +
    `) AS page) AS related`
  );
}

/** Reads the row of `selectRelated`. Returns null if the records are too long. */
export function readRelated(row: NamedRow, query: KeylessQuery, at = 0): readonly RelatedText[] | null {
  const { limit, maxLength } = query;
  const { [`related_${at}`]: text, [`octets_${at}`]: octets } = row;
  if (octets === null) return [];
  if ((octets as number) > maxLength * mostOctets) return null;
  const shortest = (limit + 1) * shortestRecord(shownIn(getTable(query.collection), query.columns));
  let length = 0;
  const related = (text as string).split(ofKeys).map((each) => {
    const start = each.indexOf(ofKey);
    const key = each.slice(0, start);
    const found = cutArray(`[${each.slice(start + 1)}]`, limit, shortest);
    length += found.json.length;
    return { key: isText(query) ? (valueOfJSON(key) as string) : Number(key), ...found };
  });
  return length > maxLength ? null : related;
}

function isText({ collection, column }: KeylessQuery): boolean {
  return requireColumn(getTable(collection), column).type === "text";
}
