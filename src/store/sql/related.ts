import { valueOfJSON } from "../../core/exact-numbers.ts";
import type { RelatedQuery, RelatedText } from "../store.ts";
import type { BoundValues } from "./language/dialect.ts";
import { compileRest } from "./list.ts";
import { requireColumn, type Table, type TableColumn } from "./schema/table.ts";

/**
 * The name of the list of keys in a statement. No collection has this name, because declared names start with a letter.
 */
export const KEYS = `"_of"`;

/**
 * Returns `FROM … WHERE … ORDER BY … LIMIT …` for the records of one key of the outer query. `beyond` is added to the
 * limit.
 */
export function compileRestOfKey(
  table: Table,
  { collection, column, where, limit }: Omit<RelatedQuery, "keys">,
  values: BoundValues,
  beyond: number,
): string {
  const query = { collection, where, sort: [{ column: "id" }], limit: limit + beyond };
  const { form, sql, compared, operand } = requireColumn(table, column);
  return compileRest(table, query, values, [`${form === null ? sql : compared} = ${operand(`${KEYS}.value`)}`]);
}

/**
 * Returns the minimum number of characters of a record with these columns: `{"id":1,"name":1}`. No value is shorter
 * than one character.
 */
export function shortestRecord(shown: readonly TableColumn[]): number {
  return shown.reduce((sum, { name }) => sum + name.length + `"":1,`.length, "{}".length);
}

/**
 * Cuts an array to the limit. Does not parse a text that is shorter than `shortest`, because it cannot contain too many
 * records.
 */
export function cutArray(json: string, limit: number, shortest: number): Pick<RelatedText, "json" | "more"> {
  if (json.length < shortest) return { json, more: false };
  const records = valueOfJSON(json) as readonly unknown[];
  return records.length <= limit
    ? { json, more: false }
    : { json: JSON.stringify(records.slice(0, limit)), more: true };
}
