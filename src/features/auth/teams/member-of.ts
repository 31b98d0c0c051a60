import { everyAction, type Permission } from "../../../access/permission/contract.ts";
import { stateFacts } from "../../../access/permission/facts.ts";
import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import {
  isObject,
  membersMistakes,
  optional,
  shown,
  shownWithoutText,
  text,
  type Checks,
  type Mistake,
  type Only,
  type ThereIsNo,
} from "../../../core/checking/members.ts";
import { suggestion } from "../../../core/checking/nearest.ts";
import { made, otherCopyMistake } from "../../../core/copy.ts";
import { readMemberships } from "../../../http/declarations/memberships.ts";
import { Flaw, isStored } from "../../../resource/declaration/field.ts";
import type {
  ComparedOf,
  GroupReferenceOf,
  GroupRowsOf,
  Resource,
  StoredOf,
  UserReferenceOf,
} from "../../../resource/resource.ts";
import type { Value } from "../../../store/store.ts";

/** The values of memberships that count, by field: one value or several. All fields must match. */
export type MembershipValues<R extends Resource> = {
  readonly [K in Exclude<ComparedOf<R>, "id"> & keyof StoredOf<R>]?:
    | NonNullable<StoredOf<R>[K]>
    | readonly NonNullable<StoredOf<R>[K]>[];
};

/** The options of `memberOf`. */
export interface MemberOfOptions<R extends Resource = Resource> {
  /** The reference of the memberships to the group. Default: the only reference that is not to users. */
  readonly of?: GroupReferenceOf<R>;
  /** The column of the narrowed resource that holds the group. Default: as `of`, and `id` for the group itself. */
  readonly on?: string;
  /** Limits the memberships that count, by their fields: `{ role: ["owner", "editor"] }`. Default: all count. */
  readonly where?: MembershipValues<R>;
  /** The reference of the memberships to the user, if there are several. */
  readonly user?: UserReferenceOf<R>;
}

/** The column of the narrowed resource that the options name, or else the rows of the group. */
type RowsOn<R extends Resource, O> = O extends { readonly on: infer C extends string }
  ? C
  : GroupRowsOf<R, O extends { readonly of: infer G extends string } ? G : GroupReferenceOf<R>>;

/** The compiler error for a field in `where` that memberships do not have, or that cannot be compared. */
type KnownFields<R extends Resource, O> = O extends { readonly where: infer W }
  ? {
      readonly where: {
        readonly [K in Exclude<keyof W, keyof MembershipValues<R>>]: Mistake<ThereIsNo<K, keyof MembershipValues<R>>>;
      };
    }
  : unknown;

/**
 * Allows the rows of the groups that the caller is a member of: of projects, clubs or organizations. `memberships` is a
 * mounted resource with a reference to users and a reference to the group. Other rows are hidden as if they did not
 * exist. The caller can neither create a row in a foreign group nor move a row there. A removed membership counts from
 * the next request on. Throws `DeclarationError` if the memberships or an option are wrong.
 *
 * @example
 * ```ts
 * import { defineResource, enumeration, mount, reference, text } from "latchkey";
 * import { memberOf } from "latchkey/auth";
 *
 * const project = defineResource({ name: "project", fields: { name: text() } });
 * const membership = defineResource({
 *   name: "membership",
 *   fields: {
 *     user_id: reference("users"),
 *     project_id: reference(project, { onDelete: "cascade" }),
 *     role: enumeration(["owner", "viewer"]),
 *   },
 *   unique: [["user_id", "project_id"]],
 * });
 * const member = memberOf(membership);
 * const owner = memberOf(membership, { where: { role: "owner" } });
 * export const mounts = [
 *   mount(project, { permission: { list: member, read: member, update: owner } }),
 *   mount(membership, { permission: member }),
 * ];
 * ```
 */
export function memberOf<const R extends Resource, const O extends MemberOfOptions<NoInfer<R>> = {}>(
  memberships: R,
  options?: Only<O, MemberOfOptions<NoInfer<R>>> & KnownFields<NoInfer<R>, O>,
): Permission<RowsOn<R, O>>;
export function memberOf(resource: Resource, options: MemberOfOptions = {}): Permission<string> {
  const copy = otherCopyMistake(resource);
  if (copy !== null) throw new DeclarationError([`memberOf: the memberships: ${copy}`]);
  const input: unknown = options;
  if (!isObject(input))
    throw new DeclarationError([
      `memberOf: its options are ${shownWithoutText(input)}; write memberOf(memberships, { where: { … } })`,
    ]);
  const found = membersMistakes({ ...input }, checks);
  const { of, on, user, where = {} } = options;
  const read = found.length > 0 ? found : readMemberships(resource, { of, user });
  const wanted: readonly (Condition | string)[] = "user" in read ? readValues(resource, where) : [];
  const mistakes = [...("user" in read ? [] : read), ...wanted.filter((each) => typeof each === "string")];
  if (!("user" in read) || mistakes.length > 0)
    throw new DeclarationError(mistakes.map((mistake) => `memberOf: ${mistake}`));
  const conditions = wanted.filter((each) => typeof each !== "string");
  const permission: Permission<string> = made({
    name: formatName(resource, read.group, conditions),
    narrows: everyAction,
    columns: on === undefined ? [] : [on],
    memberships: [resource],
    decide({ identity }) {
      if (identity === null) return "deny";
      const isOwn = { column: read.user, operator: "eq", value: identity.id } as const;
      const rows = { memberships: resource, select: read.group, where: { all: [isOwn, ...conditions] } };
      return { only: on === undefined ? rows : { column: on, ...rows } };
    },
  });
  const counted = conditions.map(({ column: name, value }) => ({ column: name, values: value }));
  return stateFacts(permission, {
    kind: "member",
    memberships: resource,
    user: read.user,
    group: read.group,
    on,
    where: counted,
  });
}

const checks: Checks & Readonly<Record<keyof MemberOfOptions, unknown>> = {
  of: optional(text),
  on: optional(text),
  user: optional(text),
  where: optional((value) => (isObject(value) ? null : 'it has to be values by field, like { role: ["owner"] }')),
};

/** The accepted values of one field of a membership. */
interface Condition {
  readonly column: string;
  readonly operator: "in";
  readonly value: readonly (string | number | boolean)[];
}

/** Reads `where`. Returns a condition for each field, or its mistakes. */
function readValues(
  { path, fields }: Resource,
  where: Readonly<Record<string, unknown>>,
): readonly (Condition | string)[] {
  const comparable = Object.keys(fields).filter(
    (name) => isStored(fields[name]!) && fields[name]!.kind.column.type !== "json",
  );
  return Object.entries(where).flatMap(([column, given]): readonly (Condition | string)[] => {
    if (given === undefined) return [];
    if (!comparable.includes(column))
      return [`where: ${path} has no field ${column} that can be compared${suggestion(column, comparable)}`];
    const values: readonly unknown[] = Array.isArray(given) ? given : [given];
    if (values.length === 0)
      return [`where: ${column} lists no value, so no membership would count; name some, or leave ${column} out`];
    const parsed = values.map((each) => fields[column]!.kind.parse(each));
    const wrong = parsed.findIndex((each) => !isScalar(each));
    if (wrong === -1) return [{ column, operator: "in", value: parsed.filter(isScalar) }];
    const flaw = parsed[wrong];
    const why = flaw instanceof Flaw ? flaw.detail : "The value cannot be compared.";
    return [`where: ${column} cannot be ${shown(values[wrong])}: ${why}`];
  });
}

function isScalar(value: unknown): value is Exclude<Value, object | null> {
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

function formatName({ path }: Resource, group: string, conditions: readonly Condition[]): string {
  const parts = conditions.map(({ column, value }) => ` with ${column} ${value.join(" or ")}`);
  return `member by ${group} of ${path}${parts.join(" and")}`;
}
