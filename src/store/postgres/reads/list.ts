import { valueOfJSON } from "../../../core/exact-numbers.ts";
import { parametersOf, type Parameters } from "../../sql/dialect.ts";
import { compileRest, shownIn } from "../../sql/list.ts";
import { quote } from "../../sql/names.ts";
import type { NamedRow } from "../../sql/schema/script.ts";
import { requireColumn, type Table, type TableColumn } from "../../sql/schema/table.ts";
import type { ListQuery, ListText, Value } from "../../store.ts";
import { postgres, tableOf } from "../dialect.ts";
import { prepared, unprepared, type Statement } from "../parameters.ts";
import { doubleAsJSON } from "./double.ts";

/** The name of a row as it is shown. Nobody may call a column so, of which there would then be two. */
export const SHOWN = `"_shown"`;

/** A page as one row: the JSON of the records, how many rows were found (up to one beyond the limit) and shown, and the sorted values of the first and the last. */
export function compileListJSON(query: ListQuery): Statement {
  const values = parametersOf(postgres);
  const sent = query.long === true ? unprepared : prepared;
  return sent(selectListJSON(query, `(${selectPage(query, values)})`, values), values.values);
}

/** The rows of a page, and one more: it tells whether there are more. */
export function selectPage(query: ListQuery, values: Parameters): string {
  return `SELECT * ${compileRest(tableOf(query.collection), { ...query, limit: query.limit + 1 }, values)}`;
}

/** One row with the page of these rows. */
export function selectListJSON(query: ListQuery, rows: string, values: Parameters): string {
  const table = tableOf(query.collection);
  const limit = `${values.place(query.limit)}::integer`;
  const sorted = query.sort.map(({ column }) => valueOf(requireColumn(table, column)));
  const record = recordOf(table, query.columns);
  const page =
    `SELECT row_to_json(${SHOWN})::text AS record, json_build_array(${sorted.join(", ")})::text AS ends ` +
    `FROM ${rows} AS t, LATERAL (SELECT ${record}) AS ${SHOWN}`;
  if (query.maxLength !== undefined) return selectWithin(page, limit, values.place(query.maxLength));
  return (
    `SELECT array_to_string((array_agg(record))[1:${limit}], ',') AS json, count(*) AS found, least(count(*), ${limit}) AS shown, ` +
    `(array_agg(ends))[1] AS first, (array_agg(ends))[least(count(*), ${limit})] AS last FROM (${page}) AS page`
  );
}

/** The same of a page that may be large. It shows the rows before which there are fewer octets than it may have. */
function selectWithin(page: string, limit: string, maxLength: string): string {
  const within = `row_number() OVER before <= ${limit} AND sum(octet_length(record)) OVER before - octet_length(record) < ${maxLength}::bigint`;
  return (
    `SELECT array_to_string(array_agg(record) FILTER (WHERE within), ',') AS json, count(*) AS found, count(*) FILTER (WHERE within) AS shown, ` +
    `(array_agg(ends))[1] AS first, (array_agg(ends) FILTER (WHERE within))[count(*) FILTER (WHERE within)] AS last ` +
    `FROM (SELECT record, ends, ${within} AS within FROM (${page}) AS page WINDOW before AS (ROWS UNBOUNDED PRECEDING)) AS page`
  );
}

/** Reads the row of `selectListJSON`. */
export function readListJSON(row: NamedRow): ListText {
  const count = row["shown"] as number;
  const more = (row["found"] as number) > count;
  if (count === 0) return { json: "[]", count, more, first: null, last: null };
  const ends = {
    first: valueOfJSON(row["first"] as string) as Value[],
    last: valueOfJSON(row["last"] as string) as Value[],
  };
  return { json: `[${row["json"] as string}]`, count, more, ...ends };
}

/** The columns to show of a row `t`, by their names. */
export function recordOf(table: Table, columns: readonly string[] | undefined): string {
  return shownIn(table, columns)
    .map((column) => `${shownValue(column)} AS ${quote(column.name)}`)
    .join(", ");
}

/** A column as a record shows it. */
function shownValue(column: TableColumn): string {
  return column.type === "double" ? doubleAsJSON(valueOf(column)) : valueOf(column);
}

/** A column as JSON has it: decimals are text, or numbers without nothings at their end. */
function valueOf({ type, form, valueIn, number }: TableColumn): string {
  const value = form === null ? valueIn("t.") : `(${valueIn("t.")})`;
  if (number === true) return `trim_scale(${value})`;
  return type === "decimal" ? `${value}::text` : value;
}
