import { DeclarationError } from "../../core/checking/declaration-error.ts";
import {
  anything,
  isObject,
  isText,
  notBelow,
  buildChoiceCheck,
  optional,
  shown,
  wholeFrom,
  type Only,
  anObject,
} from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import type { Resource } from "../declaration/declaration.ts";
import {
  defineField,
  Flaw,
  type Field,
  type FieldOptions,
  type FlawPart,
  type Kind,
  type OwnChecks,
  type OptionNames,
} from "../declaration/field.ts";
import { buildTableName } from "../tables/table.ts";
import { optionMistakes, reportThroughResource } from "./field-mistakes.ts";
import { parseList } from "./lists.ts";
import { integerKind } from "./numbers.ts";
import { uuidKind } from "./uuid.ts";

/** Options of `references()`. */
export interface ReferencesOptions<T = number | string> extends FieldOptions<readonly T[]> {
  /** The smallest number of ids. Default: 0. */
  readonly minItems?: number;
  /** The largest number of ids, at most 1000. Default: 100. */
  readonly maxItems?: number;
  /**
   * The effect when one of the records is deleted. `remove`: its id is removed from the list. `restrict`: the deletion
   * is refused (409). Default: `restrict`.
   */
  readonly onDelete?: "restrict" | "remove";
}

/** Options of `references()` if the other resource is named by its plural. */
export interface NamedReferencesOptions<T = number | string> extends ReferencesOptions<T> {
  /** The kind of ids of that resource. Default: integers. */
  readonly id?: "integer" | "uuid";
}

type ReferenceListId<R> = R extends { readonly id: "uuid" } ? string : number;

/**
 * Declares a many-to-many relation: a list of ids of another resource's records, in the order in which they were sent.
 * An id must not be repeated. A record whose id is in a list cannot be deleted (409). With `onDelete: "remove"`, its
 * deletion removes the id from the lists.
 *
 * @example
 * ```ts
 * import { defineResource, text } from "latchkey";
 * import { references } from "latchkey/resources";
 *
 * const tags = defineResource({ name: "tag", fields: { label: text() } });
 * export const posts = defineResource({
 *   name: "post",
 *   fields: { title: text(), tags: references(tags, { default: [] }) },
 *   filters: { tags: ["eq", "in"] },
 * });
 * ```
 */
export function references<const R extends Resource, const O extends ReferencesOptions<ReferenceListId<R>> = {}>(
  resource: R,
  options?: Only<O, ReferencesOptions<ReferenceListId<R>>>,
): Field<readonly ReferenceListId<R>[], OptionNames<O>["names"] | "refers">;
export function references<const O extends NamedReferencesOptions<string> & { readonly id: "uuid" }>(
  resource: string,
  options: Only<O, NamedReferencesOptions<string> & { readonly id: "uuid" }>,
): Field<readonly string[], OptionNames<O>["names"] | "refers">;
export function references<const O extends NamedReferencesOptions<number> & { readonly id?: "integer" } = {}>(
  resource: string,
  options?: Only<O, NamedReferencesOptions<number> & { readonly id?: "integer" }>,
): Field<readonly number[], OptionNames<O>["names"] | "refers">;
export function references(resource: string | Resource, options: NamedReferencesOptions = {}): Field {
  return reportThroughResource(() => referencesField(resource, options));
}

function referencesField(resource: string | Resource, options: NamedReferencesOptions): Field {
  requireArguments("references", [options], { options: anObject });
  const to: unknown = resource;
  if (to === "" || !(isText(to) || (isObject(to) && isText(to["plural"]))))
    throw new DeclarationError([
      `references: its target is ${shown(to)}, not a resource; name one: references(tags), or its plural if it is declared later: references("tags")`,
      ...optionMistakes("references", { ...options }, { ...ownOptions(options), id: anything }),
    ]);
  const isNamed = typeof resource === "string";
  const id = (isNamed ? options.id : resource.id) ?? "integer";
  if (id === "text")
    throw new DeclarationError([
      "references: ids that are texts belong to existing tables, and a list cannot contain them; declare a resource with a reference to each of the two resources",
    ]);
  const kind: Kind<unknown> = id === "uuid" ? uuidKind : integerKind(1);
  const { minItems = 0, maxItems = 100 } = options;
  const parse = (value: unknown): readonly unknown[] | Flaw => {
    if (!Array.isArray(value)) return new Flaw("invalid", "A list of ids is required.");
    if (value.length < minItems) return new Flaw("too_short", `At least ${minItems} ids are required.`);
    if (value.length > maxItems) return new Flaw("too_long", `At most ${maxItems} ids are allowed.`);
    const seen = new Set<unknown>();
    const parts: FlawPart[] = [];
    const read = value.map((each: unknown, at) => {
      const member = kind.parse(each);
      const pointer = `/${at}`;
      if (member instanceof Flaw) parts.push({ pointer, code: member.code, detail: member.detail });
      else if (seen.has(member)) parts.push({ pointer, code: "repeated", detail: "The id appears twice." });
      seen.add(member);
      return member;
    });
    return parts.length === 0 ? read : new Flaw("invalid", "Some ids are not valid.", parts);
  };
  return defineField<unknown, FieldOptions<unknown>>(
    {
      name: "references",
      parse,
      parseText: (text) => parse(parseList(text)),
      schema: { type: "array", items: kind.schema, minItems, maxItems, uniqueItems: true },
      column: { type: "json" },
      members: {
        resource: isNamed ? resource : buildTableName(resource),
        id,
        kind,
        onDelete: options.onDelete ?? "restrict",
      },
      options: isNamed
        ? { ...ownOptions(options), id: optional(buildChoiceCheck("integer", "uuid")) }
        : ownOptions(options),
    },
    options,
  );
}

function ownOptions({ minItems = 0 }: ReferencesOptions): OwnChecks<ReferencesOptions> {
  return {
    minItems: optional(wholeFrom(0, 1000)),
    onDelete: optional(buildChoiceCheck("restrict", "remove")),
    maxItems: optional((value) => notBelow("minItems", minItems)(value) ?? wholeFrom(1, 1000)(value)),
  };
}
