import type { Permission } from "../access/permission/contract.ts";
import { suggestion } from "../core/checking/nearest.ts";
import { rulesOf, permissionOf } from "../http/declarations/rules.ts";
import type { NamedParts } from "./clashes.ts";

/**
 * Finds permissions that use a role or a member of `identity.fields` that no caller has, because they would deny every
 * caller. Each mistake is one sentence with its fix.
 */
export function permissionMistakes(all: readonly NamedParts[]): readonly string[] {
  const found = collectPermissions(all);
  return [...new Set([...missingIdentity(found, all), ...missingRoles(found, all), ...tooManyRules(all)])];
}

/** The maximum number of different rules. For each set of denied rules, a service may need a view of each mount. */
const MOST_RULES = 12;

function tooManyRules(all: readonly NamedParts[]): readonly string[] {
  const rules = new Set(
    all.flatMap(({ parts: { mounts = [] } }) => mounts.flatMap(({ resource }) => rulesOf(resource))),
  );
  if (rules.size <= MOST_RULES) return [];
  const names = [...rules].map(({ name }) => name).join(", ");
  return [
    `The fields have ${rules.size} different rules (${names}), and at most ${MOST_RULES} are allowed; make each permission once and use it for several fields.`,
  ];
}

interface PlacedPermission {
  readonly place: string;
  readonly permission: Permission<string>;
}

function collectPermissions(all: readonly NamedParts[]): readonly PlacedPermission[] {
  return all.flatMap(({ parts: { mounts = [], endpoints = [] } }) => [
    ...mounts.flatMap(({ resource, permissions, actions }) =>
      [
        ...Object.values(permissions),
        ...actions.map(({ permission }) => permission),
        ...rulesOf(resource).map(permissionOf),
      ].map((permission) => ({
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
