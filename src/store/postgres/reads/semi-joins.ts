import { splitConditions, type AmongCondition } from "../../inner-collections.ts";
import { isServed } from "../../served.ts";
import type { BoundValues } from "../../sql/language/dialect.ts";
import { compileFirst, compileRows, type PlannedQuery } from "../../sql/list.ts";
import { requireColumn } from "../../sql/schema/table.ts";
import { compareValues, compileValues } from "../../sql/where.ts";
import type { ListQuery, Where } from "../../store.ts";
import { getTable } from "../dialect.ts";

/**
 * Lists with conditions on other rows (`among`). PostgreSQL expects the average number of values, and then often reads
 * all rows in the order of the list (a second for a million rows, if none matches). So one statement has two plans, and
 * the number of values chooses: the first rows of each value by an index, or the plan of PostgreSQL.
 */

/** If there are at most this many values, the first rows of each are read. */
const FEW_VALUES = 100;

/** The names of parts of the statement. No collection has a name that starts with an underscore. */
const [VALUES, FIRST] = [`"_values"`, `"_first"`];

/** Returns the query with its plan. */
export function planNarrowed(query: ListQuery): PlannedQuery {
  const { collection, sort } = query;
  const { narrowing, rest } = splitConditions(query.where);
  const among = narrowing.find((each) => {
    if (!("among" in each)) return false;
    const ofOne: Where = { column: each.column, operator: "eq", value: 1 };
    return each.column !== "id" && isServed({ collection, where: { all: [...rest, ofOne] }, sort });
  }) as AmongCondition | undefined;
  if (among === undefined) return query;
  const others = [...rest, ...narrowing.filter((each) => each !== among)];
  return { ...query, keys: (values, limited) => compileKeys(limited, among, others, values) };
}

function compileKeys(
  query: ListQuery,
  { column, among }: AmongCondition,
  others: readonly Where[],
  values: BoundValues,
): string {
  const table = getTable(query.collection);
  const { compared, convert } = compareValues(table, requireColumn(table, column));
  const inner = compileValues(table.tableOf(among.collection), among, values, convert);
  const few = `SELECT value FROM (${inner} LIMIT ${FEW_VALUES + 1}) AS ${VALUES}(value)`;
  const isFew = `(SELECT count(*) FROM ${VALUES}) <= ${FEW_VALUES}`;
  const ofValue = compileRows(table, { ...query, where: { all: others } }, values, [`${compared} = ${VALUES}.value`]);
  const id = table.id.quoted;
  return (
    `WITH ${VALUES} AS MATERIALIZED (${few}) ` +
    `SELECT ${FIRST}.${id} FROM (SELECT DISTINCT value FROM ${VALUES}) AS ${VALUES}, LATERAL (SELECT ${id} ${ofValue}) AS ${FIRST} WHERE ${isFew} ` +
    `UNION ALL SELECT ${id} FROM (${compileFirst(table, query, values)}) AS ${FIRST} WHERE NOT ${isFew}`
  );
}
