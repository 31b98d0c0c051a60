import type { Permission } from "../../access/permission/contract.ts";
import type { Resource } from "../../resource/resource.ts";
import { isFolded } from "../../store/fold.ts";
import type { Collection, Column } from "../../store/store.ts";
import { findColumnOn, findMembers } from "./memberships.ts";
import type { Mount, ServedMount } from "./mount.ts";

/** The part of a mount that has its permissions. */
type Permitted = Pick<Mount, "permissions" | "actions">;

/** The part of a mount that conditions by memberships need. */
export type Narrowed = Pick<ServedMount, "resource" | "collection" | "older" | "permissions" | "actions">;

/** Returns all permissions of a mount: those of the resource and those of its actions. */
export function allPermissions({ permissions, actions }: Permitted): readonly Permission<string>[] {
  return [...Object.values(permissions), ...actions.map(({ permission }) => permission)];
}

/** Returns the resources whose rows select the rows that the permissions of a mount allow. */
export function namedMemberships(mount: Permitted): readonly Resource[] {
  return [...new Set(allPermissions(mount).flatMap(({ memberships = [] }) => memberships))];
}

/**
 * Returns the nested mounts whose records are memberships, also in older shapes. Their own permission decides about
 * writes: the parent must be readable, but its permission for update is not asked.
 */
export function nestedMemberships(mounts: readonly Mount[]): ReadonlySet<Mount> {
  const named = new Set(mounts.flatMap(namedMemberships));
  return new Set(
    mounts.filter((each) => each.resource.within !== null && named.has((each.older?.newer ?? each).resource)),
  );
}

/** Returns the mistakes about memberships that are not mounted in this service. */
export function unmountedMemberships(mount: Mount, mounts: readonly Mount[]): readonly string[] {
  return namedMemberships(mount)
    .filter((resource) => findMount(resource, mounts) === undefined)
    .map(
      ({ path, plural }) =>
        `mount(${mount.resource.path}): a permission narrows by ${path}, which is not mounted in this service; mount ${plural} too`,
    );
}

/** Returns the mistakes about columns that cannot be compared with the column of the group in memberships. */
export function incomparableGroups(mount: Mount, mounts: readonly Mount[]): readonly string[] {
  const { resource, collection } = mount;
  const mistakes = allPermissions(mount).flatMap((permission) =>
    findMembers(permission).flatMap((members) => {
      const { memberships, group } = members;
      const on = findColumnOn(members, collection.name);
      const selected = findColumn(findMount(memberships, mounts)?.collection ?? collection, group);
      const column = findColumn(collection, on);
      if (selected === undefined || column === undefined) return [];
      const place = `mount(${resource.path}): the permission ${permission.name} compares the column ${on} with ${group} of ${memberships.path}`;
      if (column.type !== selected.type)
        return [
          `${place}, but they are of the types ${column.type} and ${selected.type}; name the column with the id of the group: memberOf(…, { on: "…" })`,
        ];
      return isFolded(column) || isFolded(selected)
        ? [`${place}, but one of them is compared without case, which ids are not; remove the filters without case`]
        : [];
    }),
  );
  return [...new Set(mistakes)];
}

function findColumn({ key, columns }: Collection, name: string): Column | undefined {
  return name === "id" ? { name, type: key } : columns.find((column) => column.name === name);
}

/**
 * Returns the mounted tables of the memberships that a mount names. Left out if there are none. `tables` has the tables
 * that replace declared ones.
 */
export function placeMemberships(
  mount: Mount,
  mounts: readonly Mount[],
  tables: ReadonlyMap<Collection, Collection>,
): { readonly memberships?: ReadonlyMap<Resource, Collection> } {
  const named = namedMemberships(mount);
  if (named.length === 0) return {};
  const tableOf = (resource: Resource): Collection => {
    const { collection } = findMount(resource, mounts)!;
    return tables.get(collection) ?? collection;
  };
  return { memberships: new Map(named.map((resource) => [resource, tableOf(resource)])) };
}

/** Returns the mount of memberships. Returns undefined if the resource is not mounted. */
export function findMount<M extends Pick<Narrowed, "resource" | "older">>(
  resource: Resource,
  mounts: readonly M[],
): M | undefined {
  return mounts.find((each) => each.resource === resource && each.older === null);
}
