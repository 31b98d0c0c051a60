import { inspect } from "node:util";
import type { Action, Permission } from "../permission/contract.ts";

/** A value that may be anything, as far as it has members. */
export type Members = Readonly<Record<string, unknown>>;
/** What is wrong with a value, and what it has to be; null where nothing is. */
export type Check = (value: unknown) => string | null;

/** What is written as a plain object has these members and no others: a name that means nothing is a slip that nobody would notice. */
export function membersMistakes(value: Members, members: Readonly<Record<string, Check>>): string[] {
  const isPlain = Object.getPrototypeOf(value) === Object.prototype;
  const unknown = isPlain ? Object.keys(value).filter((name) => !Object.hasOwn(members, name)) : [];
  return [
    ...unknown.map((name) => `${name} means nothing here; its members are ${Object.keys(members).join(", ")}`),
    ...Object.entries(members).flatMap(([name, check]) => {
      const wrong = check(value[name]);
      return wrong === null ? [] : [`${name} is ${shown(value[name])}; ${wrong}`];
    }),
  ];
}

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
      return [`permission.${action} means nothing; the actions are ${Object.keys(actions).join(", ")}`];
    if (permission === undefined || isPermission(permission)) return [];
    return [`permission.${action} is ${shown(permission)}; ${permissionForm}`];
  });
}

export const text: Check = (value) => (isText(value) && value !== "" ? null : "it has to be a text");
export const aFunction: Check = (value) => (typeof value === "function" ? null : "it has to be a function");
export const aBoolean: Check = (value) => (typeof value === "boolean" ? null : "it has to be true or false");
export const anObject: Check = (value) => (isObject(value) ? null : "it has to be an object");
export const texts: Check = (value) =>
  Array.isArray(value) && value.every(isText) ? null : 'it has to be a list of texts, like ["application/json"]';

export function oneOf(...values: readonly string[]): Check {
  return (value) => (isText(value) && values.includes(value) ? null : `it has to be one of ${values.join(", ")}`);
}

export function matching(form: RegExp, cure: string): Check {
  return (value) => (isText(value) && form.test(value) ? null : cure);
}

export function optional(check: Check): Check {
  return (value) => (value === undefined ? null : check(value));
}

export const permissionForm =
  "it has to be a permission: an object with a name and a function decide, like anyone or authenticated";

/** Whether it can be asked. What it answers is looked at each time. */
export function isPermission(value: unknown): value is Permission {
  if (!isObject(value) || !isText(value["name"]) || typeof value["decide"] !== "function") return false;
  const { narrows } = value;
  return narrows === undefined || (Array.isArray(narrows) && narrows.every(isText));
}

export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Never what is in it: an object may hold a secret. */
export function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  return isObject(value) ? "an object" : inspect(value).slice(0, 60);
}
