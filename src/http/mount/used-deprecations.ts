import { isObject } from "../../core/checking/members.ts";
import type { Deprecated } from "../../core/deprecation.ts";
import type { QueryCondition } from "../../resource/conditions.ts";
import type { SortField } from "../../resource/declaration/declaration.ts";
import type { Resource } from "../../resource/resource.ts";

const NOTHING: readonly Deprecated[] = [];

/** The other parts of a list query that contain names of fields. */
interface QueryFieldNames {
  readonly sort: readonly SortField[];
  readonly fields: readonly string[] | null;
}

/** Returns the deprecated parts of a resource that a list query uses: in a filter, in the order, or in `fields`. */
export function collectDeprecatedInList(
  { deprecations, defaultSort }: Resource,
  conditions: readonly QueryCondition[],
  { sort, fields }: QueryFieldNames,
): readonly Deprecated[] {
  if (deprecations === null) return NOTHING;
  const filtered = conditions.flatMap(fieldsIn);
  // A caller who asked for no order uses no field of it.
  const sorted = sort === defaultSort ? [] : sort.map(({ field }) => field);
  const named = [...filtered, ...sorted, ...(fields ?? [])];
  return [
    ...named.flatMap((name) => deprecations.fields.get(name) ?? []),
    ...filtered.flatMap((name) => deprecations.filters.get(name) ?? []),
  ];
}

/** Returns the deprecated fields in a body. */
export function collectDeprecatedInBody({ deprecations }: Resource, body: unknown): readonly Deprecated[] {
  if (deprecations === null || !isObject(body)) return NOTHING;
  return collectDeprecatedAmong(deprecations, Object.keys(body));
}

/** Returns the given fields that are deprecated. */
export function collectDeprecatedFields({ deprecations }: Resource, names: readonly string[]): readonly Deprecated[] {
  return deprecations === null ? NOTHING : collectDeprecatedAmong(deprecations, names);
}

function collectDeprecatedAmong(
  { fields }: NonNullable<Resource["deprecations"]>,
  names: readonly string[],
): readonly Deprecated[] {
  return names.flatMap((name) => fields.get(name) ?? NOTHING);
}

function fieldsIn(condition: QueryCondition): readonly string[] {
  if ("all" in condition) return condition.all.flatMap(fieldsIn);
  if ("any" in condition) return condition.any.flatMap(fieldsIn);
  return "not" in condition ? fieldsIn(condition.not) : [condition.field];
}
