import type { Permission } from "../access/permission/contract.ts";
import { suggestion } from "../core/checking/nearest.ts";
import type { NamedParts } from "./clashes.ts";

/**
 * Finds permissions that use a role or a member of `identity.fields` that no caller has, because they would deny every
 * caller. Each mistake is one sentence with its fix.
 */
export function permissionMistakes(all: readonly NamedParts[]): readonly string[] {
  const found = collectPermissions(all);
  return [...new Set([...missingIdentity(found, all), ...missingRoles(found, all)])];
}

interface PlacedPermission {
  readonly place: string;
  readonly permission: Permission<string>;
}

function collectPermissions(all: readonly NamedParts[]): readonly PlacedPermission[] {
  return all.flatMap(({ parts: { mounts = [], endpoints = [] } }) => [
    ...mounts.flatMap(({ resource, permissions, actions }) =>
      [...Object.values(permissions), ...actions.map(({ permission }) => permission)].map((permission) => ({
        place: `mount(${resource.path})`,
        permission,
      })),
    ),
    ...endpoints.flatMap(({ method, path, access }) =>
      access === "open" ? [] : [{ place: `endpoint ${method} ${path}`, permission: access }],
    ),
  ]);
}

function missingIdentity(found: readonly PlacedPermission[], all: readonly NamedParts[]): readonly string[] {
  const identityMembers = all.flatMap(({ parts: { identity = [] } }) => identity);
  return found.flatMap(({ place, permission: { name, identity = [] } }) =>
    identity
      .filter((member) => !identityMembers.includes(member))
      .map(
        (member) =>
          `${place}: the permission ${name} reads the caller's ${member}, which identities do not have; add it: accounts({ fields, identity: ["${member}"] })`,
      ),
  );
}

/**
 * Checks nothing if no feature declares roles. A service without `accounts()` has only the roles that its schemes
 * return.
 */
function missingRoles(found: readonly PlacedPermission[], all: readonly NamedParts[]): readonly string[] {
  const declaring = all.flatMap(({ parts: { roles } }) => (roles === undefined ? [] : [roles]));
  if (declaring.length === 0) return [];
  const declaredRoles = declaring.flat();
  return found.flatMap(({ place, permission: { name, roles = [] } }) =>
    roles
      .filter((role) => !declaredRoles.includes(role))
      .map(
        (role) =>
          `${place}: the permission ${name} requires the role ${role}, which no user can have${suggestion(role, declaredRoles)}; give accounts() the same users: accounts(users), or users in the config file`,
      ),
  );
}
