import { DeclarationError } from "../core/checking/declaration-error.ts";
import { markWithParts } from "../core/copy.ts";
import { readDeprecation } from "../core/deprecation.ts";
import type { Operator } from "../core/operators.ts";
import type {
  ComputedField,
  Deprecations,
  ExistingTable,
  Fields,
  FilterDeclaration,
  PageSize,
  ParentColumnOf,
  ParentIdOf,
  Resource,
  ResourceDeclaration,
  TableWrite,
} from "./declaration/declaration.ts";
import { isShown, type ComputedSQL, type Field } from "./declaration/field.ts";
import type { IdKind } from "./declaration/types.ts";
import type { ComputedFields } from "./declaration/types.ts";
import { breakTies, readSortNames } from "./default-sort.ts";
import { collectMistakes } from "./mistakes.ts";
import { DEFAULT_LIMIT, MAX_LIMIT } from "./page-size.ts";

export { DeclarationError } from "../core/checking/declaration-error.ts";
export type { ComputedField, ExistingTable, Fields, Operator, Resource, ResourceDeclaration, TableWrite };
export type * from "./declaration/types.ts";

/**
 * Declares a resource. Throws `DeclarationError` with all mistakes together.
 *
 * @example
 * ```ts
 * import { caller, defineResource, integer, text } from "latchkey";
 *
 * export const book = defineResource({
 *   name: "book",
 *   fields: {
 *     title: text({ maxLength: 200 }),
 *     pages: integer({ minimum: 1, optional: true }),
 *     owner_id: integer({ default: caller }),
 *   },
 *   filters: { title: ["eq", "starts"] },
 *   sorts: ["title"],
 * });
 * ```
 */
export function defineResource<
  const F extends Fields,
  const N extends string,
  Outer extends Resource | undefined = undefined,
  const I extends IdKind = "integer",
  const C extends Fields = {},
>(
  declaration: ResourceDeclaration<F, N, Outer, I, C>,
): Resource<[keyof C] extends [never] ? F : F & ComputedFields<C>, N, ParentColumnOf<Outer>, I, ParentIdOf<Outer>>;
export function defineResource(declaration: ResourceDeclaration<Fields>): Resource {
  const mistakes = collectMistakes(declaration);
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
  const { name, plural = `${name}s`, within = null, fields } = declaration;
  const parentColumn = within === null ? null : `${within.name}_id`;
  return Object.freeze(
    markWithParts({
      name,
      plural,
      path: within === null ? `/${plural}` : `${within.path}/{${parentColumn}}/${plural}`,
      within,
      id: declaration.id ?? "integer",
      parentColumn,
      fields: Object.freeze({ ...fields, ...computedFields(declaration) }),
      filters: new Map(collectFilters(declaration).map(([field, { operators }]) => [field, operators])),
      deprecations: collectDeprecations(declaration),
      sorts: ["id", ...(declaration.sorts ?? [])],
      defaultSort: Object.freeze(breakTies(readSortNames(declaration.defaultSort ?? "id"))),
      unique: (declaration.unique ?? []).map((set) => Object.freeze([...set])),
      search: declaration.search ?? [],
      removed: declaration.removed ?? {},
      pageSize: resolvePageSize(declaration),
      scans: declaration.scans ?? false,
      table: tableWithin(declaration),
      check: declaration.check ?? null,
      label: declaration.label === undefined ? null : Object.freeze({ ...declaration.label }),
      labelField: declaration.labelField ?? null,
      description: declaration.description ?? null,
    }),
  );
}

function computedFields({ computed = {} }: ResourceDeclaration<Fields>): Fields {
  return Object.fromEntries(
    Object.entries(computed).map(([name, declared]): [string, Field] => [
      name,
      {
        kind: declared.as.kind,
        options: { ...declared.as.options, readOnly: true },
        computed:
          "sql" in declared ? resolveExpressions(declared.sql) : (declared.from as NonNullable<Field["computed"]>),
      },
    ]),
  );
}

function resolveExpressions(sql: string | ComputedSQL): ComputedSQL {
  return typeof sql === "string" ? { sqlite: sql, postgres: sql } : sql;
}

function collectFilters({
  filters = {},
}: ResourceDeclaration<Fields>): readonly (readonly [string, FilterDeclaration])[] {
  return Object.entries(filters).map(([field, declared = []]) => [
    field,
    "operators" in declared ? declared : { operators: declared },
  ]);
}

function collectDeprecations(declaration: ResourceDeclaration<Fields>): Deprecations | null {
  const fields = Object.entries(declaration.fields).map(
    ([name, { options }]) => [name, readDeprecation(`field ${name}`, options.deprecated)] as const,
  );
  const filters = collectFilters(declaration).map(
    ([name, { deprecated }]) => [name, readDeprecation(`filter ${name}`, deprecated)] as const,
  );
  const isGoing = ([, found]: (typeof fields)[number]): boolean => found.length > 0;
  if (![...fields, ...filters].some(isGoing)) return null;
  return { fields: new Map(fields.filter(isGoing)), filters: new Map(filters.filter(isGoing)) };
}

function tableWithin({
  table,
  columns = {},
  writes = [],
  revision,
}: ResourceDeclaration<Fields>): ExistingTable | null {
  if (table === undefined) return null;
  return {
    name: table,
    columns: columns as Readonly<Record<string, string>>,
    writes,
    revision: revision ?? "database",
  };
}

function resolvePageSize({ pageSize = {} }: ResourceDeclaration<Fields>): PageSize {
  const { maximum = MAX_LIMIT } = pageSize;
  return { maximum, default: pageSize.default ?? Math.min(DEFAULT_LIMIT, maximum) };
}

/** Returns the names of the fields in representations, `id` first. */
export function shownFields(resource: Resource): readonly string[] {
  return ["id", ...Object.keys(resource.fields).filter((name) => isShown(resource.fields[name]!))];
}
