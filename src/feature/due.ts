import { DeclarationError } from "../core/checking/declaration-error.ts";
import { isObject, isText } from "../core/checking/members.ts";
import { shownName, suggestion } from "../core/checking/nearest.ts";
import { requireChanges } from "../store/checking.ts";
import type { Change, Collection, Where } from "../store/store.ts";
import { requireChangeList, type NamedUpkeep } from "./upkeep.ts";

/**
 * Throws `DeclarationError` if the changes of upkeep name a table or a column that the service does not have, because
 * every run of the upkeep would fail. Calls `due` once for this check. Ignores an error of `due`, because it may be
 * temporary. If the error stays, the first run of the upkeep reports it.
 */
export function requireDue(upkeep: readonly NamedUpkeep[], tables: readonly Collection[], now: number): void {
  const tablesByName = new Map(tables.map((table) => [table.name, table]));
  const found = upkeep.flatMap(({ feature, due }) => {
    const place = feature === undefined ? "upkeep" : `feature ${feature}: upkeep`;
    return collectMistakes(due, tablesByName, now).map((mistake) => `${place}: ${mistake}`);
  });
  if (found.length > 0) throw new DeclarationError([...new Set(found)]);
}

function collectMistakes(
  due: (now: number) => unknown,
  tablesByName: ReadonlyMap<string, Collection>,
  now: number,
): readonly string[] {
  let result: unknown;
  try {
    result = due(now);
  } catch {
    return [];
  }
  try {
    const changes = requireChangeList(result);
    requireChanges({ changes });
    return changes.flatMap((change) => changeMistakes(change, tablesByName));
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function changeMistakes(change: Change, tablesByName: ReadonlyMap<string, Collection>): readonly string[] {
  return [
    ...missingIn(change.collection, namesIn(change), tablesByName),
    ...("where" in change ? missingInside(change.where, tablesByName) : []),
  ];
}

/** Returns the tables and columns of other tables that a condition names and that do not exist. */
function missingInside(where: Where, tablesByName: ReadonlyMap<string, Collection>): readonly string[] {
  return conditionsIn(where).flatMap((each) => {
    if ("link" in each) return missingIn(each.link, [each.record, each.linked], tablesByName);
    if (!("among" in each)) return [];
    const { collection, select, where: inner } = each.among;
    return [
      ...missingIn(collection, [select, ...columnsIn(inner)], tablesByName),
      ...missingInside(inner, tablesByName),
    ];
  });
}

function missingIn(
  { name }: Collection,
  names: readonly string[],
  tablesByName: ReadonlyMap<string, Collection>,
): readonly string[] {
  const table = tablesByName.get(name);
  if (table === undefined)
    return [
      `there is no table ${shownName(name)}${suggestion(name, [...tablesByName.keys()])}; add it to the collections of the feature`,
    ];
  const columns = ["id", ...table.columns.map((column) => column.name)];
  return names
    .filter((column) => !columns.includes(column))
    .map((column) => `${name} has no column ${shownName(column)}${suggestion(column, columns)}`);
}

/** Returns the columns that a change names. */
function namesIn(change: Change): readonly string[] {
  return [
    ...("where" in change ? columnsIn(change.where) : []),
    ...("values" in change && isObject(change.values) ? Object.keys(change.values) : []),
    ...("column" in change && isText(change.column) ? [change.column] : []),
  ];
}

function columnsIn(where: Where): readonly string[] {
  return conditionsIn(where).flatMap((each) => ("column" in each ? [each.column] : []));
}

type LeafCondition = Extract<
  Where,
  { readonly column: unknown } | { readonly word: unknown } | { readonly link: unknown }
>;

function conditionsIn(where: Where): readonly LeafCondition[] {
  if ("all" in where) return where.all.flatMap(conditionsIn);
  if ("any" in where) return where.any.flatMap(conditionsIn);
  return "not" in where ? conditionsIn(where.not) : [where];
}
