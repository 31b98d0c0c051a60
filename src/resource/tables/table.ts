import type { Resource } from "../declaration/declaration.ts";

/** Returns the name of the table of a resource: `books`, or `shops_books` for a resource within another. */
export function buildTableName({ within, plural, name }: Resource): string {
  const own = formatTableName(plural);
  return within === null ? own : `${buildTableName(within)}_${own === "" ? name : own}`;
}

/** Returns a plural as the name of a table, which has no hyphens. */
export function formatTableName(plural: string): string {
  return plural.replaceAll("-", "_");
}
