import {
  aFunction,
  isObject,
  isText,
  membersMistakes,
  optional,
  buildListCheck,
  text,
  texts,
  joinMistakes,
} from "../../core/checking/members.ts";
import type { ValueCheck, Checks } from "../../core/checking/members.ts";
import { everyAction, type Permission } from "./contract.ts";

export const permissionForm =
  "it has to be a permission: an object with a name and a function decide, like anyone or authenticated";

/** Returns true if a value has the form of a permission. `requireDecision` checks each decision later. */
export function isPermission(value: unknown): value is Permission<string> {
  return isObject(value) && isText(value["name"]) && typeof value["decide"] === "function";
}

/**
 * Checks a permission. If the value is not a permission, the message explains what a permission is. Otherwise it names
 * the wrong members.
 */
export const aPermission: ValueCheck = (value) =>
  isObject(value) && isPermission(value) ? joinMistakes(membersMistakes(value, permissionMembers)) : permissionForm;

/** Checks a list of resources. */
const resources: ValueCheck = (value) =>
  Array.isArray(value) && value.every((each) => isObject(each) && isText(each["path"]) && isObject(each["fields"]))
    ? null
    : "it has to be a list of resources, like [memberships]";

/** Checks memberships with their column of the user. */
const someShares: ValueCheck = (value) =>
  Array.isArray(value) && value.every((each) => isObject(each) && isText(each["user"]) && isObject(each["memberships"]))
    ? null
    : 'it has to be memberships with their column of the user, like [{ memberships, user: "user_id" }]';

const permissionMembers: Checks & Readonly<Record<keyof Permission, ValueCheck>> = {
  name: text,
  description: optional(text),
  narrows: optional(buildListCheck(...everyAction)),
  columns: optional(texts),
  userIds: optional(texts),
  memberships: optional(resources),
  shares: optional(someShares),
  identity: optional(texts),
  roles: optional(texts),
  problems: optional(texts),
  decide: aFunction,
};
