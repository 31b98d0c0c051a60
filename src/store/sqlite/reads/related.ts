import { parametersOf } from "../../sql/dialect.ts";
import { namesOfPage, shownIn } from "../../sql/list.ts";
import { compileRestOfKey, KEYS } from "../../sql/related.ts";
import type { Table } from "../../sql/schema/table.ts";
import type { Key, RelatedQuery, RelatedText } from "../../store.ts";
import type { Statements } from "../connection.ts";
import { sqlite } from "../dialect.ts";
import { jsonObject } from "./pages.ts";

/** Reads what belongs to each key, one key after another, and stops where it is too long. */
export function readRelated(table: Table, statements: Statements, query: RelatedQuery): readonly RelatedText[] | null {
  const parameters = parametersOf(sqlite);
  const shown = shownIn(table, query.columns);
  const names = namesOfPage(table, shown);
  // One more than asked for tells whether there are more.
  const rest = compileRestOfKey(table, query, parameters, 1);
  const sql = `SELECT ${KEYS}.value, (SELECT json_group_array(${jsonObject(shown)}) FROM (SELECT ${names} ${rest})) FROM json_each(?) AS ${KEYS}`;
  const shortest = (query.limit + 1) * shortestRecord(shown.map(({ name }) => name));
  const related: RelatedText[] = [];
  let length = 0;
  const found = statements(sql, () => sql).iterate(...parameters.values, JSON.stringify(query.keys));
  for (const [key, json] of found as Iterable<[Key, string]>) {
    if (json === "[]") continue;
    length += json.length;
    if (length > query.maxLength) return null;
    related.push({ key, ...(json.length < shortest ? { json, more: false } : cut(json, query.limit)) });
  }
  return related;
}

/** `{"id":1,"name":1}`: no value is shorter than a character. */
function shortestRecord(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + name.length + `"":1,`.length, "{}".length);
}

function cut(json: string, limit: number): Pick<RelatedText, "json" | "more"> {
  const records = JSON.parse(json) as readonly unknown[];
  if (records.length <= limit) return { json, more: false };
  return { json: JSON.stringify(records.slice(0, limit)), more: true };
}
