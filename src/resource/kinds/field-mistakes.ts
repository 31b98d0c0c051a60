import { DeclarationError } from "../../core/checking/declaration-error.ts";
import {
  aBoolean,
  aFunction,
  anObject,
  anything,
  type Checks,
  isObject,
  isText,
  matching,
  membersMistakes,
  buildChoiceCheck,
  optional,
  seen,
  shown,
  shownWithoutText,
  describeType,
  text,
  joinMistakes,
  wholeFrom,
} from "../../core/checking/members.ts";
import { lineOfThrown } from "../../core/checking/thrown.ts";
import { made, otherCopyMistake } from "../../core/copy.ts";
import { aDeprecation } from "../../core/deprecation.ts";
import { Flaw, longestJSON, type Field, type FieldOptions, type Kind } from "../declaration/field.ts";
import { aLabel } from "../declaration/label.ts";

/** The checks of the options that every kind of field has. */
export const fieldOptions: Readonly<Record<keyof FieldOptions<unknown>, Checks[string]>> = {
  optional: optional(aBoolean),
  readOnly: optional(aBoolean),
  writeOnly: optional(aBoolean),
  transient: optional(aBoolean),
  confidential: optional(aBoolean),
  unique: optional((value) =>
    typeof value === "boolean" || value === "case-insensitive"
      ? null
      : 'it has to be true, false or "case-insensitive"',
  ),
  default: anything,
  filled: optional(aBoolean),
  generated: optional(aFunction),
  regenerated: optional(aBoolean),
  renamedFrom: optional(matching(/^[a-z][a-z0-9_]*$/, "it has to be the name that the field had")),
  convert: optional((value) =>
    typeof value === "function" || (isObject(value) && membersMistakes(value, expressions).length === 0)
      ? null
      : "it has to be a function, or { sqlite: …, postgres: … } with an expression for each database",
  ),
  backfill: anything,
  read: optional(aFieldRule),
  write: optional(aFieldRule),
  deprecated: optional(aDeprecation),
  label: optional(aLabel),
  description: optional(text),
  example: anything,
};

/** Checks a rule of a field: a permission that decides by the caller alone. */
export function aFieldRule(value: unknown): string | null {
  if (!isObject(value) || !isText(value["name"]) || typeof value["decide"] !== "function")
    return 'it has to be a permission, like administrator or hasRole("hr")';
  const { narrows } = value;
  return Array.isArray(narrows) && narrows.length > 0
    ? `${value["name"]} narrows to rows, and the rule of a field decides by the caller alone; use a permission that only says "allow" or "deny"`
    : null;
}

/** Names that authors may try for the rules of a field. */
const LIKE_A_RULE =
  /^(?:can|may)?_?(?:read(?!_?only)|writ(?!e_?only)|view|visible|hidden|access|permission|allow|rule)/i;

const expressions: Checks = { sqlite: optional(text), postgres: optional(text) };

const aFlag = (value: unknown): string | null => (value === true ? null : "it has to be true, or left out");

const kindMembers: Readonly<Record<keyof Kind<unknown>, Checks[string]>> = {
  name: matching(/^[a-z][a-z0-9-]*$/, "it has to be lower case with hyphens, like phone-number"),
  parse: aFunction,
  parseText: aFunction,
  schema: anObject,
  column: seen((value) =>
    isObject(value)
      ? joinMistakes(membersMistakes(value, columnMembers))
      : 'it has to be a column, like { type: "text" }',
  ),
  maxLength: optional(wholeFrom(1)),
  references: optional(anObject),
  members: optional(anObject),
  once: optional(anObject),
  few: optional(aFlag),
  spelled: optional(aFlag),
  rule: optional(anObject),
  fits: optional(aFunction),
  example: anything,
  input: optional(buildChoiceCheck("email", "tel", "url")),
  tone: optional(aFunction),
  label: optional(aFunction),
  draw: optional(aFunction),
  options: optional(anObject),
};
const columnMembers: Readonly<Record<keyof Kind<unknown>["column"], Checks[string]>> = {
  type: buildChoiceCheck("text", "integer", "decimal", "double", "boolean", "date", "date-time", "json"),
  number: optional(aFlag),
  scale: optional((value) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 6 ? null : "it has to be a number from 0 to 6",
  ),
};

/** The substitutes that `reportThroughResource` returned, and the mistakes of the fields that they replace. */
const mistaken = new WeakMap<object, readonly string[]>();

/**
 * Returns the field that `make` returns. If `make` throws a `DeclarationError`, returns a substitute field with its
 * mistakes instead. `defineResource` then reports these mistakes with the name of the field, and together with the
 * mistakes of other fields. An error thrown here could contain neither.
 */
export function reportThroughResource<F extends Field>(make: () => F): F | Field<never> {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof DeclarationError)) throw error;
    const none: Kind<never> = {
      name: "mistaken",
      parse: () => new Flaw("invalid", "Its declaration is not valid."),
      parseText: () => new Flaw("invalid", "Its declaration is not valid."),
      schema: {},
      column: { type: "text" },
    };
    const field = Object.freeze(made({ kind: none, options: {} }));
    mistaken.set(field, error.mistakes);
    return field;
  }
}

/** Returns the mistakes in a field: a wrong type, a wrong kind, or options that the kind does not have. */
export function shapeMistakes(field: unknown): readonly string[] {
  if (!isObject(field) || !("kind" in field && "options" in field))
    return [`it is ${shown(field)} and no field; declare one, like text() or integer()`];
  const other = otherCopyMistake(field);
  if (other !== null) return [other];
  const { kind, options } = field;
  if (!isObject(kind)) return [`its kind is ${shown(kind)}; it has to be an object: defineField(kind, options)`];
  const name = isText(kind["name"]) ? kind["name"] : "its kind";
  if (!isObject(options))
    return [`${name}: its options are ${shownWithoutText(options)}; they have to be an object, like {}`];
  const storedMistakes = mistaken.get(field);
  if (storedMistakes !== undefined) return storedMistakes;
  const own = areChecks(kind["options"]) ? kind["options"] : {};
  return [
    ...membersMistakes(kind, kindMembers).map((mistake) => `its kind: ${mistake}`),
    ...optionMistakes(name, options, own),
  ];
}

function areChecks(options: unknown): options is Checks {
  return isObject(options) && Object.values(options).every((each) => typeof each === "function");
}

/** Returns the mistakes in the options of a field of this kind. */
export function optionMistakes(
  kind: string,
  options: Readonly<Record<string, unknown>>,
  own: Checks,
): readonly string[] {
  const strange = Object.keys(options).filter((name) => LIKE_A_RULE.test(name) && !Object.hasOwn(fieldOptions, name));
  const known = { ...fieldOptions, ...own };
  const others = Object.fromEntries(Object.entries(options).filter(([name]) => name in own || !strange.includes(name)));
  return [
    ...strange
      .filter((name) => !(name in own))
      .map((name) => `there is no option ${name}; read and write take the permissions of a field`),
    ...membersMistakes(others, known),
  ].map((mistake) => `${kind}: ${mistake}`);
}

/** Returns the mistake if the value of an option (such as `default`) is not valid for the field's kind. */
export function ownValueMistakes(
  option: "default" | "example" | "backfill",
  { kind, options }: Field,
  value: unknown,
): readonly string[] {
  if (value === undefined) return [];
  const why = whyNot(kind, value) ?? explainLoss(kind, value);
  const shownValue = options.writeOnly === true ? describeType(value) : shown(value);
  return why === null ? [] : [`its own ${option} is ${shownValue}, and that is not valid: ${why}`];
}

function whyNot(kind: Kind<unknown>, value: unknown): string | null {
  try {
    const read = kind.parse(value);
    return read instanceof Flaw ? [read.detail, ...read.parts.slice(0, 1).map(describePart)].join(" ") : null;
  } catch (error) {
    return `${kind.name} cannot read it. ${lineOfThrown(error)}`;
  }
}

function describePart({ pointer, detail }: { readonly pointer: string; readonly detail: string }): string {
  return `${pointer}: ${detail}`;
}

function explainLoss(kind: Kind<unknown>, value: unknown): string | null {
  const { column } = kind;
  if (column.type !== "json") return fitsColumn(column, value) ? null : `its column is of type ${column.type}.`;
  const json = JSON.stringify(value);
  if (json === undefined) return "JSON cannot hold it.";
  return json.length > longestJSON(kind) ? `At most ${longestJSON(kind)} characters of JSON are allowed.` : null;
}

function fitsColumn({ type, number }: Kind<unknown>["column"], value: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isSafeInteger(value);
    case "double":
      return Number.isFinite(value);
    case "boolean":
      return typeof value === "boolean";
    case "decimal":
      return isText(value) || (number === true && Number.isFinite(value));
    default:
      return isText(value);
  }
}
