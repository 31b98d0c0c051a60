import type { Draw } from "../../harness/draw.ts";

/** The column that ties the records of a resource to callers, and the permissions that use it. */
export interface Tie {
  /** The declaration of the column. Null: the records belong to no caller. */
  readonly column: string | null;
  /** Permissions that need this column. Each is an expression. */
  readonly permissions: readonly string[];
}

/** The permissions of a resource, by action. An action without one is not offered. */
export type DrawnPermissions = Readonly<
  Partial<Record<"list" | "read" | "create" | "replace" | "update" | "delete", string>>
>;

/** The rules of fields, by the names of their constants: permissions that decide by the caller alone. */
export const fieldRules: Readonly<Record<string, string>> = {
  hr: 'anyOf(hasRole("hr"), administrator)',
  hrAlone: 'hasRole("hr")',
  administrators: "anyOf(administrator)",
  editors: 'anyOf(hasRole("editor"), hr)',
  othersThanEditors: 'allOf(authenticated, not(hasRole("editor")))',
  rolesAboveUsers: 'allOf(authenticated, not(hasRole("user")))',
  known: "anyOf(authenticated)",
  writers: 'scope("write")',
};

const forCallers = ['hasRole("editor")', 'anyOf(hasRole("editor"), administrator)', "hr"] as const;

/**
 * Draws the permissions of a resource so that no caller may change what it may not read: the permission to read allows
 * at least what each permission to change allows.
 */
export function drawPermissions(draw: Draw, { permissions }: Tie, custom: string | null): DrawnPermissions {
  const strong = draw.pick([...permissions, ...permissions, ...forCallers, ...(custom === null ? [] : [custom])]);
  const write = draw.below(3) === 0 ? `anyOf(${strong}, administrator)` : strong;
  const more = draw.pick([...permissions, ...forCallers, "readOnly", 'allOf(authenticated, scope("read"))']);
  const read = draw.pick([write, `anyOf(${write}, ${more})`, "authenticated", "anyone"]);
  const list = draw.pick([read, read, read, write]);
  const isOffered = (): boolean => draw.below(5) > 0;
  return {
    list,
    read,
    ...(isOffered() ? { create: draw.pick([write, write, "authenticated"]) } : {}),
    ...(isOffered() ? { replace: write } : {}),
    ...(isOffered() ? { update: draw.pick([write, write, `allOf(${write}, authenticated)`]) } : {}),
    ...(isOffered() ? { delete: draw.pick([write, write, `allOf(${write}, administrator)`]) } : {}),
  };
}

/** Draws a custom permission that narrows to rows by `column` and the words of `state`. Returns its declaration. */
export function drawCustom(draw: Draw, name: string, column: string | null, membership: string | null): string {
  const state = draw.pick([
    '{ column: "visibility", operator: "eq", value: "open" }',
    '{ column: "visibility", operator: "in", value: ["open", "shared"] }',
    '{ column: "visibility", operator: "ne", value: "closed" }',
    '{ not: { column: "visibility", operator: "eq", value: "closed" } }',
    '{ column: "visibility", operator: "null", value: false }',
    '{ column: "rank", operator: "gte", value: 2 }',
    '{ all: [{ column: "rank", operator: "lt", value: 3 }, { column: "visibility", operator: "ne", value: "closed" }] }',
  ]);
  const own =
    membership !== null
      ? `{ column: "group_id", memberships: ${membership}, select: "group_id", where: { column: "user_id", operator: "eq", value: identity.id } }`
      : column === null
        ? null
        : `{ column: "${column}", operator: "eq", value: identity.id }`;
  const rows =
    own === null ? state : draw.pick([`{ any: [${own}, ${state}] }`, `{ all: [${own}, ${state}] }`, own, state]);
  const columns = ["visibility", "rank", ...(own === null ? [] : [column ?? "group_id"])];
  return [
    `const ${name} = {`,
    `  name: "${name}",`,
    '  narrows: ["list", "create", "read", "replace", "update", "delete", "call"],',
    `  columns: ${JSON.stringify(columns)},`,
    ...(membership === null ? [] : [`  memberships: [${membership}],`]),
    `  decide: ({ identity }) => identity === null ? "deny" : identity.role === "admin" ? "allow" : { only: ${rows} },`,
    "};",
  ].join("\n");
}
