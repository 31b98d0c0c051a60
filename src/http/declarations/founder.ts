import { isPermission } from "../../access/permission/checking.ts";
import type { Permission } from "../../access/permission/permission.ts";
import {
  aBoolean,
  anObject,
  anything,
  isObject,
  membersMistakes,
  optional,
  shown,
  text,
  type ValueCheck,
} from "../../core/checking/members.ts";
import { suggestion } from "../../core/checking/nearest.ts";
import { Flaw, isRequired, isShown, isStored } from "../../resource/declaration/field.ts";
import type { GroupReferenceOf, Resource, UserReferenceOf, WritableOf } from "../../resource/resource.ts";
import { findReferencedTable } from "../../resource/tables/references.ts";
import { buildTableName } from "../../resource/tables/table.ts";
import type { Value } from "../../store/store.ts";
import { readMemberships, type Memberships } from "./memberships.ts";
import { findOnceField } from "./once.ts";

/** The membership that the creator of a record gets. */
export interface FounderOptions<M extends Resource = Resource> {
  /** The resource of the memberships, as in `memberOf`. It is mounted in the same service. */
  readonly memberships: M;
  /** The values of the membership: `{ role: "owner" }`. Its other fields get their defaults. */
  readonly values: NoInfer<FounderValues<M>>;
  /** The reference of the memberships to the group. Default: the only reference that is not to users. */
  readonly of?: NoInfer<GroupReferenceOf<M>>;
  /** The reference of the memberships to the user. Default: the only reference to users. */
  readonly user?: NoInfer<UserReferenceOf<M>>;
  /**
   * If true, a group keeps at least one membership with these values. A write that would take the last one away is 409
   * `last_owner`, also if several writes arrive at once. Deleting the group is allowed. Default: false.
   */
  readonly keep?: boolean;
}

/** The values that the membership of a founder can have. */
export type FounderValues<M extends Resource> = { readonly [K in keyof WritableOf<M>]?: WritableOf<M>[K] };

/** The checked option `founder` of a mount. */
export interface Founder {
  readonly memberships: Memberships;
  /** The values in the form of the store. */
  readonly values: Readonly<Record<string, Value>>;
  readonly keep: boolean;
}

const founderMembers: Readonly<Record<keyof FounderOptions, ValueCheck>> = {
  memberships: anything,
  values: anObject,
  of: optional(text),
  user: optional(text),
  keep: optional(aBoolean),
};

/** Returns the mistakes in the option `founder` of a mount. */
export function founderMistakes(
  resource: Resource,
  { founder, permission }: Readonly<Record<string, unknown>>,
): readonly string[] {
  if (!isObject(founder)) return [];
  const wrong = membersMistakes(founder, founderMembers);
  if (wrong.length > 0) return wrong.map((each) => `founder: ${each}`);
  const options = founder as unknown as FounderOptions;
  const memberships = readMemberships(options.memberships, options);
  if (!("resource" in memberships)) return memberships.map((each) => `founder: ${each}`);
  const create = isPermission(permission) ? permission : isObject(permission) ? permission["create"] : undefined;
  return [
    ...groupMistakes(resource, memberships),
    ...valuesMistakes(memberships, options),
    ...(options.keep === true ? cascadeMistakes(memberships) : []),
    ...(isPermission(create)
      ? creatorMistakes(create)
      : ["permission has no create, so no record has a founder; add create, or leave founder out"]),
  ].map((each) => `founder: ${each}`);
}

/** Returns the checked option. Call it only if `founderMistakes` found none. */
export function readFounder(options: FounderOptions | undefined): Founder | null {
  if (options === undefined) return null;
  const memberships = readMemberships(options.memberships, options) as Memberships;
  const { fields } = memberships.resource;
  const given = Object.entries(options.values).filter(([, value]) => value !== undefined);
  const values = given.map(([name, value]) => [name, value === null ? null : fields[name]!.kind.parse(value)]);
  return Object.freeze({
    memberships,
    values: Object.freeze(Object.fromEntries(values) as Record<string, Value>),
    keep: options.keep === true,
  });
}

function groupMistakes(group: Resource, { resource, user, group: column }: Memberships): readonly string[] {
  const { path, within, parentColumn } = resource;
  const refers = findReferencedTable(resource, column) === buildTableName(group);
  const once = findOnceField(resource);
  return [
    ...(refers
      ? []
      : [
          `memberships: ${column} of ${path} does not refer to ${group.plural}; name the reference with of, or other memberships`,
        ]),
    ...(parentColumn === null || [user, column].includes(parentColumn)
      ? []
      : [
          `memberships: ${path} is within ${within!.plural}, and a new record of ${group.plural} names none of these; take memberships that are within ${group.plural}, or within nothing`,
        ]),
    ...(resource.id === "text"
      ? [
          `memberships: the ids of ${path} are texts that callers choose, so the service cannot create one; take another id`,
        ]
      : []),
    ...(once === null ? [] : [`memberships: ${path} shows ${once.field} once, so only its own path can create one`]),
  ];
}

function valuesMistakes(
  { resource, user, group }: Memberships,
  { values, keep = false }: FounderOptions,
): readonly string[] {
  const { fields } = resource;
  const names = Object.keys(fields).filter(
    (name) => name !== user && name !== group && isStored(fields[name]!) && isShown(fields[name]!),
  );
  const wrong = Object.entries(values).flatMap(([name, value]: [string, unknown]) => {
    const place = `values.${name}`;
    const field = names.includes(name) ? fields[name] : undefined;
    if (field === undefined)
      return [`${place}: ${resource.path} has no field ${name} for a founder${suggestion(name, names)}`];
    const { kind, options } = field;
    if (keep && kind.column.type === "json")
      return [`${place}: it holds JSON or a list, which cannot be compared; keep needs another field`];
    if (value === undefined || (value === null && options.optional === true)) return [];
    const read: unknown = kind.parse(value);
    return read instanceof Flaw ? [`${place} is ${shown(value)}: ${read.detail}`] : [];
  });
  const given = new Set([user, group, ...Object.keys(values)]);
  const missing = Object.keys(fields).filter((name) => isRequired(fields[name]!) && !given.has(name));
  return [
    ...wrong,
    ...missing.map(
      (name) => `values: the field ${name} of ${resource.path} is required; add a value, or give the field a default`,
    ),
  ];
}

/**
 * Returns a mistake for each other reference whose deletion would delete a membership, because nothing checks these.
 */
function cascadeMistakes({ resource: { fields, parentColumn, path }, group }: Memberships): readonly string[] {
  const cascading = Object.keys(fields).filter((name) => fields[name]!.kind.references?.onDelete === "cascade");
  return [...cascading, ...(parentColumn === null ? [] : [parentColumn])]
    .filter((name) => name !== group)
    .map(
      (name) =>
        `keep: deleting a record that ${name} of ${path} refers to would delete the membership of an owner; write onDelete: "restrict" there, or leave keep out`,
    );
}

function creatorMistakes(create: Permission<string>): readonly string[] {
  return admitsUnknown(create)
    ? [
        `the permission ${create.name} lets unknown callers create a record, and they cannot become its owner; use a permission that needs a user, like authenticated`,
      ]
    : [];
}

/** True if unknown callers are allowed. Asks the permission, because a custom permission may also allow them. */
function admitsUnknown(permission: Permission<string>): boolean {
  try {
    const decision: unknown = permission.decide({ identity: null, action: "create", params: {}, now: 0 });
    return isObject(decision) ? "only" in decision : decision === "allow";
  } catch {
    return false; // The permission ends the request of an unknown caller.
  }
}
