import type { Resource } from "../declaration.ts";

/** Returns the name of the table of a resource: `books`, or `shops_books` for a resource within another. */
export function tableOf({ within, plural, name }: Resource): string {
  const own = tableNameOf(plural);
  return within === null ? own : `${tableOf(within)}_${own === "" ? name : own}`;
}

/** Returns a plural as the name of a table, which has no hyphens. */
export function tableNameOf(plural: string): string {
  return plural.replaceAll("-", "_");
}
