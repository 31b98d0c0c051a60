import { DeclarationError } from "../../core/checking/declaration-error.ts";
import {
  isObject,
  isText,
  buildChoiceCheck,
  optional,
  shown,
  type Only,
  anObject,
} from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import type { Resource } from "../declaration/declaration.ts";
import { defineField, type Field, type FieldOptions, type OwnChecks, type OptionNames } from "../declaration/field.ts";
import { buildTableName } from "../tables/table.ts";
import { optionMistakes, reportThroughResource } from "./field-mistakes.ts";
import { keyKind } from "./key.ts";
import { integerKind } from "./numbers.ts";
import { uuidKind } from "./uuid.ts";

/** Options of `reference()`. */
export interface ReferenceOptions<T = number | string> extends FieldOptions<T> {
  /**
   * The effect on this record when the referenced record is deleted. `cascade`: this record is deleted too. `restrict`:
   * the deletion is refused (409). Default: `restrict`.
   */
  readonly onDelete?: "cascade" | "restrict";
}

/** Options of `reference()` if the other resource is named by its plural. */
export interface NamedReferenceOptions<T = number | string> extends ReferenceOptions<T> {
  /** The kind of ids of that resource. Default: integers. */
  readonly id?: "integer" | "uuid" | "text";
}

/** The plural and the names of the resource of users. */
type UserResource = "users" | "user" | "accounts";

/** `user` if the records are users, else the name `N` of their resource. */
type RefersTo<N extends string> = "refers" | (N extends UserResource ? "user" : `refers to ${N}`);

type ReferenceId<R> = R extends { readonly id: "uuid" | "text" } ? string : number;

/**
 * Declares the id of a record of another resource. Pass the declaration of the other resource. Pass its plural instead
 * if it is declared later, or if the records refer to records of the same resource.
 *
 * @example
 * ```ts
 * import { defineResource, reference, text } from "latchkey";
 *
 * const authors = defineResource({ name: "author", fields: { name: text() } });
 * const author_id = reference(authors, { onDelete: "cascade" });
 * export const books = defineResource({ name: "book", fields: { author_id } });
 * ```
 */
export function reference<const R extends Resource, const O extends ReferenceOptions<ReferenceId<R>> = {}>(
  resource: R,
  options?: Only<O, ReferenceOptions<ReferenceId<R>>>,
): Field<ReferenceId<R>, OptionNames<O>["names"] | RefersTo<R["name"]>>;
export function reference<const O extends NamedReferenceOptions<string> & { readonly id: "uuid" | "text" }>(
  resource: string,
  options: Only<O, NamedReferenceOptions<string> & { readonly id: "uuid" | "text" }>,
): Field<string, OptionNames<O>["names"] | "refers">;
export function reference<const O extends NamedReferenceOptions<number> & { readonly id?: "integer" } = {}>(
  resource: UserResource,
  options?: Only<O, NamedReferenceOptions<number> & { readonly id?: "integer" }>,
): Field<number, OptionNames<O>["names"] | "refers" | "user">;
export function reference<const O extends NamedReferenceOptions<number> & { readonly id?: "integer" } = {}>(
  resource: string,
  options?: Only<O, NamedReferenceOptions<number> & { readonly id?: "integer" }>,
): Field<number, OptionNames<O>["names"] | "refers">;
export function reference(resource: string | Resource, options: NamedReferenceOptions = {}): Field {
  return reportThroughResource(() => referenceField(resource, options));
}

function referenceField(resource: string | Resource, options: NamedReferenceOptions): Field {
  requireArguments("reference", [options], { options: anObject });
  const to: unknown = resource;
  if (to === "" || !(isText(to) || (isObject(to) && isText(to["plural"]))))
    throw new DeclarationError([
      `reference: its target is ${shown(to)}, not a resource; name one: reference(authors), or its plural if it is declared later: reference("authors")`,
      ...optionMistakes("reference", { ...options }, namedOptions),
    ]);
  const isNamed = typeof resource === "string";
  const references = {
    resource: isNamed ? resource : buildTableName(resource),
    onDelete: options.onDelete ?? "restrict",
  };
  const id = isNamed ? options.id : resource.id;
  const kind = id === "uuid" ? uuidKind : id === "text" ? keyKind : integerKind(1);
  const own: OwnChecks<ReferenceOptions> = isNamed ? namedOptions : referenceOptions;
  return defineField<unknown, FieldOptions<unknown>>({ ...kind, name: "reference", references, options: own }, options);
}

const referenceOptions: OwnChecks<ReferenceOptions> = { onDelete: optional(buildChoiceCheck("cascade", "restrict")) };
const namedOptions: OwnChecks<NamedReferenceOptions> = {
  ...referenceOptions,
  id: optional(buildChoiceCheck("integer", "uuid", "text")),
};
