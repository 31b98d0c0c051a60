import { isDeepStrictEqual } from "node:util";
import { isObject, isText, matching, optional, wholeFrom, type ValueCheck } from "../../core/checking/members.ts";
import { Flaw } from "../declaration/field.ts";
import { email, dateTime } from "../kinds/fields.ts";
import { url } from "../kinds/texts.ts";
import { date } from "../kinds/times.ts";
import { uuid } from "../kinds/uuid.ts";
import { found, NONE, type Checker } from "./found.ts";

/** A keyword that checks a value as a whole. */
export interface Keyword {
  /** The check of the operand. */
  readonly operand: ValueCheck;
  /** Makes the check of a value. Only called with a valid operand. */
  make(operand: never): Checker;
}

const aCount = wholeFrom(0);
const aNumber: ValueCheck = (value) => (Number.isFinite(value) ? null : "it has to be a number");
const aFullList: ValueCheck = (value) =>
  Array.isArray(value) && value.length > 0 ? null : "it has to be a list of one or more values";
const aPattern: ValueCheck = (value) =>
  isText(value) && isPattern(value) ? null : "it has to be a regular expression";

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u").unicode;
  } catch {
    return false;
  }
}

const ofTexts =
  (check: (value: string) => readonly ReturnType<Checker>[number][]): Checker =>
  (value) =>
    isText(value) ? check(value) : NONE;
const ofNumbers =
  (check: (value: number) => ReturnType<Checker>): Checker =>
  (value) =>
    typeof value === "number" ? check(value) : NONE;
const ofLists =
  (check: (value: readonly unknown[]) => ReturnType<Checker>): Checker =>
  (value) =>
    Array.isArray(value) ? check(value) : NONE;
const ofObjects =
  (check: (value: Readonly<Record<string, unknown>>) => ReturnType<Checker>): Checker =>
  (value) =>
    isObject(value) ? check(value) : NONE;

/** The supported formats. The parser of a field checks each one. */
const formats: Readonly<Record<string, (value: unknown) => unknown>> = {
  "date-time": dateTime().kind.parse,
  date: date().kind.parse,
  email: email().kind.parse,
  uri: url().kind.parse,
  uuid: uuid().kind.parse,
};

/** The supported keywords of JSON Schema (2020-12), except `type` and the keywords that contain schemas. */
export const keywords: Readonly<Record<string, Keyword>> = {
  const: { operand: () => null, make: (operand) => compileChoice([operand]) },
  enum: { operand: aFullList, make: (operand) => compileChoice(operand) },
  minLength: {
    operand: aCount,
    make: (least: number) =>
      ofTexts((value) =>
        [...value].length >= least
          ? NONE
          : found(
              "too_short",
              least === 1 ? "The text must not be empty." : `At least ${least} characters are required.`,
            ),
      ),
  },
  maxLength: {
    operand: aCount,
    make: (most: number) =>
      ofTexts((value) =>
        value.length <= most || [...value].length <= most
          ? NONE
          : found("too_long", `At most ${most} characters are allowed.`),
      ),
  },
  pattern: {
    operand: aPattern,
    make: (pattern: string) => {
      const expression = new RegExp(pattern, "u");
      return ofTexts((value) => (expression.test(value) ? NONE : found("invalid", `It has to match ${pattern}.`)));
    },
  },
  format: {
    operand: matching(
      new RegExp(`^(?:${Object.keys(formats).join("|")})$`),
      `it has to be one of ${Object.keys(formats).join(", ")}; check another form with pattern`,
    ),
    make: (format: string) => {
      const parse = formats[format]!;
      return ofTexts((value) => {
        const read = parse(value);
        return read instanceof Flaw ? found("invalid", read.detail) : NONE;
      });
    },
  },
  minimum: {
    operand: aNumber,
    make: (least: number) =>
      ofNumbers((value) => (value >= least ? NONE : found("too_small", `The least value is ${least}.`))),
  },
  maximum: {
    operand: aNumber,
    make: (most: number) =>
      ofNumbers((value) => (value <= most ? NONE : found("too_large", `The greatest value is ${most}.`))),
  },
  exclusiveMinimum: {
    operand: aNumber,
    make: (below: number) =>
      ofNumbers((value) => (value > below ? NONE : found("too_small", `A value above ${below} is required.`))),
  },
  exclusiveMaximum: {
    operand: aNumber,
    make: (above: number) =>
      ofNumbers((value) => (value < above ? NONE : found("too_large", `A value below ${above} is required.`))),
  },
  minItems: {
    operand: aCount,
    make: (least: number) =>
      ofLists((value) => (value.length >= least ? NONE : found("too_short", `At least ${least} items are required.`))),
  },
  maxItems: {
    operand: aCount,
    make: (most: number) =>
      ofLists((value) => (value.length <= most ? NONE : found("too_long", `At most ${most} items are allowed.`))),
  },
  uniqueItems: {
    operand: (value) => (typeof value === "boolean" ? null : "it has to be true or false"),
    make: (isAsked: boolean) =>
      ofLists((value) =>
        isAsked && hasDuplicates(value) ? found("repeated", "Each item may appear only once.") : NONE,
      ),
  },
  minProperties: {
    operand: aCount,
    make: (least: number) =>
      ofObjects((value) =>
        Object.keys(value).length >= least ? NONE : found("too_short", `At least ${least} members are required.`),
      ),
  },
  maxProperties: {
    operand: aCount,
    make: (most: number) =>
      ofObjects((value) =>
        Object.keys(value).length <= most ? NONE : found("too_long", `At most ${most} members are allowed.`),
      ),
  },
};

/** Keywords that only document. They check nothing. */
export const annotations: ReadonlySet<string> = new Set([
  "$comment",
  "$schema",
  "title",
  "description",
  "default",
  "deprecated",
  "readOnly",
  "writeOnly",
  "example",
  "examples",
  "externalDocs",
  "xml",
]);

function compileChoice(allowed: readonly unknown[]): Checker {
  const shown = allowed.map((each) => JSON.stringify(each)).join(", ");
  const message = allowed.length === 1 ? `The only value is ${shown}.` : `It has to be one of ${shown}.`;
  const plain = new Set(allowed);
  return (value) =>
    plain.has(value) || (typeof value === "object" && allowed.some((each) => isDeepStrictEqual(each, value)))
      ? NONE
      : found("invalid", message);
}

/**
 * Returns true if any two of the values are equal. The order of members does not matter (JSON Schema 2020-12 §4.2.2).
 */
function hasDuplicates(values: readonly unknown[]): boolean {
  return new Set(values.map(sortedText)).size < values.length;
}

function sortedText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    isObject(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
}

export const aNameList: ValueCheck = optional((value) =>
  Array.isArray(value) && value.every(isText) ? null : "it has to be a list of names",
);
