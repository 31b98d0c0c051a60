import { collectFacts } from "../../access/permission/facts.ts";
import type { ServedMount } from "../../http/declarations/mount.ts";
import type { Value } from "../../store/store.ts";
import type { ProvedService } from "./opening.ts";
import { collectPermissions } from "./plan.ts";

/** Returns the values of users' fields that a permission compares with a column, by table and column. */
export async function findSharedValues(
  { service, people }: ProvedService,
  mounts: readonly ServedMount[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, readonly Value[]>>> {
  const { collection } = people.accounts.users;
  const rows = await service.store.list({
    collection,
    where: null,
    sort: [{ column: "id" }],
    limit: 1000,
  });
  const valuesOf = (field: string): readonly Value[] =>
    [...new Set(rows.flatMap(({ record }) => (record[field] as Value) ?? []))].slice(0, 6);
  const shared = new Map<string, Map<string, readonly Value[]>>();
  for (const mount of mounts) {
    for (const permission of collectPermissions(mount)) {
      for (const [column, field] of comparedFields(permission, people.accounts.declared.identityFields)) {
        if (mount.collection.columns.every(({ name }) => name !== column)) continue;
        const columns = shared.get(mount.collection.name) ?? new Map<string, readonly Value[]>();
        shared.set(mount.collection.name, columns.set(column, valuesOf(field)));
      }
    }
  }
  return shared;
}

function comparedFields(
  permission: { readonly identity?: readonly string[]; readonly columns?: readonly string[] },
  identityFields: readonly string[],
): readonly (readonly [string, string])[] {
  const known = collectFacts(permission).flatMap((facts) =>
    facts.kind === "same" ? [[facts.column, facts.field] as const] : [],
  );
  if (known.length > 0) return known;
  const { columns = [] } = permission;
  const fields = permission.identity ?? identityFields;
  return columns.flatMap((column) => {
    const field =
      fields.find((name) => name === column) ?? (fields.length === 1 && columns.length === 1 ? fields[0] : undefined);
    return field === undefined ? [] : [[column, field] as const];
  });
}
