import { parametersOf } from "../sql/dialect.ts";
import { compileRestOfKey, KEYS } from "../sql/related.ts";
import { requireColumn } from "../sql/schema/table.ts";
import type { RelatedQuery, RelatedText, Value } from "../store.ts";
import { postgres, tableOf } from "./dialect.ts";
import { recordOf, SHOWN } from "./list.ts";
import { prepared, type Statement } from "./parameters.ts";

/** What stands between records, behind the place of a key, and between keys: JSON has no such characters but escaped. */
const [ofRecords, ofPlace, ofKeys] = ["\u001D", "\u001E", "\u001F"] as const;

/** What a character of JavaScript has in UTF-8 at most. To count octets costs PostgreSQL nothing, to count characters does. */
const mostOctets = 3;

/** One row, since each costs as much as the records of a key: the JSON of the records of all keys, and how many octets they are; without those that would be too many. */
export function compileRelated(query: RelatedQuery): Statement {
  const table = tableOf(query.collection);
  const values = parametersOf(postgres);
  const keys = values.place(query.keys);
  const type = requireColumn(table, query.column).type === "text" ? "text" : "bigint";
  // One more than asked for tells whether there are more.
  const rest = compileRestOfKey(table, query, values, 1);
  const most = `${values.place(query.maxLength * mostOctets)}::bigint`;
  const between = (separator: string): string => `chr(${separator.charCodeAt(0)})`;
  return prepared(
    `SELECT string_agg(at || ${between(ofPlace)} || json, ${between(ofKeys)}) FILTER (WHERE total <= ${most}), max(total) FROM (` +
      `SELECT at, json, sum(octet_length(json)) OVER (ROWS UNBOUNDED PRECEDING) AS total ` +
      `FROM unnest(${keys}::${type}[]) WITH ORDINALITY AS ${KEYS}(value, at), LATERAL (` +
      `SELECT string_agg(row_to_json(${SHOWN})::text, ${between(ofRecords)}) AS json ` +
      `FROM (SELECT * ${rest}) AS t, LATERAL (SELECT ${recordOf(table, query.columns)}) AS ${SHOWN}` +
      `) AS page) AS related`,
    values.values,
  );
}

/** What `compileRelated` gave; null where it was too long. */
export function readRelated(
  [text, octets]: readonly Value[],
  { keys, limit, maxLength }: RelatedQuery,
): readonly RelatedText[] | null {
  if (octets === null) return [];
  if ((octets as number) > maxLength * mostOctets) return null;
  let length = 0;
  const related = (text as string).split(ofKeys).map((each) => {
    const start = each.indexOf(ofPlace);
    const records = each.slice(start + 1).split(ofRecords);
    const json = `[${records.slice(0, limit).join()}]`;
    length += json.length;
    return { key: keys[Number(each.slice(0, start)) - 1]!, json, more: records.length > limit };
  });
  return length > maxLength ? null : related;
}
