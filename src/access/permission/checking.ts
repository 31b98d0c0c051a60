import {
  aFunction,
  isObject,
  isText,
  membersMistakes,
  optional,
  someOf,
  text,
  texts,
  together,
} from "../../core/checking/members.ts";
import type { Check, Checks } from "../../core/checking/members.ts";
import { everyAction, type Permission } from "./contract.ts";

export const permissionForm =
  "it has to be a permission: an object with a name and a function decide, like anyone or authenticated";

/** Whether it can be asked. What it answers is looked at each time. */
export function isPermission(value: unknown): value is Permission<string> {
  return isObject(value) && isText(value["name"]) && typeof value["decide"] === "function";
}

/** A permission, told with what one is where it is none, and with what is wrong in it. */
export const aPermission: Check = (value) =>
  isObject(value) && isPermission(value) ? together(membersMistakes(value, permissionMembers)) : permissionForm;

const permissionMembers: Checks & Readonly<Record<keyof Permission, Check>> = {
  name: text,
  narrows: optional(someOf(...everyAction)),
  columns: optional(texts),
  userIds: optional(texts),
  identity: optional(texts),
  roles: optional(texts),
  decide: aFunction,
};
