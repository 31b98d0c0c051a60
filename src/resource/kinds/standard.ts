import { isDeepStrictEqual } from "node:util";
import { DeclarationError } from "../../core/checking/declaration-error.ts";
import {
  isObject,
  isText,
  buildChoiceCheck,
  optional,
  wholeFrom,
  type Only,
  anObject,
} from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import { copyWithDoubles, isExactNumber } from "../../core/exact-numbers.ts";
import {
  defineField,
  Flaw,
  type Field,
  type FieldOptions,
  type Kind,
  type OwnChecks,
  type OptionNames,
} from "../declaration/field.ts";
import { optionMistakes, ownValueMistakes, reportThroughResource } from "./field-mistakes.ts";
import { dateTime, json, text } from "./fields.ts";
import {
  givesPromise,
  isStandardSchema,
  findJSONSchema,
  readBySchema,
  describeVendor,
  type StandardSchema,
} from "./standard-result.ts";

/** The type of the stored values for each type of column. */
interface ColumnValues {
  readonly text: string;
  readonly integer: number;
  readonly boolean: boolean;
  readonly "date-time": string;
  readonly json: unknown;
}
type ColumnType = keyof ColumnValues;

/** Options of `standardSchema()`: the column of the value, and its description in the API's documentation. */
export interface StandardOptions<T, C extends ColumnType = ColumnType> extends FieldOptions<T> {
  /** The type of the column for the schema's output. Default: `json`. */
  readonly column?: C;
  /**
   * JSON Schema 2020-12 for the API's documentation. Default: the JSON Schema from the library of the schema, if the
   * library provides one, otherwise the column's type.
   */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  /** The largest number of characters of a value written as JSON, if the column is `json`. Default: 65,536. */
  readonly maxLength?: number;
}

const MAX_DEPTH = 100;

/**
 * Declares a field that a schema of another library reads. The schema's output is stored and shown. The schema must
 * accept its own output unchanged, because a change of another field parses the whole record again. The schema must be
 * synchronous: the resource reports a schema that returns a promise. If the schema throws or its output does not fit
 * the column, the response is 500 and nothing is written.
 *
 * @example
 * ```ts
 * import { standardSchema } from "latchkey/resources";
 * import { z } from "zod";
 *
 * export const slug = standardSchema(z.string().regex(/^[a-z-]+$/), { column: "text", unique: true });
 * ```
 */
export function standardSchema<
  T,
  const C extends ColumnType = "json",
  const O extends StandardOptions<NoInfer<T>, C> = {},
>(
  schema: StandardSchema<T & ColumnValues[C]>,
  options?: Only<O, StandardOptions<NoInfer<T>, C>>,
): Field<T, OptionNames<O>["names"]>;
export function standardSchema(schema: StandardSchema, options: StandardOptions<unknown> = {}): Field {
  return reportThroughResource(() => standardField(schema, options));
}

function standardField(schema: StandardSchema, options: StandardOptions<unknown>): Field {
  requireArguments("standardSchema", [options], { options: anObject });
  const mistakes = [...schemaMistakes(schema), ...optionMistakes("standard", { ...options }, standardOptions)];
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
  const type = options.column ?? "json";
  const parse = (value: unknown): unknown => validate(schema, value, type);
  const described = options.jsonSchema ?? ownSchema(schema) ?? columnSchemas[type];
  const kind: Kind<unknown> = {
    name: "standard",
    parse,
    parseText: (sent) => parse(convertLeaf(sent, type)),
    schema: described,
    column: { type },
    ...(described["format"] === "uuid" ? { spelled: true } : {}),
    ...(options.maxLength === undefined ? {} : { maxLength: options.maxLength }),
    options: standardOptions,
  };
  const tried = trialMistakes(schema, kind, options);
  if (tried !== null) throw new DeclarationError([tried]);
  return defineField(kind, options);
}

const standardOptions: OwnChecks<StandardOptions<unknown>> = {
  column: optional(buildChoiceCheck("text", "integer", "boolean", "date-time", "json")),
  jsonSchema: optional((value) => (isObject(value) ? null : "it has to be a JSON Schema")),
  maxLength: optional(wholeFrom(1)),
};

const columnSchemas: Readonly<Record<ColumnType, Readonly<Record<string, unknown>>>> = {
  text: { type: "string" },
  integer: { type: "integer" },
  boolean: { type: "boolean" },
  "date-time": { type: "string", format: "date-time" },
  json: {},
};

function schemaMistakes(schema: unknown): readonly string[] {
  return isStandardSchema(schema)
    ? []
    : ["standard: it is no Standard Schema of version 1, with a member ~standard; write standardSchema(z.string())"];
}

/** Finds mistakes that only a call of the schema shows: it returns promises, or does not accept its own output. */
function trialMistakes(schema: StandardSchema, kind: Kind<unknown>, options: StandardOptions<unknown>): string | null {
  const { example, default: fallback } = options;
  const sample = example ?? (typeof fallback === "function" ? undefined : fallback);
  try {
    if (givesPromise(schema, sample))
      return "standard: the schema gives a promise, but fields are read synchronously; do asynchronous work in beforeWrite";
  } catch (cause) {
    return `standard: the schema throws${cause instanceof Error ? `: ${cause.message}` : ""}`;
  }
  if (sample === undefined) return null;
  // The resource reports a mistake in the sample, as for any field.
  if (ownValueMistakes("example", { kind, options }, sample).length > 0) return null;
  const read = kind.parse(sample);
  return isDeepStrictEqual(kind.parse(read), read)
    ? null
    : "standard: the schema does not accept its own output, but a stored value is read again with a change of another field; let it accept its output";
}

function ownSchema(schema: StandardSchema): Readonly<Record<string, unknown>> | null {
  const own = findJSONSchema(schema);
  if (own !== "none") return own;
  throw new DeclarationError([
    "standard: the schema has no JSON Schema that the API's description can hold; give jsonSchema",
  ]);
}

/** Converts the text of XML or a query to the type of the column. */
function convertLeaf(sent: string, type: ColumnType): unknown {
  if (type === "integer" && /^-?(0|[1-9]\d{0,15})$/.test(sent)) return Number(sent);
  if (type === "boolean" && (sent === "true" || sent === "false")) return sent === "true";
  return sent;
}

function validate(schema: StandardSchema, value: unknown, type: ColumnType): unknown {
  const exact = readBySchema(schema, value);
  const doubles = "parts" in exact ? copyWithDoubles(value) : value;
  // A schema may want numbers of JavaScript, of which some clients write all digits.
  const read = doubles === value ? exact : readBySchema(schema, doubles);
  if ("parts" in read) return new Flaw("invalid", read.parts[0]?.detail ?? "The value is not valid.", read.parts);
  return requireColumnValue(type, read.value, schema);
}

const asText = text({ minLength: 0, maxLength: 1_000_000, trim: false }).kind;
const asTime = dateTime().kind;
const anyJSON = json().kind;

/**
 * Returns the value in the form that the column stores. A value that does not fit is an error of the schema, not of the
 * caller.
 */
function requireColumnValue(type: ColumnType, value: unknown, schema: StandardSchema): unknown {
  const columnValue = readAs(type, value);
  if (columnValue !== undefined) return columnValue;
  throw new TypeError(`A schema of ${describeVendor(schema)} gave a value that a column of type ${type} cannot hold.`);
}

function readAs(type: ColumnType, value: unknown): unknown {
  switch (type) {
    case "text":
      return isText(value) ? asText.parse(value) : undefined;
    case "integer":
      return Number.isSafeInteger(value) ? value : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "date-time":
      return isText(value) ? asTime.parse(value) : undefined;
    case "json":
      return isJSON(value, MAX_DEPTH) ? anyJSON.parse(value) : undefined;
  }
}

/** Returns true if JSON represents the value exactly. A `Date`, a `Map` or a cycle would change. */
function isJSON(value: unknown, depth: number): boolean {
  if (isText(value) || typeof value === "boolean" || Number.isFinite(value) || isExactNumber(value)) return true;
  if (typeof value !== "object" || depth === 0) return false;
  // JSON can contain null. But null as the whole value stands for an empty optional field.
  const isPart = (part: unknown): boolean => part === null || isJSON(part, depth - 1);
  if (Array.isArray(value)) return value.every(isPart);
  if (value === null || !isPlain(value)) return false;
  return Object.values(value).every((part) => part === undefined || isPart(part));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
