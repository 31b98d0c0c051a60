import { isObject, isSnakeCase, isText, shown, type Members, type Mistake } from "../../core/checking/members.ts";
import { suggestion } from "../../core/checking/nearest.ts";
import { isShown } from "../../resource/declaration/field.ts";
import type { ReferenceOf, Resource } from "../../resource/resource.ts";
import { formatTableName, buildTableName } from "../../resource/tables/table.ts";
import type { Collection } from "../../store/store.ts";

/** The part of a mount that relations need. */
interface RelationMount<R extends Resource = Resource> {
  readonly resource: R;
  readonly collection: Collection;
  readonly permissions: { readonly list?: unknown; readonly read?: unknown };
}

/**
 * The relations of a record, by name. Each is a column that refers to another record (`user: "user_id"`), or the mount
 * of a nested resource (`items: mountedItems`).
 */
export type RelationsOf<R extends Resource, E> = {
  readonly [Name in keyof E]: E[Name] extends RelationMount<infer Inner>
    ? `${R["name"]}_id` extends Inner["parentColumn"]
      ? RelationMount
      : never
    : ReferenceOf<R> | NoReference<E[Name], ReferenceOf<R>>;
};

/** The compiler error for a column that refers to no record. */
type NoReference<Name, Known> = Name extends Known
  ? never
  : Name extends string
    ? Mistake<`no field ${Name} refers to a record`>
    : never;

/** The relations of any resource. */
export type Relations = Readonly<Record<string, string | RelationMount>>;

/** A relation that can be expanded. */
export interface Relation<To> {
  readonly name: string;
  /**
   * `one`: the record that a column refers to. `several`: the records of a list of ids. `many`: the records of a nested
   * collection.
   */
  readonly kind: "one" | "many" | "several";
  /**
   * The column with the reference. For `many`, it is a column of the nested records. Otherwise it is a column of the
   * record itself.
   */
  readonly column: string;
  readonly to: To;
}

/** Returns the mistakes in the relations of a mount: in their names, columns and mounts. */
export function relationMistakes(resource: Resource, relations: Members): readonly string[] {
  const taken = ["id", ...Object.keys(resource.fields), ...Object.keys(relations).map((name) => `${name}_next`)];
  return Object.entries(relations).flatMap(([name, leads]) => {
    const place = `expand.${name}`;
    if (!isSnakeCase(name)) return [`${place}: the name has to be lower case with underscores, like user`];
    if (taken.includes(name)) return [`${place}: a record has a member of this name already; choose another`];
    const wrong = isText(leads) ? columnMistake(resource, leads) : mountMistake(resource, leads);
    return wrong === null ? [] : [`${place}: ${wrong}`];
  });
}

function columnMistake(resource: Resource, column: string): string | null {
  if (column === resource.parentColumn) return null;
  const columns = Object.keys(resource.fields).filter((name) => {
    const { references, members } = resource.fields[name]!.kind;
    return (references ?? members) !== undefined;
  });
  if (!columns.includes(column))
    return `no field ${column} refers to a record${suggestion(column, [...columns, ...(resource.parentColumn ?? [])])}`;
  return isShown(resource.fields[column]!) ? null : `${column} is never shown, but the expanded record would reveal it`;
}

function mountMistake(resource: Resource, input: unknown): string | null {
  const inner = isObject(input) ? input["resource"] : undefined;
  if (!isObject(input) || !isObject(inner))
    return `it is ${shown(input)}; it has to be a column that refers to a record, or a mount of a resource that is nested in ${resource.path}`;
  if (inner["within"] !== resource) return `${String(inner["path"])} is not nested in ${resource.path}`;
  const { permissions } = input;
  return isObject(permissions) && permissions["list"] === undefined
    ? `${String(inner["path"])} has no permission for list; add one`
    : null;
}

/** Returns the mistakes about relations to resources that are not mounted or that no caller may read. */
export function misleadingRelations(
  from: RelationMount & { readonly expand: Relations },
  mounts: readonly RelationMount[],
): readonly string[] {
  return Object.entries(from.expand).flatMap(([name, leads]) => {
    const wrong = misleading(from, leads, mounts);
    return wrong === null ? [] : [`mount(${from.resource.path}): expand.${name}: ${wrong}`];
  });
}

function misleading(
  from: RelationMount,
  leads: string | RelationMount,
  mounts: readonly RelationMount[],
): string | null {
  const to = findTarget(from, leads, mounts);
  if (typeof leads !== "string")
    return to === undefined ? `${leads.resource.path} is not mounted; mount ${leads.resource.plural} too` : null;
  if (to === undefined) return `${tableOfReference(from, leads)}, which ${leads} refers to, is not mounted`;
  if (to.resource.within !== null)
    return `${to.resource.path} is nested in another resource, so an id alone does not identify a record`;
  return to.permissions.read === undefined ? `${to.resource.path} has no permission for read; add one` : null;
}

/** Returns a relation with its target. The target was checked before. */
export function placeRelation<To extends RelationMount>(
  from: RelationMount,
  [name, leads]: readonly [name: string, leads: string | RelationMount],
  mounts: readonly To[],
): Relation<To> {
  const to = findTarget(from, leads, mounts)!;
  return typeof leads === "string"
    ? { name, kind: from.resource.fields[leads]?.kind.members === undefined ? "one" : "several", column: leads, to }
    : { name, kind: "many", column: leads.resource.parentColumn!, to };
}

function findTarget<To extends RelationMount>(
  from: RelationMount,
  leads: string | RelationMount,
  among: readonly To[],
): To | undefined {
  if (typeof leads !== "string") return among.find(({ resource }) => resource === leads.resource);
  const table = tableOfReference(from, leads);
  return among.find(({ resource }) => buildTableName(resource) === table);
}

function tableOfReference({ collection, resource }: RelationMount, column: string): string {
  const members = resource.fields[column]?.kind.members;
  if (members !== undefined) return formatTableName(members.resource);
  return collection.columns.find(({ name }) => name === column)!.references!.collection;
}

interface Expandable {
  readonly relations: readonly Relation<Expandable>[];
}

/** Returns the names that `?expand=` accepts: two levels, `items` and `items.product`. */
export function expandableNames({ relations }: Expandable): readonly string[] {
  return relations.flatMap(({ name, to }) => [name, ...to.relations.map((inner) => `${name}.${inner.name}`)]);
}
