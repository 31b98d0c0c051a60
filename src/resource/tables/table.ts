import type { Resource } from "../declaration.ts";

/** The name of the table of a resource: `books`, and `shops_books` of one within another. */
export function tableOf({ within, plural, name }: Resource): string {
  const own = tableNameOf(plural);
  return within === null ? own : `${tableOf(within)}_${own === "" ? name : own}`;
}

/** A plural as the name of a table, which has no hyphens. */
export function tableNameOf(plural: string): string {
  return plural.replaceAll("-", "_");
}
