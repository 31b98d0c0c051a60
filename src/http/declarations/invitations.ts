import { isPermission } from "../../access/permission/checking.ts";
import { isObject, joinMistakes, membersMistakes, optional, text } from "../../core/checking/members.ts";
import { isWritable } from "../../resource/declaration/field.ts";
import type { Resource } from "../../resource/resource.ts";
import { readMemberships, type MembershipColumns, type Memberships } from "./memberships.ts";
import { findOnceField } from "./once.ts";

/** Checks the option `invitations` of a mount. */
export const invitationsOption = optional((value) => {
  if (typeof value === "boolean") return null;
  return isObject(value) ? joinMistakes(membersMistakes(value, { of: optional(text), user: optional(text) })) : WRONG;
});

const WRONG = 'it has to be true, or the columns: { of: "project_id", user: "user_id" }';

/** Returns the mistakes in the option `invitations` of a mount. */
export function invitationMistakes(
  resource: Resource,
  { invitations, permission }: Readonly<Record<string, unknown>>,
): readonly string[] {
  if (!isInvited(invitations) || invitationsOption(invitations) !== null) return [];
  const columns = readColumns(resource, invitations);
  if (!("user" in columns)) return columns.map((mistake) => `invitations: ${mistake}`);
  const { fields } = resource;
  if (resource.parentColumn !== null && columns.group !== resource.parentColumn)
    return [`invitations: nested memberships belong to the group in their path; name of: "${resource.parentColumn}"`];
  const confidential = Object.keys(fields).filter((name) => fields[name]!.options.transient === true);
  const mayCreate = isPermission(permission) || (isObject(permission) && permission["create"] !== undefined);
  return [
    ...(mayCreate ? [] : ["invitations: no caller may create these records; give the mount a permission for create"]),
    ...(Object.hasOwn(fields, "email")
      ? ["invitations: an invitation has the address in a member email; rename the field email"]
      : []),
    ...(isWritable(fields[columns.user]!)
      ? []
      : [`invitations: no caller sends ${columns.user}; remove readOnly or generated from the field`]),
    ...confidential.map((name) => `invitations: the field ${name} is not stored, so no invitation can keep it`),
    ...(findOnceField(resource) === null ? [] : ["invitations: records that show a value once cannot be accepted"]),
  ];
}

/** Returns the columns of memberships with invitations. Returns null for a mount without them. */
export function findInvitedColumns(resource: Resource, invitations: unknown): Memberships | null {
  const columns = isInvited(invitations) ? readColumns(resource, invitations) : [];
  return "user" in columns ? columns : null;
}

function isInvited(invitations: unknown): boolean {
  return invitations === true || isObject(invitations);
}

/** Returns the columns of memberships. Nested ones belong to the group in their path, if no other is named. */
function readColumns(resource: Resource, invitations: unknown): Memberships | readonly string[] {
  const { of = resource.parentColumn ?? undefined, user } = isObject(invitations)
    ? (invitations as MembershipColumns)
    : {};
  return readMemberships(resource, { of, user });
}
