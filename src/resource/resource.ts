import { DeclarationError } from "./declaration-error.ts";
import type { Fields, Operator, ParentColumnOf, Resource, ResourceDeclaration } from "./declaration.ts";
import { isShown } from "./field.ts";
import { mistakesOf } from "./mistakes.ts";

export { DeclarationError } from "./declaration-error.ts";
export type { Fields, Operator, Resource, ResourceDeclaration };
export type * from "./types.ts";

/** Declares a resource. Throws `DeclarationError` with everything that is wrong at once. */
export function defineResource<
  const F extends Fields,
  const N extends string,
  Outer extends Resource | undefined = undefined,
>(declaration: ResourceDeclaration<F, N, Outer>): Resource<F, N, ParentColumnOf<Outer>>;
export function defineResource(declaration: ResourceDeclaration<Fields>): Resource {
  const mistakes = mistakesOf(declaration);
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
  const { name, plural = `${name}s`, within = null, fields } = declaration;
  const parentColumn = within === null ? null : `${within.name}_id`;
  return Object.freeze({
    name,
    plural,
    path: within === null ? `/${plural}` : `${within.path}/{${parentColumn}}/${plural}`,
    within,
    parentColumn,
    fields,
    filters: new Map(Object.entries(declaration.filters ?? {}).map(([field, operators = []]) => [field, operators])),
    sorts: ["id", ...(declaration.sorts ?? [])],
    scans: declaration.scans ?? false,
    check: declaration.check ?? null,
    description: declaration.description ?? null,
  });
}

/** The names of the fields that stand in representations, `id` first. */
export function shownFields(resource: Resource): readonly string[] {
  return ["id", ...Object.keys(resource.fields).filter((name) => isShown(resource.fields[name]!))];
}
