import { isPermission } from "../../access/permission/checking.ts";
import { isObject, isText, wholeFrom, type ValueCheck } from "../../core/checking/members.ts";
import { suggestion } from "../../core/checking/nearest.ts";
import { isStored } from "../../resource/declaration/field.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Collection } from "../../store/store.ts";
import { findOnceField } from "./once.ts";

/** The largest number of records with the same value of a column. */
export interface Maximum {
  /** The column, for example that of the owner. */
  readonly per: string;
  readonly records: number;
}

/** Checks the option `table` of a mount. */
export const aTable: ValueCheck = (value) =>
  isObject(value) && isText(value["name"]) && Array.isArray(value["columns"])
    ? null
    : "it has to be a table with a name and columns";

/** The actions of a resource with a field of `shownOnce()`. */
const ONCE_ACTIONS: readonly string[] = ["list", "read", "create", "delete"];

/**
 * Returns the mistakes in the options of a mount about its records: their table, their number and what they show once.
 */
export function recordsMistakes(resource: Resource, options: Readonly<Record<string, unknown>>): readonly string[] {
  if (!isObject(resource.fields)) return [];
  const { maximum, table } = options;
  const stored = Object.keys(resource.fields).filter((name) => isStored(resource.fields[name]!));
  const columns = [...(resource.parentColumn === null ? [] : [resource.parentColumn]), ...stored];
  return [
    ...(isObject(maximum) ? maximumMistakes(resource, maximum, columns) : []),
    ...(aTable(table) === null ? tableMistakes(resource, table as Collection, columns) : []),
    ...onceMistakes(resource, options, columns),
  ];
}

function maximumMistakes(
  { fields }: Resource,
  { per, records }: Readonly<Record<string, unknown>>,
  columns: readonly string[],
): string[] {
  const wrong = wholeFrom(1)(records);
  return [
    ...(fields[String(per)]?.kind.column.type === "json"
      ? [`maximum.per: ${String(per)} is stored as JSON, which is not counted; name another column`]
      : []),
    ...(columns.includes(String(per))
      ? []
      : [`maximum.per: there is no column ${String(per)}${suggestion(String(per), columns)}`]),
    ...(wrong === null ? [] : [`maximum.records: ${wrong}`]),
  ];
}

function tableMistakes(resource: Resource, table: Collection, columns: readonly string[]): string[] {
  const types = new Map(table.columns.map(({ name, type }) => [name, type]));
  const once = findOnceField(resource);
  const needed = new Map<string, string | undefined>([
    ...columns.map((name) => [name, resource.fields[name]?.kind.column.type] as const),
    ...(once === null ? [] : [[once.column, "text"] as const]),
  ]);
  return [
    ...(resource.table === null ? [] : ["table: the resource has an existing table; leave one of the two out"]),
    ...(table.key === (resource.id === "integer" ? "integer" : "text")
      ? []
      : [`table: the ids of ${table.name} are of type ${table.key}; change the id of the resource`]),
    ...[...needed].flatMap(([name, type]) => {
      if (!types.has(name)) return [`table: ${table.name} has no column ${name}`];
      return type === undefined || types.get(name) === type
        ? []
        : [`table: the column ${name} of ${table.name} is of type ${types.get(name)!}, and the field of type ${type}`];
    }),
  ];
}

function onceMistakes(
  resource: Resource,
  { permission, arrays, actions, cache }: Readonly<Record<string, unknown>>,
  columns: readonly string[],
): string[] {
  const once = findOnceField(resource);
  if (once === null) return [];
  const others = isObject(permission) ? Object.keys(permission).filter((each) => !ONCE_ACTIONS.includes(each)) : [];
  const cure = `${resource.plural} show a value once, so they offer ${ONCE_ACTIONS.join(", ")} only`;
  return [
    ...(columns.includes(once.owner)
      ? []
      : [`field ${once.field}: there is no column ${once.owner}${suggestion(once.owner, columns)}`]),
    ...(isPermission(permission) ? [`${cure}; give a permission for each of these actions`] : []),
    ...(isPermission(permission) ? [] : others.map((each) => `permission.${each}: ${cure}; leave it out`)),
    ...(arrays === true ? [`arrays: ${cure}; leave it out`] : []),
    ...(isObject(actions) && Object.keys(actions).length > 0 ? [`actions: ${cure}; leave them out`] : []),
    ...(cache === undefined ? [] : ["cache: a shared cache must not store keys; leave it out"]),
  ];
}
