import { parametersOf } from "../sql/dialect.ts";
import { compileRestOfKey, KEYS } from "../sql/related.ts";
import { requireColumn } from "../sql/schema/table.ts";
import type { Key, RelatedQuery, RelatedText, Value } from "../store.ts";
import { postgres, tableOf } from "./dialect.ts";
import { recordOf, SHOWN } from "./list.ts";
import { prepared, type Statement } from "./parameters.ts";

/** One row for each key that has any: the JSON of its records, whether there are more, and null in place of them all where they are too long. */
export function compileRelated(query: RelatedQuery): Statement {
  const table = tableOf(query.collection);
  const values = parametersOf(postgres);
  const keys = values.place(query.keys);
  const type = requireColumn(table, query.column).type === "text" ? "text" : "bigint";
  const rest = compileRestOfKey(table, query, values, 1);
  const limit = `${values.place(query.limit)}::integer`;
  return prepared(
    `SELECT key, CASE WHEN total <= ${values.place(query.maxLength)}::bigint THEN '[' || json || ']' END, more FROM (` +
      `SELECT ${KEYS}.value AS key, json, found > ${limit} AS more, sum(length(json)) OVER (ORDER BY at) AS total ` +
      `FROM unnest(${keys}::${type}[]) WITH ORDINALITY AS ${KEYS}(value, at), LATERAL (` +
      `SELECT array_to_string((array_agg(record))[1:${limit}], ',') AS json, count(*) AS found FROM (` +
      `SELECT row_to_json(${SHOWN})::text AS record FROM (SELECT * ${rest}) AS t, LATERAL (SELECT ${recordOf(table, query.columns)}) AS ${SHOWN}` +
      `) AS rows) AS page WHERE found > 0) AS related`,
    values.values,
  );
}

/** What `compileRelated` gave; null where it was too long. */
export function readRelated(rows: readonly (readonly Value[])[]): readonly RelatedText[] | null {
  const related: RelatedText[] = [];
  for (const [key, json, more] of rows) {
    if (json === null) return null;
    related.push({ key: key as Key, json: json as string, more: more as boolean });
  }
  return related;
}
