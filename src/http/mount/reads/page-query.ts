import { parseQuery } from "../../../core/headers/query.ts";

/**
 * Returns the query of a page without its empty parameters, because a form sends each of its controls. In other formats
 * an empty value is a value.
 */
export function withoutEmpty(query: string): string {
  if (!/=(?:&|$)/.test(query)) return query;
  const filled = parseQuery(query).filter(([, value]) => value !== "");
  return new URLSearchParams(filled.map(([name, value]) => [name, value])).toString();
}
