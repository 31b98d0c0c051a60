import { createParameters } from "../../sql/language/dialect.ts";
import type { NamedRow } from "../../sql/language/script.ts";
import { requireColumn } from "../../sql/schema/table.ts";
import type { BesideQuery, ListQuery, RelatedText } from "../../store.ts";
import { postgres, getTable } from "../dialect.ts";
import { prepared, type PostgresStatement } from "../parameters.ts";
import { selectListJSON, selectPage } from "./list.ts";
import { readRelated, selectRelated } from "./related.ts";

/** The name of the rows of the page in the SQL. No collection has a name that starts with an underscore. */
const PAGE = `"_page"`;

/**
 * True if one statement can read a page and its related records: an index finds all of them, no collection has an
 * existing table, and the page has no maximum length.
 */
export function canBeJoined(query: ListQuery, beside: readonly BesideQuery[]): boolean {
  return (
    beside.length > 0 &&
    query.maxLength === undefined &&
    [query, ...beside].every(({ long, collection }) => long !== true && collection.existing === undefined)
  );
}

/**
 * Returns a statement for one row: the page of `compileListJSON` and the related records. This saves a round trip,
 * which costs more than a page.
 */
export function compileJoined(query: ListQuery, beside: readonly BesideQuery[]): PostgresStatement {
  const values = createParameters(postgres);
  const rows = selectPage(query, values);
  const limit = values.place(query.limit);
  const parts = beside.map((each, at) => {
    const { id } = getTable(query.collection);
    const { sql: from } = requireColumn(getTable(query.collection), each.from);
    const shown = `SELECT ${from} FROM ${PAGE} LIMIT ${limit}`;
    const keys = from === id.sql ? shown : `SELECT DISTINCT ${from} FROM (${shown}) AS shown WHERE ${from} IS NOT NULL`;
    return selectRelated(each, `(${keys})`, values, at);
  });
  const all = [selectListJSON(query, PAGE, values), ...parts].map((part, at) => `(${part}) AS part_${at}`);
  return prepared(`WITH ${PAGE} AS MATERIALIZED (${rows}) SELECT * FROM ${all.join(", ")}`, values.values);
}

/** Reads the related records from the row of `compileJoined`. */
export function readJoined(row: NamedRow, beside: readonly BesideQuery[]): readonly (readonly RelatedText[] | null)[] {
  return beside.map((each, at) => readRelated(row, each, at));
}
