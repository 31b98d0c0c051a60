import type { RelatedQuery } from "../store.ts";
import type { Parameters } from "./dialect.ts";
import { compileRest } from "./list.ts";
import { requireColumn, type Table } from "./schema/table.ts";

/** The name under which a statement has the keys; no collection's begins like that. */
export const KEYS = `"_of"`;

/** `FROM … WHERE … ORDER BY … LIMIT …` of what belongs to the key of the row that stands around it; `beyond` is added to the limit. */
export function compileRestOfKey(
  table: Table,
  { collection, column, where, limit }: Omit<RelatedQuery, "keys">,
  values: Parameters,
  beyond: number,
): string {
  const query = { collection, where, sort: [{ column: "id" }], limit: limit + beyond };
  const { form, sql, compared, operand } = requireColumn(table, column);
  return compileRest(table, query, values, [`${form === null ? sql : compared} = ${operand(`${KEYS}.value`)}`]);
}
