import { collectFacts } from "../../access/permission/facts.ts";
import type { ServedMount } from "../../http/declarations/mount.ts";
import { collectPermissions } from "./plan.ts";

/** Returns the columns whose values decide about rights, or tie rows together. */
export function collectStructure(
  mounts: readonly ServedMount[],
  usersTable: string,
  identityFields: readonly string[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const structure = new Map<string, Set<string>>();
  const add = (table: string, columns: Iterable<string>): void => {
    const all = structure.get(table) ?? new Set();
    for (const column of columns) all.add(column);
    structure.set(table, all);
  };
  add(usersTable, [...identityFields, "email", "username"]);
  for (const mount of mounts) {
    const { resource, collection, maximum } = mount;
    const permissions = collectPermissions(mount);
    add(
      collection.name,
      permissions.flatMap(({ columns = [] }) => columns),
    );
    add(collection.name, [...resource.unique.flat(), ...(maximum === null ? [] : [maximum.per])]);
    add(collection.name, resource.parentColumn === null ? [] : [resource.parentColumn]);
    for (const [name, { kind, options }] of Object.entries(resource.fields))
      if (kind.references !== undefined || kind.members !== undefined || (options.unique ?? false) !== false)
        add(collection.name, [name]);
    for (const facts of permissions.flatMap(collectFacts))
      if (facts.kind === "member") {
        const owner = mounts.find(({ resource: each }) => each === facts.memberships);
        if (owner !== undefined)
          add(owner.collection.name, [facts.user, facts.group, ...facts.where.map(({ column }) => column)]);
      }
  }
  return structure;
}
