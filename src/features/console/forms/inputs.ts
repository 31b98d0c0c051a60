import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup } from "../../../core/html/markup.ts";
import { isResource } from "../../../http/request/body-shape.ts";
import type { Offer } from "../../../http/request/view.ts";
import {
  isRequired,
  isShown,
  isStored,
  isWritable,
  type Field,
  type Kind,
} from "../../../resource/declaration/field.ts";
import { formatTitle, nameField } from "../../../resource/record-labels.ts";
import type { Resource } from "../../../resource/resource.ts";
import { formatInputText, nameChoice } from "../values.ts";
import { findCheckboxField, parseCheckboxField, type CheckboxField } from "./checkboxes.ts";
import { describeRule, ruleOfSchema } from "./rules.ts";

/** One input of a form, from any kind of declaration. */
export interface Input {
  readonly name: string;
  /** The words for people: the declared label, or the name made readable. */
  readonly label: string;
  /** The author's description. Undefined if there is none. */
  readonly description: string | undefined;
  /**
   * How the script reads its text: `text`, `integer`, `number`, `boolean` or `json`. Followed by ` null` if an empty
   * text is null.
   */
  readonly type: string;
  /** Its rule, in words. */
  readonly rule: string;
  /** True if it is required. */
  readonly isNeeded: boolean;
  /** The possible values, if there are only a few. */
  readonly choices: readonly unknown[] | null;
  /** Set if it accepts several values, each with a checkbox. */
  readonly checkboxes: CheckboxField | null;
  /** The form of a long text: with several `lines`, or one `wrapped` line. Null for a short text. */
  readonly long: "lines" | "wrapped" | null;
  /** True if it is hidden while the user types, and never shown again. */
  readonly isSecret: boolean;
  /** True if its value is never shown. An empty input then does not mean an empty value. */
  readonly isUnseen: boolean;
  /** Attributes of the input that help the user to type. */
  readonly help: Markup;
  /** The kind of its control in a form for people. A field with choices is a select, and `isBox` a checkbox. */
  readonly control: "text" | "date" | "time" | "secret" | "json";
  /** True for a checkbox: yes or no, without a third state. */
  readonly isBox: boolean;
  /** True if it may be empty. */
  readonly isEmptiable: boolean;
  /** The value of a new record if nothing is sent. Undefined if there is none, or if only the service knows it. */
  readonly initial: unknown;
  /** The declared field. Null for a member of a schema. */
  readonly field: Field | null;
  /** Returns a value as the text of its input. */
  formatValue(value: unknown): string;
  /** Returns the words for one of its choices. */
  nameValue(value: unknown): string;
}

/**
 * Returns the inputs of an offer: the fields of its resource or of an action, or the documented body of an endpoint.
 */
export function collectInputs({ resource, body, request, method, name }: Offer): readonly Input[] {
  if (!["POST", "PUT", "PATCH"].includes(method)) return [];
  if (name !== null) return body === null ? [] : inputsOfFields(body, method);
  if (resource !== null)
    return inputsOfFields(resource, method).filter(({ name: each }) => method !== "POST" || !OF_CHANGES.has(each));
  if (request === null) return [];
  return isResource(request) ? inputsOfFields(request, method) : inputsOfSchema(request);
}

function inputsOfFields({ fields }: Resource, method: string): readonly Input[] {
  const writable = Object.entries(fields).filter(([, field]) => isWritable(field));
  return writable.map(([name, field]) => inputOfField(name, field, method));
}

/** Fields of users for changes only. A new user has no current password and no keys. */
const OF_CHANGES: ReadonlySet<string> = new Set(["current_password", "end_keys"]);

/** Returns the input of a declared field, for a complete record or, with `PATCH`, for a change. */
function inputOfField(name: string, field: Field, method: string): Input {
  const { kind } = field;
  const choices = kind.column.type === "boolean" ? [true, false] : kind.schema["enum"];
  return {
    name,
    label: nameField(name, field),
    description: field.options.description ?? describeKind(kind),
    type: chooseType(field),
    rule: describeRule(field, "form"),
    isNeeded: isRequired(field) && (method !== "PATCH" || isShown(field)),
    choices: Array.isArray(choices) ? choices : null,
    checkboxes: findCheckboxField(kind),
    long: chooseLongForm(field),
    isSecret: !isShown(field) && (field.options.confidential === true || /password|secret/.test(name)),
    isUnseen: !isShown(field),
    help: writeHelp(kind.column.type, kind.input),
    ...buildControlFacts(name, field),
    formatValue: (value) => formatInputText(field, value),
    nameValue: (value) => nameChoice(field, value),
  };
}

/** Returns how a kind of your own describes its values. */
function describeKind({ schema: { description } }: Kind<unknown>): string | undefined {
  return typeof description === "string" ? description : undefined;
}

function buildControlFacts(
  name: string,
  field: Field,
): Pick<Input, "control" | "isBox" | "isEmptiable" | "initial" | "field"> {
  const { kind, options } = field;
  const { default: fallback, optional: isOptional = false } = options;
  const isSecret = !isShown(field) && (options.confidential === true || /password|secret/.test(name));
  return {
    control: isSecret ? "secret" : chooseControl(kind),
    isBox: kind.column.type === "boolean" && (!isOptional || fallback !== undefined),
    isEmptiable: isOptional,
    initial: typeof fallback === "function" ? undefined : fallback,
    field,
  };
}

function chooseControl({ column }: Kind<unknown>): Input["control"] {
  if (column.type === "date") return "date";
  if (column.type === "date-time") return "time";
  return column.type === "json" ? "json" : "text";
}

function chooseType(field: Field): string {
  const { kind, options } = field;
  const isText = ["date", "date-time", "decimal"].includes(kind.column.type);
  const isNumber = kind.column.number === true || kind.column.type === "double";
  const type = isNumber ? "number" : isText ? "text" : kind.column.type;
  return options.optional === true && isStored(field) ? `${type} null` : type;
}

function chooseLongForm({ kind: { schema, column }, options }: Field): Input["long"] {
  if (column.type !== "text" || schema["format"] !== undefined || schema["enum"] !== undefined) return null;
  if ("multiline" in options && options.multiline === true) return "lines";
  return isLong(schema) ? "wrapped" : null;
}

function isLong({ maxLength }: InputSchema): boolean {
  return typeof maxLength === "number" && maxLength > LONG;
}

/** The maximum number of characters for one line. */
const LONG = 200;

function writeHelp(type: string, input: Kind<unknown>["input"]): Markup {
  if (type === "integer") return html` inputmode="numeric"`;
  if (type === "decimal" || type === "double") return html` inputmode="decimal"`;
  return input === undefined ? html`` : html` type="${input}"`;
}

type InputSchema = Readonly<Record<string, unknown>>;

/** Returns the inputs of a body with a JSON Schema, one for each member. */
function inputsOfSchema({ properties, required }: InputSchema): readonly Input[] {
  if (!isObject(properties)) return [];
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties).flatMap(([name, schema]) =>
    isObject(schema) && schema["readOnly"] !== true ? [inputOfSchema(name, schema, needed.includes(name))] : [],
  );
}

function inputOfSchema(name: string, schema: InputSchema, isNeeded: boolean): Input {
  const types = [schema["type"] ?? "json"].flat().map(String);
  const [first = "json"] = types.filter((each) => each !== "null");
  const type = { string: "text", integer: "integer", number: "number", boolean: "boolean" }[first] ?? "json";
  const choices = type === "boolean" ? [true, false] : schema["enum"];
  const isSecret = /password|secret/.test(name) || schema["format"] === "password";
  return {
    name,
    label: formatTitle(name),
    description: typeof schema["description"] === "string" ? schema["description"] : undefined,
    type: types.includes("null") ? `${type} null` : type,
    rule: ruleOfSchema(schema),
    isNeeded,
    choices: Array.isArray(choices) ? choices : null,
    checkboxes: parseCheckboxField(schema),
    long: type === "text" && schema["format"] === undefined && isLong(schema) ? "lines" : null,
    isSecret,
    isUnseen: isSecret || schema["writeOnly"] === true,
    help: writeHelp(type === "number" ? "decimal" : type, schema["format"] === "email" ? "email" : undefined),
    control: isSecret ? "secret" : type === "json" ? "json" : "text",
    isBox: type === "boolean" && isNeeded,
    isEmptiable: !isNeeded,
    initial: schema["default"],
    field: null,
    formatValue: (value) => (typeof value === "string" && type !== "json" ? value : JSON.stringify(value)),
    nameValue: (value) => (typeof value === "boolean" ? (value ? "Yes" : "No") : formatTitle(String(value))),
  };
}
