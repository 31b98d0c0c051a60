import { aPermission } from "../../access/permission/checking.ts";
import type { Action, Permission } from "../../access/permission/contract.ts";
import {
  type ValueCheck,
  isObject,
  isText,
  type Members,
  shown,
  shownWithoutText,
  joinMistakes,
} from "../../core/checking/members.ts";
import { shownName, suggestion } from "../../core/checking/nearest.ts";
import { catalogue } from "../../core/problem/catalogue.ts";
import type { Resource } from "../../resource/resource.ts";
import { findReferencedTable } from "../../resource/tables/references.ts";
import { buildTableName } from "../../resource/tables/table.ts";
import type { Collection } from "../../store/store.ts";
import { findColumnOn, findMembers, narrowedColumns } from "./memberships.ts";

/** The actions of a resource. */
export const actions: Readonly<Record<Exclude<Action, "call">, true>> = {
  list: true,
  create: true,
  read: true,
  replace: true,
  update: true,
  delete: true,
};

/** Returns the mistakes in the permissions of a mount, by action. */
export function permissionsMistakes(permissions: Members): readonly string[] {
  return Object.entries(permissions).flatMap(([action, permission]) => {
    if (!Object.hasOwn(actions, action))
      return [`permission.${action} is not an action${suggestion(action, Object.keys(actions))}`];
    const wrong = aPermission(permission);
    return wrong === null ? [] : [`permission.${action} is ${shown(permission)}; ${wrong}`];
  });
}

/** Returns the mistakes in permissions for the rows of a table. */
export function columnMistakes(
  permissions: readonly Permission<string>[],
  { name: table, key, columns }: Pick<Collection, "name" | "key" | "columns">,
): readonly string[] {
  const types = new Map<string, string>([["id", key], ...columns.map(({ name, type }) => [name, type] as const)]);
  const columnNames = [...types.keys()];
  return [...new Set(permissions)].flatMap((permission) => {
    const { name, userIds = [] } = permission;
    const needed = narrowedColumns(permission, table);
    const cure = (column: string): string => memberCure(permission, column, table);
    return [
      ...needed
        .filter((column) => !types.has(column))
        .map(
          (column) =>
            `the permission ${name} narrows by the column ${column}, which does not exist${suggestion(column, columnNames)}${cure(column)}`,
        ),
      ...needed
        .filter((column) => types.get(column) === "json")
        .map(
          (column) =>
            `the permission ${name} narrows by the column ${column}, which holds JSON or a list and cannot be compared; store the compared value in a separate column; for teams: memberOf(memberships)`,
        ),
      ...userIds
        .filter((column) => ![undefined, "integer", "json"].includes(types.get(column)))
        .map(
          (column) =>
            `the permission ${name} compares the column ${column} with the id of a user, but the column is of type ${types.get(column)}; name an integer column`,
        ),
    ];
  });
}

/** Returns the fix for a column of `memberOf` that does not exist. Empty for other permissions. */
function memberCure(permission: Permission<string>, column: string, table: string): string {
  const found = findMembers(permission).find((each) => findColumnOn(each, table) === column);
  if (found === undefined) return "";
  return findReferencedTable(found.memberships, found.group) === table
    ? "; this is the group itself, so leave on out: memberOf(…)"
    : `; name the column with the id of the group: memberOf(…, { on: "…" })`;
}

/** Returns the mistakes in permissions that are only for users (`sharesGroup`). */
export function sharesMistakes(permissions: readonly Permission<string>[], resource: Resource): readonly string[] {
  if (buildTableName(resource) === "users") return [];
  return [...new Set(permissions)]
    .filter(({ shares = [] }) => shares.length > 0)
    .map(
      ({ name }) =>
        `the permission ${name} is for users, so it belongs into accounts({ permissions: { list, read } }); narrow ${resource.plural} with memberOf`,
    );
}

/** Checks a list of codes from the catalogue and of custom problems. */
export const aProblemList: ValueCheck = (value) => {
  if (!Array.isArray(value)) return 'it has to be a list, like ["conflict"]';
  const codes = value.filter((each) => !(isObject(each) && isText(each["code"])));
  const unknown = codes.map(String).filter((code) => !Object.hasOwn(catalogue, code));
  return joinMistakes(
    unknown.map((code) => `there is no problem ${shownName(code)}${suggestion(code, Object.keys(catalogue))}`),
  );
};

/** Checks that a list contains features. Whether the service has these features is checked at its start. */
export const aFeatureList: ValueCheck = (value) => {
  if (!Array.isArray(value)) return "it has to be a list of features; defineFeature fills it in";
  const at = Array.from(value).findIndex((each) => !isFeature(each));
  if (at === -1) return null;
  return `item ${at} is ${shownWithoutText(value[at])}, not a feature; create the feature once and pass it: const people = accounts(); tokenLogin(people)`;
};

function isFeature(value: unknown): boolean {
  return isObject(value) && isText(value["name"]) && typeof value["setUp"] === "function";
}
