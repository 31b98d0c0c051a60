import { isObject, isText, shown, type Check, type Members } from "../../checking/members.ts";
import { shownName, suggestion } from "../../checking/nearest.ts";
import type { Action, Permission } from "../../permission/contract.ts";
import { catalogue } from "../../problem/catalogue.ts";

/** The actions of a resource. */
export const actions: Readonly<Record<Exclude<Action, "call">, true>> = {
  list: true,
  create: true,
  read: true,
  replace: true,
  update: true,
  delete: true,
};

/** What is wrong with permissions, of which there is one for each action. */
export function permissionsMistakes(permissions: Members): readonly string[] {
  return Object.entries(permissions).flatMap(([action, permission]) => {
    if (!Object.hasOwn(actions, action))
      return [`permission.${action} is of no action${suggestion(action, Object.keys(actions))}`];
    if (permission === undefined || isPermission(permission)) return [];
    return [`permission.${action} is ${shown(permission)}; ${permissionForm}`];
  });
}

export const permissionForm =
  "it has to be a permission: an object with a name and a function decide, like anyone or authenticated";

/** A permission, told with what one is where it is none. */
export const aPermission: Check = (value) => (isPermission(value) ? null : permissionForm);

/** Whether it can be asked. What it answers is looked at each time. */
export function isPermission(value: unknown): value is Permission<string> {
  if (!isObject(value) || !isText(value["name"]) || typeof value["decide"] !== "function") return false;
  return isTexts(value["narrows"]) && isTexts(value["columns"]) && isTexts(value["identity"]);
}

function isTexts(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isText));
}

/** What is wrong with permissions for rows that have these columns. */
export function columnMistakes(
  permissions: readonly Permission<string>[],
  columns: readonly string[],
): readonly string[] {
  const known = ["id", ...columns];
  return [...new Set(permissions)].flatMap(({ name, columns: needed = [] }) =>
    needed
      .filter((column) => !known.includes(column))
      .map(
        (column) =>
          `the permission ${name} narrows by the column ${column}, which is not there${suggestion(column, known)}`,
      ),
  );
}

/** Codes of the catalogue, and problems of one's own. */
export const aProblemList: Check = (value) => {
  if (!Array.isArray(value)) return 'it has to be a list, like ["conflict"]';
  const codes = value.filter((each) => !(isObject(each) && isText(each["code"])));
  const unknown = codes.map(String).find((code) => !Object.hasOwn(catalogue, code));
  if (unknown === undefined) return null;
  return `there is no problem ${shownName(unknown)}${suggestion(unknown, Object.keys(catalogue))}`;
};
