import { isObject } from "../../core/checking/members.ts";
import { Problem, type Issue } from "../../core/problem/problem.ts";
import { isRequired, longestJSON, type Field, type Kind } from "../../resource/declaration/field.ts";
import { tooLong } from "../../resource/kinds/long-values.ts";
import type { Resource } from "../../resource/resource.ts";
import { readJSON } from "../formats/json.ts";
import { setMember } from "../formats/member.ts";
import type { TypedTexts } from "../request/sent-form.ts";
import { formatLocalTime } from "./local-time.ts";

/** The record that a form was filled from, as the caller may read it. Null: a new record, or one that is not shown. */
export type FilledFrom = Readonly<Record<string, unknown>> | null;

/** The end of the name that holds the time zone of a field: `due_at.zone`. */
const ZONE = ".zone";
/** The end of the name of the line that finds a record by a part of its name: `assignee_id.find`. */
const FIND = ".find";
/** The end of the name of the checkbox that clears a field whose value is not shown: `cost.clear`. */
const CLEAR = ".clear";

/** The texts of a form, and what is needed to read them. */
export interface Typing {
  readonly texts: TypedTexts;
  /** The fields of the form: of the record, or of the body of an action. */
  readonly resource: Resource;
  /** True if the form changes a record (PATCH), and only its changes count. */
  readonly isChange: boolean;
  readonly from: FilledFrom;
}

/** The body that a form means, and the mistakes of texts that cannot be a value of their field in any way. */
export interface ReadTexts {
  readonly body: Readonly<Record<string, unknown>>;
  readonly issues: readonly Issue[];
}

/**
 * Reads the texts of a form. A form has every field that its page shows, so only the fields that differ from the record
 * count as sent.
 */
export function readTyped({ texts, resource, isChange, from }: Typing): ReadTexts {
  const body: Record<string, unknown> = {};
  const issues: Issue[] = [];
  for (const [name, typed] of texts) {
    if (isPartOf(name, texts, resource)) {
      const isSearch = name.endsWith(FIND) && typed.some((each) => each.trim() !== "");
      const detail = "Choose one of those whose name fits.";
      if (isSearch) issues.push({ pointer: `/${name.slice(0, -FIND.length)}`, code: "invalid", detail });
      continue;
    }
    const field = Object.hasOwn(resource.fields, name) ? resource.fields[name] : undefined;
    const value =
      field === undefined
        ? typed.at(-1)
        : readField({ name, field, typed, texts, isChange, current: from?.[name] }, issues);
    if (value !== undefined) setMember(body, name, value);
  }
  for (const name of clearedIn(texts, resource)) if (!Object.hasOwn(body, name)) setMember(body, name, null);
  return { body, issues };
}

/** Returns true for the time zone, the searching line or the clearing checkbox of a field. */
function isPartOf(name: string, texts: TypedTexts, { fields }: Resource): boolean {
  const [field, part] = [name.slice(0, name.lastIndexOf(".")), name.slice(name.lastIndexOf("."))];
  if (!Object.hasOwn(fields, field)) return false;
  const { kind } = fields[field]!;
  if (part === FIND) return kind.references !== undefined || kind.members !== undefined;
  return part === CLEAR || (part === ZONE && texts.has(field) && kind.column.type === "date-time");
}

function clearedIn(texts: TypedTexts, { fields }: Resource): readonly string[] {
  return [...texts.keys()]
    .filter((name) => name.endsWith(CLEAR) && texts.get(name)!.includes("true"))
    .map((name) => name.slice(0, -CLEAR.length))
    .filter((name) => Object.hasOwn(fields, name));
}

interface TypedField {
  readonly name: string;
  readonly field: Field;
  readonly typed: readonly string[];
  readonly texts: TypedTexts;
  readonly isChange: boolean;
  /** The value in the record. Undefined if the caller may not read it, or if there is no record. */
  readonly current: unknown;
}

/** Returns the value of a field. Returns undefined if it does not count as sent. */
function readField(sent: TypedField, issues: Issue[]): unknown {
  const { name, field, typed, texts, isChange, current } = sent;
  const { kind } = field;
  if (takesSeveral(kind) && !typed.some((each) => each.startsWith("["))) return readSeveral(sent);
  // A checkbox follows a hidden field of the same name, because a browser sends nothing for an unchecked one.
  const isBoolean = kind.column.type === "boolean";
  if (typed.length > 1 && !isBoolean) {
    issues.push({ pointer: `/${name}`, code: "repeated", detail: "The field must be given once." });
    return typed.at(-1);
  }
  const text = typed.at(-1)!.replaceAll("\r\n", "\n");
  if (isChange && current !== undefined && text === formatShown(kind, current)) return undefined;
  if (text === "") return readEmpty(sent);
  const [zone = "UTC"] = texts.get(name + ZONE) ?? [];
  const value = readText(name, field, kind.column.type === "date-time" ? formatLocalTime(text, zone) : text, issues);
  return isChange && current !== undefined && isSame(kind, value, current) ? undefined : value;
}

/**
 * Returns the value of an empty text: null for a field that can be empty, and nothing for a field that was not shown.
 */
function readEmpty({ field, isChange, current }: TypedField): unknown {
  const isOptional = field.options.optional === true;
  if (!isChange) return isOptional && field.options.default !== undefined ? null : undefined;
  if (current === undefined || current === null) return undefined;
  return isOptional ? null : "";
}

/** Returns the value of checkboxes, and of a line with several ids. */
function readSeveral({ field, typed, isChange, current }: TypedField): unknown {
  const isOfIds = field.kind.members !== undefined;
  const words = typed.flatMap((each) => (isOfIds ? each.split(/[\s,]+/) : [each])).filter((each) => each !== "");
  const isNumber = field.kind.members?.id === "integer";
  const values = [...new Set(words)].map((each) => (isNumber ? readInteger(each) : each));
  if (!isChange) return values.length === 0 && !isRequired(field) ? undefined : values;
  const isUnchanged = JSON.stringify(values) === JSON.stringify(current ?? []);
  return isUnchanged ? undefined : values;
}

/** Returns true for a field with several values, each with a checkbox: ids of records, or words. */
function takesSeveral({ members, schema }: Kind<unknown>): boolean {
  if (members !== undefined) return true;
  const { type, items } = schema;
  return [type].flat().includes("array") && isObject(items) && Array.isArray(items["enum"]);
}

/** Returns a value as the input of its field shows it. */
function formatShown({ column }: Kind<unknown>, value: unknown): string {
  if (value === null) return "";
  if (column.type === "json") return JSON.stringify(value, null, 2);
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isSame({ column }: Kind<unknown>, value: unknown, current: unknown): boolean {
  if (column.type === "date-time") return Date.parse(String(value)) === Date.parse(String(current));
  return JSON.stringify(value) === JSON.stringify(current);
}

/** Returns the value of a text. A text that is no value of its field is sent unchanged, and the field refuses it. */
function readText(name: string, field: Field, text: string, issues: Issue[]): unknown {
  const { column } = field.kind;
  switch (column.type) {
    case "integer":
      return readInteger(text);
    case "double":
      return readNumber(text);
    case "decimal":
      return column.number === true ? readNumber(text) : text.trim();
    case "boolean":
      return text === "true" ? true : text === "false" ? false : text;
    case "json":
      return readJSONText(name, field, text, issues);
    case "date":
    case "date-time":
      return text.trim();
    case "text":
      // The input of a text with one line may wrap it.
      return isOneLine(field) ? joinLines(text) : text;
  }
}

/** Returns the lines of a text as one line. A pattern for the white space around line breaks would be quadratic. */
function joinLines(text: string): string {
  const lines = text.split("\n");
  if (lines.length === 1) return text;
  const [first, last] = [lines[0]!.trimEnd(), lines.at(-1)!.trimStart()];
  const between = lines.slice(1, -1).flatMap((line) => line.trim() || []);
  return [first, ...between, last].join(" ");
}

/** A kind of your own may accept line breaks, so it gets the text as it was typed. */
function isOneLine({ kind }: Field): boolean {
  return kind.rule?.["multiline"] === false;
}

function readInteger(text: string): number | string {
  const number = /^\s*-?\d{1,16}\s*$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : text;
}

function readNumber(text: string): number | string {
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

function readJSONText(name: string, { kind }: Field, text: string, issues: Issue[]): unknown {
  if (text.length > longestJSON(kind)) {
    const { code, detail } = tooLong({ kind });
    issues.push({ pointer: `/${name}`, code, detail });
    return text;
  }
  try {
    return readJSON(Buffer.from(text), { exactNumbers: true });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    issues.push({ pointer: `/${name}`, code: "invalid", detail: `The text must be JSON: ${error.detail}` });
    return text;
  }
}
