import { valueOfJSON } from "../../../core/exact-numbers.ts";
import { createParameters, type BoundValues } from "../../sql/language/dialect.ts";
import { quote } from "../../sql/language/names.ts";
import type { NamedRow } from "../../sql/language/script.ts";
import { compileRest, shownIn } from "../../sql/list.ts";
import { requireColumn, type Table, type TableColumn } from "../../sql/schema/table.ts";
import type { ListQuery, ListText, Value } from "../../store.ts";
import { postgres, getTable } from "../dialect.ts";
import { prepared, unprepared, type PostgresStatement } from "../parameters.ts";
import { planNarrowed } from "./semi-joins.ts";

/** The name of a row of the page in the SQL. A column with this name would be ambiguous. */
export const SHOWN = `"_shown"`;

/**
 * Returns a statement for a page as one row: the JSON of the records, the number of rows found (at most one above the
 * limit) and shown, and the sorted values of the first and the last row.
 */
export function compileListJSON(query: ListQuery): PostgresStatement {
  const values = createParameters(postgres);
  const sent = query.long === true ? unprepared : prepared;
  return sent(selectListJSON(query, `(${selectPage(query, values)})`, values), values.values);
}

/** Returns the SQL for the rows of a page and one more, which shows whether more rows follow. */
export function selectPage(query: ListQuery, values: BoundValues): string {
  return `SELECT * ${compileRest(getTable(query.collection), planNarrowed({ ...query, limit: query.limit + 1 }), values)}`;
}

/** Returns the SQL that combines the rows of a page into one row. */
export function selectListJSON(query: ListQuery, rows: string, values: BoundValues): string {
  const table = getTable(query.collection);
  const limit = `${values.place(query.limit)}::integer`;
  const sorted = query.sort.map(({ column }) => compileValue(requireColumn(table, column)));
  const record = compileRecord(table, query.columns);
  const page =
    `SELECT row_to_json(${SHOWN})::text AS record, json_build_array(${sorted.join(", ")})::text AS ends ` +
    `FROM ${rows} AS t, LATERAL (SELECT ${record}) AS ${SHOWN}`;
  if (query.maxLength !== undefined) return selectWithin(page, limit, values.place(query.maxLength));
  return (
    `SELECT array_to_string((array_agg(record))[1:${limit}], ',') AS json, count(*) AS found, least(count(*), ${limit}) AS shown, ` +
    `(array_agg(ends))[1] AS first, (array_agg(ends))[least(count(*), ${limit})] AS last FROM (${page}) AS page`
  );
}

/**
 * Returns the same SQL for a page with a maximum length. The page ends after the row with which the records reach
 * `maxLength` octets.
 */
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

/** Returns the SQL for the shown columns of a row `t`, with their names. */
export function compileRecord(table: Table, columns: readonly string[] | undefined): string {
  return shownIn(table, columns)
    .map((column) => `${shownValue(column)} AS ${quote(column.name)}`)
    .join(", ");
}

/** Returns the SQL for a column as a record shows it. */
function shownValue(column: TableColumn): string {
  return column.type === "double" ? doubleAsJSON(compileValue(column)) : compileValue(column);
}

/** Returns the SQL for a column as JSON. Decimals are text, or numbers without trailing zeros. */
function compileValue({ type, form, valueIn, number }: TableColumn): string {
  const value = form === null ? valueIn("t.") : `(${valueIn("t.")})`;
  if (number === true) return `trim_scale(${value})`;
  return type === "decimal" ? `${value}::text` : value;
}

/*
 * PostgreSQL and JavaScript write the same double in different ways: `1.5e-07` and `1.5e-7`, `-9.007199254740991e+15`
 * and `-9007199254740991`, `-0` and `0`. JavaScript (ECMAScript, Number::toString) formats the numbers of a single
 * record, and all numbers of SQLite. A list that PostgreSQL formats must have the same text.
 */

/** The first whole number above which a double cannot hold every whole number. */
const inexact = 2 ** 53;

/** Returns the SQL for a double as JSON, in the notation of JavaScript. */
function doubleAsJSON(x: string): string {
  return (
    // PostgreSQL and JavaScript write most numbers in the same way.
    `CASE WHEN abs(${x}) >= 1e-4 AND abs(${x}) < 1e15 THEN to_json(${x}) ELSE (` +
    `CASE WHEN ${x} = 0 THEN '0' WHEN abs(${x}) < 1e-6 THEN replace(${x}::text, 'e-0', 'e-') ` +
    `WHEN abs(${x}) < ${inexact} THEN ${x}::text::numeric::text ELSE ${large(x)} END)::json END`
  );
}

/**
 * Returns the same SQL for a large double. JavaScript writes the shortest text that is parsed as the double. A number
 * exactly between two doubles is parsed as the one whose last bit is even, but PostgreSQL never writes such a number.
 * So the query also tries the two nearest numbers with one digit less.
 */
function large(x: string): string {
  const most = "1.7976931348623157e308";
  const isSame = (candidate: string): string =>
    `CASE WHEN abs(${candidate}) <= ${most} THEN ${candidate}::text::double precision = ${x} END`;
  const shortest = `CASE WHEN ${isSame("below")} THEN below WHEN ${isSame("above")} THEN above ELSE n END`;
  const digits = "rtrim(abs(shortest)::text, '0')";
  const exponent = "length(abs(shortest)::text) - 1";
  const scientific = `CASE WHEN shortest < 0 THEN '-' ELSE '' END || left(${digits}, 1) || CASE WHEN length(${digits}) > 1 THEN '.' ELSE '' END || substr(${digits}, 2) || 'e+' || ${exponent}`;
  return (
    `(SELECT CASE WHEN abs(shortest) < 1e21 THEN shortest::text ELSE ${scientific} END FROM (SELECT ${shortest} AS shortest FROM (` +
    `SELECT n, trunc(n, -unit) AS below, trunc(n, -unit) + sign(n) * trunc(10::numeric ^ unit) AS above FROM (` +
    `SELECT n, length(abs(n)::text) - length(rtrim(abs(n)::text, '0')) + 1 AS unit FROM (` +
    `SELECT ${x}::text::numeric AS n) AS a) AS b) AS c) AS d)`
  );
}
