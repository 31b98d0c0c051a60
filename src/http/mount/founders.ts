import type { Mount, ServedFounder, ServedMount, SharedUsers } from "../declarations/mount.ts";
import { allPermissions } from "../declarations/named-memberships.ts";

/** Returns a mistake if the memberships of a founder are not mounted. */
export function misplacedFounder(
  { resource: { path }, founder, older }: Mount,
  mounts: readonly Mount[],
): readonly string[] {
  if (founder === null || older !== null) return [];
  const { resource } = founder.memberships;
  return mounts.some((each) => each.resource === resource)
    ? []
    : [
        `the founder of ${path} gets a membership of ${resource.path}, which is not mounted; mount ${resource.plural} too`,
      ];
}

/** Returns the founder of each mount that has one, also of older shapes. */
export function collectFounders(mounts: readonly ServedMount[]): readonly ServedFounder[] {
  return mounts.flatMap((group) => {
    const { founder } = group;
    if (founder === null) return [];
    const memberships = mounts.find(({ resource }) => resource === founder.memberships.resource)!;
    return [{ founder, group, memberships }];
  });
}

/** Returns the problems of a mount. Memberships of groups that keep an owner also have `last_owner`. */
export function withLastOwner({ resource, older, problems }: Mount, mounts: readonly Mount[]): Mount["problems"] {
  const own = older?.newer.resource ?? resource;
  const isKept = mounts.some(({ founder }) => founder?.keep === true && founder.memberships.resource === own);
  if (!isKept) return problems;
  const { replace = [], update = [], delete: removal = [] } = problems;
  return {
    ...problems,
    replace: [...replace, "last_owner"],
    update: [...update, "last_owner"],
    delete: [...removal, "last_owner"],
  };
}

/** Returns the mounts of memberships by which users see each other, with the mount of the users. */
export function collectSharedUsers(mounts: readonly ServedMount[]): ReadonlyMap<ServedMount, SharedUsers> {
  const found = new Map<ServedMount, SharedUsers>();
  for (const users of mounts)
    for (const { memberships, user } of allPermissions(users).flatMap(({ shares = [] }) => shares)) {
      // In memberships within users, the path has the user. The caller must be able to read the user.
      if (user === memberships.parentColumn) continue;
      const of = mounts.find(({ resource }) => resource === memberships)!;
      found.set(of, { users, columns: [...new Set([...(found.get(of)?.columns ?? []), user])] });
    }
  return found;
}
