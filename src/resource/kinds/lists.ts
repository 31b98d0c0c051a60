import { DeclarationError } from "../../core/checking/declaration-error.ts";
import { isObject, notBelow, optional, wholeFrom, type Only, anObject } from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import { parseJSON } from "../../core/exact-numbers.ts";
import {
  defineField,
  Flaw,
  ruleOf,
  type Field,
  type FieldOptions,
  type FlawPart,
  type Kind,
  type OwnChecks,
  type OptionNames,
} from "../declaration/field.ts";
import { optionMistakes, shapeMistakes, reportThroughResource } from "./field-mistakes.ts";

/** Options of `array()`. */
export interface ArrayOptions<T> extends FieldOptions<readonly T[]> {
  /** The smallest number of members. Default: 0. */
  readonly minItems?: number;
  /** The largest number of members. Default: 100. */
  readonly maxItems?: number;
}

/**
 * Declares a list of simple values, each read as a field of that kind: `array(text({ maxLength: 30 }))`. In XML it is
 * JSON text. It has at most 100 members unless `maxItems` is set.
 */
export function array<T, const O extends ArrayOptions<T> = {}>(
  of: Field<T>,
  options?: Only<O, ArrayOptions<T>>,
): Field<readonly T[], OptionNames<O>["names"]>;
export function array(of: Field, options: ArrayOptions<unknown> = {}): Field<readonly unknown[]> {
  return reportThroughResource(() => arrayField(of, options));
}

function arrayField(of: Field, options: ArrayOptions<unknown>): Field<readonly unknown[]> {
  requireArguments("array", [options], { options: anObject });
  requireSimple(of, options);
  const { minItems = 0, maxItems = 100 } = options;
  const parse = (value: unknown): readonly unknown[] | Flaw => {
    if (!Array.isArray(value)) return new Flaw("invalid", "A list is required.");
    if (value.length < minItems) return new Flaw("too_short", `At least ${minItems} members are required.`);
    if (value.length > maxItems) return new Flaw("too_long", `At most ${maxItems} members are allowed.`);
    const read = value.map((each: unknown) => of.kind.parse(each));
    const parts = read.flatMap((each, at): FlawPart[] =>
      each instanceof Flaw ? [{ pointer: `/${at}`, code: each.code, detail: each.detail }] : [],
    );
    return parts.length === 0 ? read : new Flaw("invalid", "Some members are not valid.", parts);
  };
  const kind: Kind<readonly unknown[]> = {
    name: "array",
    parse,
    parseText: (text) => parse(parseList(text)),
    schema: { type: "array", items: of.kind.schema, minItems, maxItems },
    column: { type: "json" },
    maxLength: MAX_CHARACTERS,
    rule: { of: ruleOf(of.kind) },
    // Only the length is checked if the values of the members are not.
    ...(of.kind.rule === undefined ? { fits: (value) => isOfLength(value, minItems, maxItems) } : {}),
    options: arrayOptions(options),
  };
  return defineField(kind, options);
}

function isOfLength(value: unknown, minItems: number, maxItems: number): boolean {
  return Array.isArray(value) && value.length >= minItems && value.length <= maxItems;
}

/** Maximum length of a list as JSON. The number and the length of its members have their own limits. */
const MAX_CHARACTERS = 2 ** 20;

function arrayOptions({ minItems = 0 }: ArrayOptions<unknown>): OwnChecks<ArrayOptions<unknown>> {
  return { minItems: optional(wholeFrom(0)), maxItems: optional(notBelow("minItems", minItems)) };
}

/** Throws `DeclarationError` if the members have a kind or an option that only a separate field can have. */
function requireSimple(of: Field, options: ArrayOptions<unknown>): void {
  const mistakes = [...optionMistakes("array", { ...options }, arrayOptions(options))];
  const malformed = shapeMistakes(of);
  if (!isObject(of) || !isObject(of.kind))
    mistakes.push("array: its members have to be a field, like array(text({ maxLength: 30 }))");
  else if (malformed.length > 0) mistakes.push(...malformed.map((each) => `array: its members: ${each}`));
  else {
    const { column, references } = of.kind;
    if (column.type === "json") mistakes.push("array: its members have to be simple values, and not lists or any JSON");
    if (references !== undefined)
      mistakes.push("array: a reference needs a separate column; use references(…) for a list of ids");
    const own = ["optional", "readOnly", "writeOnly", "transient", "confidential", "unique", "default", "generated"];
    for (const name of own.filter((each) => each in of.options))
      mistakes.push(`array: ${name} is for the whole list; give it to the array and not to its members`);
  }
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
}

/** Parses a text as JSON. Returns null if it is not JSON. */
export function parseList(text: string): unknown {
  try {
    return parseJSON(text);
  } catch {
    return null;
  }
}
