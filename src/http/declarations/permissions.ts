import { isPermission } from "../../access/permission/checking.ts";
import type { Action, Permission } from "../../access/permission/permission.ts";
import type { Members, ThereIsNo } from "../../core/checking/members.ts";
import type {
  ColumnOf,
  ComparedOf,
  GroupRows,
  GroupRowsIn,
  Resource,
  TableWrite,
  UserIdOf,
} from "../../resource/resource.ts";

/** An action on a resource. Custom actions have their own permissions. */
export type ResourceAction = Exclude<Action, "call">;

/**
 * The permissions of a resource: one for all actions, or one for each. An action without a permission is not offered.
 */
export type PermissionsOf<R extends Resource> =
  | PermissionFor<R>
  | { readonly [A in ResourceAction]?: PermissionFor<R> };

/** A permission that fits the columns of a resource. */
export type PermissionFor<R extends Resource> = Permission<ComparedOf<R> | GroupRowsIn<R>, UserIdOf<R>>;

/** The permissions of any resource. */
export type AnyPermissions = Permission<string> | { readonly [A in ResourceAction]?: Permission<string> };

/**
 * The compiler error for permissions that do not fit the resource, in one line. It names the wrong column and columns
 * with a similar beginning.
 */
export type FittingPermissions<R extends Resource, Q> = [Q] extends [PermissionFor<R>]
  ? unknown
  : { readonly permission: Q extends { readonly decide: unknown } ? Fits<R, Q> : FitEach<R, Q> };

type FitEach<R extends Resource, Q> = {
  readonly [A in keyof Q]: A extends ResourceAction
    ? Fits<R, Q[A]>
    : string extends A
      ? unknown
      : ThereIsNo<A, ResourceAction>;
};

type Fits<R extends Resource, Q> = [Q] extends [PermissionFor<R> | undefined]
  ? unknown
  : Q extends Permission<infer C, infer U>
    ? [Named<R, C>] extends [ColumnOf<R>]
      ? [Named<R, C>] extends [ComparedOf<R>]
        ? `${Exclude<U, UserIdOf<R>>} cannot hold the id of a user`
        : `${Exclude<Named<R, C>, ComparedOf<R>>} holds JSON or a list, which cannot be compared; for teams: memberOf(…)`
      : ThereIsNo<Exclude<Named<R, C>, ColumnOf<R>>, ColumnOf<R>>
    : unknown;

/** The columns that a permission needs in a resource. */
type Named<R extends Resource, C extends string> =
  Exclude<C, GroupRowsIn<R>> extends infer Needed
    ? Needed extends GroupRows<infer Column, string>
      ? Column
      : Needed
    : never;

/** Returns the permissions by action. A single permission covers only the actions that the table supports. */
export function resolvePermissions(
  permission: PermissionsOf<Resource>,
  resource: Resource,
): Readonly<Partial<Record<ResourceAction, Permission<string>>>> {
  if (!isPermission(permission)) return Object.freeze({ ...permission });
  const offered = Object.keys(tableWrites).filter((action) => isWritten(resource, action as ResourceAction));
  return Object.freeze(Object.fromEntries(offered.map((action) => [action, permission])));
}

/** The write that each action does on a row of an existing table. */
const tableWrites: Readonly<Record<ResourceAction, TableWrite | null>> = {
  list: null,
  create: "create",
  read: null,
  replace: "update",
  update: "update",
  delete: "delete",
};

function isWritten({ table }: Resource, action: ResourceAction): boolean {
  const write = tableWrites[action];
  return table === null || write === null || table.writes.includes(write);
}

/**
 * Returns a mistake for each action that has a permission, although the resource does not declare the action's write to
 * its existing table.
 */
export function writesMistakes(resource: Resource, permission: Members): readonly string[] {
  return Object.keys(tableWrites)
    .filter((action) => permission[action] !== undefined && !isWritten(resource, action as ResourceAction))
    .map(
      (action) =>
        `permission.${action}: the resource does not allow this kind of write to the table ${resource.table!.name}; declare writes: ["${tableWrites[action as ResourceAction]!}"] there, or leave ${action} out`,
    );
}
