import type { Permission } from "../../access/permission/contract.ts";
import { collectFacts, type MemberFacts } from "../../access/permission/facts.ts";
import { isObject, isText, shown } from "../../core/checking/members.ts";
import { suggestion } from "../../core/checking/nearest.ts";
import type { Resource } from "../../resource/resource.ts";
import { findGroupColumn, findReferencedTable } from "../../resource/tables/references.ts";

/** A resource whose records say which user belongs to which group. */
export interface Memberships {
  readonly resource: Resource;
  /** The column with the id of the user. */
  readonly user: string;
  /** The column with the id of the group. For nested memberships, it may be the column of the parent. */
  readonly group: string;
}

/** Returns the column with the group in a table that the permission narrows. */
export function findColumnOn({ memberships, group, on }: MemberFacts, table: string): string {
  return on ?? findGroupColumn(memberships, group, table);
}

/** Returns the facts about the permissions of `memberOf` that a permission was made of. */
export function findMembers(permission: object): readonly MemberFacts[] {
  return collectFacts(permission).flatMap((facts) => (facts.kind === "member" ? [facts] : []));
}

/** Returns the columns by which a permission narrows a table. */
export function narrowedColumns(permission: Pick<Permission<string>, "columns">, table: string): readonly string[] {
  const { columns = [] } = permission;
  return [...new Set([...columns, ...findMembers(permission).map((each) => findColumnOn(each, table))])];
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
