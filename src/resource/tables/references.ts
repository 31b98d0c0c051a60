import type { Resource } from "../declaration/declaration.ts";
import { buildTableName, formatTableName } from "./table.ts";

/** Returns the table of the records that a column of a resource refers to. Returns null if it refers to none. */
export function findReferencedTable({ fields, parentColumn, within }: Resource, name: string): string | null {
  if (name === parentColumn) return buildTableName(within!);
  const to = Object.hasOwn(fields, name) ? fields[name]!.kind.references : undefined;
  return to === undefined ? null : formatTableName(to.resource);
}

/**
 * Returns the column of a table with the id of a group. `group` is the column of memberships that refers to it. The
 * table of the groups themselves has it in `id`, and other tables in a column of the same name.
 */
export function findGroupColumn(memberships: Resource, group: string, table: string): string {
  return findReferencedTable(memberships, group) === table ? "id" : group;
}
