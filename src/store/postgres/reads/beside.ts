import { parametersOf } from "../../sql/dialect.ts";
import { requireColumn } from "../../sql/schema/table.ts";
import type { BesideQuery, ListQuery, RelatedText, Value } from "../../store.ts";
import { postgres, tableOf } from "../dialect.ts";
import { prepared, type Statement } from "../parameters.ts";
import { selectListJSON, selectPage } from "./list.ts";
import { readRelated, selectRelated } from "./related.ts";

/** The rows of the page; no collection's name begins like that. */
const PAGE = `"_page"`;

/** What a page takes of the row, and what each question takes. */
const [ofPage, ofEach] = [4, 2] as const;

/** Whether a page and what belongs to its rows are one statement: where an index finds all of it, in tables of ours, which have keys as they are shown. */
export function canBeTold(query: ListQuery, beside: readonly BesideQuery[]): boolean {
  return (
    beside.length > 0 &&
    query.maxLength === undefined &&
    [query, ...beside].every(({ long, collection }) => long !== true && collection.existing === undefined)
  );
}

/** The page as `compileListJSON` has it, and behind it what belongs to its rows: a second trip costs more than a page. */
export function compilePageBeside(query: ListQuery, beside: readonly BesideQuery[]): Statement {
  const values = parametersOf(postgres);
  const rows = selectPage(query, values);
  const limit = values.place(query.limit);
  const parts = beside.map((each) => {
    const { id } = tableOf(query.collection);
    const { sql: from } = requireColumn(tableOf(query.collection), each.from);
    const shown = `SELECT ${from} FROM ${PAGE} LIMIT ${limit}`;
    const keys = from === id.sql ? shown : `SELECT DISTINCT ${from} FROM (${shown}) AS shown WHERE ${from} IS NOT NULL`;
    return selectRelated(each, `(${keys})`, values);
  });
  const all = [selectListJSON(query, PAGE, values), ...parts].map((part, at) => `(${part}) AS part_${at}`);
  return prepared(`WITH ${PAGE} AS MATERIALIZED (${rows}) SELECT * FROM ${all.join(", ")}`, values.values);
}

/** What stands behind the page. */
export function readBeside(
  row: readonly Value[],
  beside: readonly BesideQuery[],
): readonly (readonly RelatedText[] | null)[] {
  return beside.map((each, at) => readRelated(row.slice(ofPage + at * ofEach), each));
}
