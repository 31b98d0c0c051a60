import { everyAction, type AllowedRows, type Permission } from "../../../access/permission/contract.ts";
import { stateFacts } from "../../../access/permission/facts.ts";
import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import {
  isObject,
  membersMistakes,
  optional,
  shownWithoutText,
  text,
  type Checks,
} from "../../../core/checking/members.ts";
import { made, otherCopyMistake } from "../../../core/copy.ts";
import { readMemberships } from "../../../http/declarations/memberships.ts";
import type { GroupReferenceOf, Resource, UserReferenceOf } from "../../../resource/resource.ts";

/** The options of `sharesGroup`. */
export interface SharesGroupOptions<R extends Resource = Resource> {
  /** The reference of the memberships to the group. Default: the only reference that is not to users. */
  readonly of?: GroupReferenceOf<R>;
  /** The reference of the memberships to the user, if there are several. */
  readonly user?: UserReferenceOf<R>;
}

/**
 * Allows users to see themselves and the users with whom they share a group, so that a team sees the names of its
 * members. A permission for `accounts({ permissions })`. In these memberships, a caller makes members only of users
 * whom it may already read. The answer for any other user is that for an unknown one. Administrators are excepted.
 * Throws `DeclarationError` if the memberships or an option are wrong.
 *
 * @example
 * ```ts
 * import { accounts, administrator, anyOf, defineResource, reference, text } from "latchkey";
 * import { sharesGroup } from "latchkey/auth";
 *
 * const project = defineResource({ name: "project", fields: { name: text() } });
 * const membership = defineResource({
 *   name: "membership",
 *   fields: { user_id: reference("users"), project_id: reference(project, { onDelete: "cascade" }) },
 *   unique: [["user_id", "project_id"]],
 * });
 * const seen = anyOf(administrator, sharesGroup(membership));
 * export const people = accounts({ permissions: { list: seen, read: seen } });
 * ```
 */
export function sharesGroup<const R extends Resource>(
  memberships: R,
  options?: SharesGroupOptions<NoInfer<R>>,
): Permission;
export function sharesGroup(resource: Resource, options: SharesGroupOptions = {}): Permission {
  const copy = otherCopyMistake(resource);
  if (copy !== null) throw new DeclarationError([`sharesGroup: the memberships: ${copy}`]);
  const input: unknown = options;
  if (!isObject(input))
    throw new DeclarationError([
      `sharesGroup: its options are ${shownWithoutText(input)}; write sharesGroup(memberships, { of: "project_id" })`,
    ]);
  const wrong = membersMistakes({ ...input }, checks);
  const read = wrong.length > 0 ? wrong : readMemberships(resource, options);
  if (!("user" in read)) throw new DeclarationError(read.map((mistake) => `sharesGroup: ${mistake}`));
  const { user, group } = read;
  const permission = made<Permission>({
    name: `shares a group by ${group} of ${resource.path}`,
    narrows: everyAction,
    userIds: ["id"],
    memberships: [resource],
    shares: [{ memberships: resource, user }],
    decide({ identity }) {
      if (identity === null) return "deny";
      const { id } = identity;
      const own: AllowedRows<"id"> = { column: "id", operator: "eq", value: id };
      const groups: AllowedRows = {
        column: group,
        memberships: resource,
        select: group,
        where: { column: user, operator: "eq", value: id },
      };
      return { only: { any: [own, { column: "id", memberships: resource, select: user, where: groups }] } };
    },
  });
  return stateFacts(permission, { kind: "shares", memberships: resource, user, group });
}

const checks: Checks & Readonly<Record<keyof SharesGroupOptions, unknown>> = {
  of: optional(text),
  user: optional(text),
};
