import type { Permission } from "../../access/permission/contract.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Collection } from "../../store/store.ts";
import type { Mount } from "./mount.ts";

/** The part of a mount that has its permissions. */
type Permitted = Pick<Mount, "permissions" | "actions">;

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

/** Returns the mounted tables of the memberships that a mount names. Left out if there are none. */
export function placeMemberships(
  mount: Mount,
  mounts: readonly Mount[],
): { readonly memberships?: ReadonlyMap<Resource, Collection> } {
  const named = namedMemberships(mount);
  if (named.length === 0) return {};
  return { memberships: new Map(named.map((resource) => [resource, findMount(resource, mounts)!.collection])) };
}

function findMount(resource: Resource, mounts: readonly Mount[]): Mount | undefined {
  return mounts.find((each) => each.resource === resource && each.older === null);
}
