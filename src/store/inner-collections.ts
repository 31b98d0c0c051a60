import { isObject } from "../core/checking/members.ts";
import type { Collection, Where } from "./rows.ts";

/** A condition on the values of other rows. */
export type AmongCondition = Extract<Where, { readonly among: unknown }>;

/**
 * Replaces each collection that a condition names (`link`, `among`). Returns the same object if no collection is
 * replaced, so that a page or a count can be cached under it. Returns an invalid condition unchanged: its checks come
 * later.
 */
export function replaceCollections(where: Where, replace: (collection: Collection) => Collection): Where {
  const given: unknown = where;
  if (!isObject(given)) return where;
  if ("all" in where) {
    const all = replaceInAll(where.all, replace);
    return all === where.all ? where : { all };
  }
  if ("any" in where) {
    const any = replaceInAll(where.any, replace);
    return any === where.any ? where : { any };
  }
  if ("not" in where) {
    const not = replaceCollections(where.not, replace);
    return not === where.not ? where : { not };
  }
  if ("link" in where) {
    const link = replace(where.link);
    return link === where.link ? where : { ...where, link };
  }
  if (!("among" in where)) return where;
  const { column, among } = where;
  if (!isObject(among) || !isObject(among.collection)) return where;
  const collection = replace(among.collection);
  const inner = replaceCollections(among.where, replace);
  if (collection === among.collection && inner === among.where) return where;
  return { column, among: { collection, select: among.select, where: inner } };
}

function replaceInAll(many: readonly Where[], replace: (collection: Collection) => Collection): readonly Where[] {
  const given: unknown = many;
  if (!Array.isArray(given)) return many;
  let changed: Where[] | null = null;
  for (const [at, each] of many.entries()) {
    const replaced = replaceCollections(each, replace);
    if (replaced === each && changed === null) continue;
    changed ??= many.slice(0, at);
    changed.push(replaced);
  }
  return changed ?? many;
}

/** Returns the collections that a condition names, apart from the collection that it narrows. */
export function listCollections(where: Where | null): readonly Collection[] {
  const found: Collection[] = [];
  if (where !== null)
    replaceCollections(where, (collection) => {
      found.push(collection);
      return collection;
    });
  return found;
}

/** Replaces each collection in a condition by one that has only its name, so that it can be sent to another thread. */
export function nameInner<W extends Where | null>(where: W): W {
  return where === null ? where : (replaceCollections(where, nameOnly) as W);
}

function nameOnly({ name, key }: Collection): Collection {
  return { name, key, columns: [] };
}

/** Returns true if a condition depends on other rows (`among`), at any depth. */
export function hasAmong(where: Where): boolean {
  if ("all" in where) return where.all.some(hasAmong);
  if ("any" in where) return where.any.some(hasAmong);
  if ("not" in where) return hasAmong(where.not);
  return "among" in where;
}

/** The conditions that must all be true: those that depend on other rows, and the rest. */
export interface SplitConditions {
  readonly narrowing: readonly Where[];
  readonly rest: readonly Where[];
}

/** Splits a condition by `hasAmong`. */
export function splitConditions(where: Where | null): SplitConditions {
  const narrowing: Where[] = [];
  const rest: Where[] = [];
  const add = (each: Where): void => {
    if ("all" in each) each.all.forEach(add);
    else (hasAmong(each) ? narrowing : rest).push(each);
  };
  if (where !== null) add(where);
  return { narrowing, rest };
}
