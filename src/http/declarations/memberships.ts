import { collectParts } from "../../access/permission/implying.ts";
import { isObject, isText, shown } from "../../core/checking/members.ts";
import { suggestion } from "../../core/checking/nearest.ts";
import type { Resource } from "../../resource/resource.ts";
import { buildTableName, formatTableName } from "../../resource/tables/table.ts";

/** A resource whose records say which user belongs to which group. */
export interface Memberships {
  readonly resource: Resource;
  /** The column with the id of the user. */
  readonly user: string;
  /** The column with the id of the group. For nested memberships, it may be the column of the parent. */
  readonly group: string;
}

/** A permission that narrows to the rows of the caller's groups. */
export interface MemberPermission extends Memberships {
  /** The column of the narrowed resource that holds the group. */
  readonly on: string;
}

const memberPermissions = new WeakMap<object, MemberPermission>();

/** Stores the facts about a permission of `memberOf`, for the checks at the start. Returns the permission. */
export function registerMembers<P extends object>(permission: P, facts: MemberPermission): P {
  memberPermissions.set(permission, facts);
  return permission;
}

/** Returns the facts about the permissions of `memberOf` that a permission was made of. */
export function findMembers(permission: object): readonly MemberPermission[] {
  return collectParts(permission).flatMap((part) => memberPermissions.get(part) ?? []);
}

/** The names of the columns of memberships, if there are several. */
export interface MembershipColumns {
  readonly of?: string | undefined;
  readonly user?: string | undefined;
}

/** The tables of users. */
const USERS: ReadonlySet<string> = new Set(["users", "accounts"]);

/** Finds the references to the user and to the group. Returns the mistakes if one of them is missing or unclear. */
export function readMemberships(resource: Resource, { of, user }: MembershipColumns): Memberships | readonly string[] {
  const input: unknown = resource;
  if (!isObject(input) || !isText(input["path"]) || !isObject(input["fields"]))
    return [`the memberships are ${shown(input)}; give it the resource: memberOf(memberships)`];
  const columns = collectReferences(resource);
  const users = columns.filter(({ table }) => USERS.has(table)).map(({ name }) => name);
  const groups = columns.filter(({ table }) => !USERS.has(table)).map(({ name }) => name);
  const mistakes: string[] = [];
  const userColumn = choose(users, user, {
    option: "user",
    what: "a user",
    like: 'declare user_id: reference("users")',
    all: resource,
    mistakes,
  });
  const group = choose(groups, of, {
    option: "of",
    what: "a group",
    like: "declare a reference to the group: project_id: reference(project)",
    all: resource,
    mistakes,
  });
  for (const name of [userColumn, group])
    if (name !== null && resource.fields[name]?.options.optional === true)
      mistakes.push(
        `${resource.path}: ${name} is optional, but a membership needs a user and a group; remove optional`,
      );
  return userColumn === null || group === null || mistakes.length > 0
    ? mistakes
    : { resource, user: userColumn, group };
}

/** Returns the table of the records that a column of a resource refers to. Returns null if it refers to none. */
export function findReferencedTable({ fields, parentColumn, within }: Resource, name: string): string | null {
  if (name === parentColumn) return buildTableName(within!);
  const to = Object.hasOwn(fields, name) ? fields[name]!.kind.references : undefined;
  return to === undefined ? null : formatTableName(to.resource);
}

interface ReferenceColumn {
  readonly name: string;
  readonly table: string;
}

function collectReferences(resource: Resource): readonly ReferenceColumn[] {
  const names = [...(resource.parentColumn === null ? [] : [resource.parentColumn]), ...Object.keys(resource.fields)];
  return names.flatMap((name) => {
    const table = findReferencedTable(resource, name);
    return table === null ? [] : [{ name, table }];
  });
}

interface Choice {
  readonly option: "of" | "user";
  readonly what: string;
  readonly like: string;
  readonly all: Resource;
  readonly mistakes: string[];
}

/** Returns the named column, or else the only one. Returns null and adds a mistake if there is none or no clear one. */
function choose(
  names: readonly string[],
  named: string | undefined,
  { option, what, like, all: { path }, mistakes }: Choice,
): string | null {
  if (named !== undefined) {
    if (names.includes(named)) return named;
    mistakes.push(`${option}: ${path} has no column ${named} that refers to ${what}${suggestion(named, names)}`);
    return null;
  }
  if (names.length === 1) return names[0]!;
  mistakes.push(
    names.length === 0
      ? `${path} has no reference to ${what}; ${like}`
      : `${path} has several references to ${what}: ${names.join(", ")}; name one: ${option}: "${names[0]!}"`,
  );
  return null;
}
