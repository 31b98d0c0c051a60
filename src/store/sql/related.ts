import { valueOfJSON } from "../../core/exact-numbers.ts";
import type { RelatedQuery, RelatedText } from "../store.ts";
import type { Parameters } from "./dialect.ts";
import { compileRest } from "./list.ts";
import { requireColumn, type Table, type TableColumn } from "./schema/table.ts";

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

/** `{"id":1,"name":1}`: how many characters a record of these columns has at least, since no value is shorter than one. */
export function shortestRecord(shown: readonly TableColumn[]): number {
  return shown.reduce((sum, { name }) => sum + name.length + `"":1,`.length, "{}".length);
}

/** An array without what is beyond the limit. One in which so many records have no place, at `shortest` characters in all, is not looked into. */
export function cutArray(json: string, limit: number, shortest: number): Pick<RelatedText, "json" | "more"> {
  if (json.length < shortest) return { json, more: false };
  const records = valueOfJSON(json) as readonly unknown[];
  return records.length <= limit
    ? { json, more: false }
    : { json: JSON.stringify(records.slice(0, limit)), more: true };
}
