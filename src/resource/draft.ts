import { isDeepStrictEqual } from "node:util";
import { atOnce, tooLate } from "../core/checking/at-once.ts";
import { isObject, describeType } from "../core/checking/members.ts";
import { meantName } from "../core/checking/nearest.ts";
import { anIssueList, MAX_ISSUES, type Issue } from "../core/problem/problem.ts";
import { hasUnwritable, writableInXML } from "../core/xml-characters.ts";
import { Flaw, isRequired, isShown, isStored, isWritable, type DraftContext, type Field } from "./declaration/field.ts";
import { isTooLong, tooLong } from "./kinds/long-values.ts";
import { formatInstant } from "./kinds/times.ts";
import { pointerTo } from "./pointer.ts";
import type { ChangedValuesOf, MadeValuesOf, Resource, TransientOf } from "./resource.ts";

/** The checked input of a caller, for a new record (`made`) or for an existing one (`changed`). */
export interface Draft<R extends Resource = Resource, For extends "made" | "changed" = "changed"> {
  /** The values to store, by column. Without the fields that keep their value. */
  readonly values: For extends "made" ? MadeValuesOf<R> : ChangedValuesOf<R>;
  /** The transient fields that were sent. */
  readonly transient: TransientOf<R>;
}

export interface DraftOptions {
  /** The id in the path. Null if the service assigns one. */
  readonly id: number | string | null;
  /** The record that is being replaced. Null if a record is created. */
  readonly current: Readonly<Record<string, unknown>> | null;
  /** True if the body names only some fields, and the other fields keep their values. */
  readonly partial?: boolean;
  /**
   * The names of body fields that the caller did not send and may not read. Their values were copied from the record.
   * The response must not depend on these values, or on any other value of the record. Undefined if the caller may read
   * the record.
   */
  readonly hidden?: ReadonlySet<string>;
  /**
   * The complete record, if the rules of fields hide a part of `current` from the caller. `check` gets it. Undefined if
   * the caller may know every field.
   */
  readonly whole?: Readonly<Record<string, unknown>> | undefined;
  /** The values for fields that the caller may not send. They replace the defaults of the fields. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** True if every value of the body is text, as in XML and forms. The field of the value then parses the text. */
  readonly leavesAreText: boolean;
  readonly context: DraftContext;
}

/**
 * The result if `check` needs a field that the caller did not send and may not read. Null if the caller may not know
 * the name of the field either.
 */
export interface Undecided {
  readonly hiddenField: string | null;
}

/**
 * Reads the body of a write: all fields of a record, or with `partial` only some. Reports all issues together, at most
 * `MAX_ISSUES`.
 */
export function readDraft(
  resource: Resource,
  body: unknown,
  options: DraftOptions,
): Draft | readonly Issue[] | Undecided {
  if (!isObject(body)) return [{ pointer: "", code: "invalid", detail: "An object is required." }];
  const issues: Issue[] = [];
  const values: Record<string, unknown> = {};
  const transient: Record<string, unknown> = {};
  const { hidden } = options;
  const optionsWithoutRecord = hidden === undefined || options.current === null ? options : { ...options, current: {} };
  for (const [name, field] of Object.entries(resource.fields)) {
    const sent = Object.hasOwn(body, name) ? body[name] : undefined;
    if (sent === undefined && options.partial === true) continue;
    const isHidden = hidden?.has(name) === true;
    const against = isHidden ? options : optionsWithoutRecord;
    // Keeps values that other programs have written, even if this program would refuse them.
    if (resource.table !== null && keepsValue(name, field, sent, against)) continue;
    const target: NamedField = { path: resource.path, name, field };
    const value = isWritable(field) ? resolveValue(target, sent, against) : resolveServiceValue(target, sent, against);
    if (value instanceof Promise) throw tooLate(value, `${resource.path}: the kind of the field ${name}`);
    if (value instanceof Flaw && isHidden) continue;
    if (value instanceof Flaw) issues.push(...buildIssues(name, value, isShown(field) ? undefined : sent));
    else if (value !== undefined) (isStored(field) ? values : transient)[name] = value;
  }
  for (const [name, field] of Object.entries(resource.concealed ?? {})) {
    if (options.partial === true) continue;
    const value = resolveServiceValue({ path: resource.path, name, field }, undefined, options);
    if (value === undefined) continue;
    if (isStored(field)) values[name] = value;
    else if (value !== null) transient[name] = value;
  }
  const unknown: string[] = [];
  for (const name of Object.keys(body)) {
    if (issues.length + unknown.length >= MAX_ISSUES) break;
    if (name === "id") checkId(body[name], options, issues);
    else if (!Object.hasOwn(resource.fields, name)) unknown.push(name);
  }
  issues.push(...unknown.map((name, at) => unknownField(name, at < MAX_SUGGESTIONS ? resource : null)));
  if (issues.length === 0 && options.partial !== true) {
    const storedNames = keepConcealed(resource, values, options);
    const found = issuesTogether(resource, { values, transient }, { ...options, body, storedNames });
    if ("hiddenField" in found) return found;
    issues.push(...found);
  }
  return issues.length === 0 ? { values, transient } : issues.slice(0, MAX_ISSUES);
}

/**
 * Maximum number of suggestions in one response. A suggestion costs more time than a refusal, and a body can have a
 * hundred wrong names.
 */
const MAX_SUGGESTIONS = 5;

/**
 * Adds the stored values of the fields that the caller may not send, as if the body had them. So hooks get the same
 * draft as for other callers. A field of an existing table keeps its value without this. Returns the names of these
 * fields.
 */
function keepConcealed(
  { concealed, fields, table }: Resource,
  values: Record<string, unknown>,
  { whole }: DraftOptions,
): ReadonlySet<string> {
  const storedNames = new Set<string>();
  if (whole === undefined || table !== null) return storedNames;
  for (const [name, field] of Object.entries({ ...concealed, ...fields })) {
    if (field.allowed === undefined || Object.hasOwn(values, name)) continue;
    const { readOnly, generated } = field.options;
    if (readOnly === true || generated !== undefined || !Object.hasOwn(whole, name)) continue;
    values[name] = whole[name];
    storedNames.add(name);
  }
  return storedNames;
}

/** Returns the issue of an unknown field. Suggests a similar name. */
export function unknownField(name: string, resource: Resource | null): Issue {
  const knownNames = resource === null ? [] : Object.keys(resource.fields);
  return {
    pointer: pointerTo(name),
    code: "unknown_field",
    detail: `There is no field of this name.${knownNames.length === 0 ? "" : meantName(name, knownNames)}`,
  };
}

/** A body, and the names of the fields whose stored values were added to it. */
interface WrittenBody {
  readonly body: Readonly<Record<string, unknown>>;
  readonly storedNames: ReadonlySet<string>;
}

/**
 * Calls the resource's `check` with the record as it would be after the write. If the caller may not read the record,
 * `check` gets none of the hidden values. Otherwise the issues, or the success of the write, could reveal a hidden
 * value. Returns `Undecided` if `check` reads a hidden value.
 */
function issuesTogether(
  resource: Resource,
  { values, transient }: Draft,
  { current, hidden, whole, body, storedNames }: DraftOptions & WrittenBody,
): readonly Issue[] | Undecided {
  const record: Record<string, unknown> = { ...(whole ?? current), ...values, ...transient };
  if (hidden !== undefined) {
    const unsent = Object.keys((whole ?? current)!).filter(
      (name) => !Object.hasOwn(values, name) || hidden.has(name) || storedNames.has(name),
    );
    return issuesWithout(resource, record, unsent);
  }
  const found = issuesFound(resource, record);
  if (resource.concealed === undefined || found.length === 0) return found;
  // The body is invalid. The issues show nothing if they follow from the sent and the visible fields alone.
  const unseen = Object.entries({ ...resource.concealed, ...resource.fields }).flatMap(([name, field]) =>
    field.allowed?.read === false && !Object.hasOwn(body, name) ? [name] : [],
  );
  const alone = issuesWithout(resource, record, unseen);
  const isOpen =
    !("hiddenField" in alone) &&
    alone.length > 0 &&
    alone.every(({ pointer }) => !Object.hasOwn(resource.concealed!, fieldIn(pointer)));
  return isOpen ? alone : { hiddenField: null };
}

/** Returns the name of the field to which a pointer leads. Empty for the whole body. */
function fieldIn(pointer: string): string {
  return /^\/?([^/]*)/.exec(pointer)![1]!;
}

/** Returns the issues that `check` finds without these fields. Returns `Undecided` if it reads one of them. */
function issuesWithout(
  resource: Resource,
  known: Readonly<Record<string, unknown>>,
  unseen: readonly string[],
): readonly Issue[] | Undecided {
  const readNames: string[] = [];
  const record = { ...known };
  for (const name of unseen) {
    if (name === "id") continue;
    const get = (): never => {
      readNames.push(name);
      throw new TypeError(`${resource.path}: ${name} is hidden from this caller.`);
    };
    Object.defineProperty(record, name, { get, enumerable: true });
  }
  const undecided = (): Undecided => ({ hiddenField: findOpenName(resource, readNames[0]!) });
  try {
    const found = issuesFound(resource, record);
    return readNames.length === 0 ? found : undecided();
  } catch (error) {
    if (readNames.length === 0) throw error;
    return undecided();
  }
}

/** Returns the name, or null if a rule hides the field from the caller. */
function findOpenName({ fields }: Resource, name: string): string | null {
  return Object.hasOwn(fields, name) && fields[name]!.allowed?.read !== false ? name : null;
}

/** Returns the issues that the resource's `check` finds. */
export function issuesFound({ path, check }: Resource, record: Readonly<Record<string, unknown>>): readonly Issue[] {
  if (check === null) return [];
  const found: unknown = atOnce(check(record), `${path}: check`);
  const wrong = anIssueList(found);
  if (wrong === null) return found as readonly Issue[];
  throw new TypeError(`${path}: check gave ${describeType(found)}; ${wrong}`);
}

function keepsValue(name: string, field: Field, sent: unknown, { current, leavesAreText }: DraftOptions): boolean {
  if (current === null || sent === undefined || field.options.regenerated === true) return false;
  if (!isShown(field)) return false;
  // XML cannot show each character. A text that comes back as it was shown is no change.
  return (
    isDeepStrictEqual(sent, current[name]) || (leavesAreText && isDeepStrictEqual(sent, asShownInXML(current[name])))
  );
}

/** Returns the text of a stored value as XML shows it. Returns null if XML shows the value itself. */
function asShownInXML(value: unknown): unknown {
  return typeof value === "string" && hasUnwritable(value) ? writableInXML(value) : null;
}

/**
 * Returns the issues of a flaw. Replaces each detail that contains the value of a hidden field. Schemas of other
 * libraries may quote the value, but a response, a log or an error must not contain it.
 */
function buildIssues(name: string, { code, detail, parts }: Flaw, hidden: unknown): readonly Issue[] {
  const hideValue = (text: string): string =>
    typeof hidden === "string" && hidden !== "" && text.includes(hidden) ? "The value is not valid." : text;
  if (parts.length === 0) return [{ pointer: `/${name}`, code, detail: hideValue(detail) }];
  return parts.map((part) => ({ ...part, detail: hideValue(part.detail), pointer: `/${name}${part.pointer}` }));
}

/** A field with its name and its resource's path. */
interface NamedField {
  readonly path: string;
  readonly name: string;
  readonly field: Field;
}

/** Returns the value to store, or the flaw of the sent value. Returns undefined if the field keeps its value. */
function resolveValue(target: NamedField, sent: unknown, options: DraftOptions): unknown {
  const { name, field } = target;
  const { default: fallback, optional } = field.options;
  if (sent === undefined) {
    if (field.options.filled === true) return undefined;
    if (options.current !== null && (!isShown(field) || typeof fallback === "function")) return undefined;
    if (fallback !== undefined) return resolveDefault(target, options);
    if (optional === true) return isStored(field) ? null : undefined;
    return isRequired(field) ? new Flaw("required", "This field is required.") : undefined;
  }
  if (sent === null) {
    if (optional !== true || !isStored(field)) return new Flaw("invalid", "This field must not be null.");
    return fallback === undefined ? null : resolveDefault(target, options);
  }
  // The stored value may be longer than the present limit. The caller may send it unchanged.
  if (sent !== options.current?.[name] && isTooLong(field, sent)) return tooLong(field);
  return readValue(field, sent, options.leavesAreText);
}

function resolveDefault(target: NamedField, { context, given }: DraftOptions): unknown {
  if (given !== undefined && Object.hasOwn(given, target.name)) return given[target.name];
  const { default: fallback } = target.field.options;
  return typeof fallback === "function" ? makeValue(target, fallback as Make, context) : fallback;
}

type Make = (context: DraftContext) => unknown;

/**
 * Returns the result of a `default` or `generated` function. Throws a TypeError if the field refuses the result,
 * because the mistake is in the function and not in the request.
 */
function makeValue({ path, name, field }: NamedField, make: Make, context: DraftContext): unknown {
  const who = `${path}: the function for the field ${name}`;
  const { kind, options } = field;
  const made = atOnce(make(context), who) ?? null;
  if (made === null && options.optional === true) return isStored(field) ? null : undefined;
  if (made === null)
    throw new TypeError(`${who} gave nothing; it has to give a value, or the field has to be optional`);
  // Not parsed: a field that is never shown, because its stored form may differ from the sent form, which `kind.parse`
  // reads. The result of `formatInstant`, because it is always valid.
  if (options.writeOnly === true || make === formatInstant) return made;
  const read = kind.parse(made);
  if (read instanceof Flaw) throw new TypeError(`${who} gave a value that its kind does not take: ${read.detail}`);
  return read;
}

function readValue({ kind }: Field, sent: unknown, leavesAreText: boolean): unknown {
  return leavesAreText && typeof sent === "string" ? kind.parseText(sent) : kind.parse(sent);
}

/** Returns the values that are generated again at each write of a record of the resource. */
export function regeneratedValues(
  { path, fields }: Resource,
  context: DraftContext,
): Readonly<Record<string, unknown>> {
  const regeneratedFields = Object.entries(fields).filter(([, { options }]) => options.regenerated === true);
  return Object.fromEntries(
    regeneratedFields.map(([name, field]) => [
      name,
      makeValue({ path, name, field }, field.options.generated!, context),
    ]),
  );
}

/**
 * Returns the value of a field that the service sets: once, or at each write. Returns undefined if the field keeps its
 * value. A caller may only repeat the stored value.
 */
function resolveServiceValue(target: NamedField, sent: unknown, options: DraftOptions): unknown {
  const { name, field } = target;
  const { current, leavesAreText, context } = options;
  if (sent !== undefined) {
    const repeated = sent === null ? null : readValue(field, sent, leavesAreText);
    if (current === null || !isDeepStrictEqual(repeated, current[name]))
      return new Flaw("read_only", "This field cannot be set.");
  }
  if (field.computed !== undefined) return undefined;
  const { generated, regenerated, default: fallback } = field.options;
  if (generated !== undefined && (current === null || regenerated === true))
    return current === null && field.options.filled === true ? undefined : makeValue(target, generated, context);
  if (current !== null || field.options.filled === true) return undefined;
  if (fallback !== undefined || Object.hasOwn(options.given ?? {}, name)) return resolveDefault(target, options);
  return field.options.optional === true ? null : undefined;
}

function checkId(sent: unknown, { id, leavesAreText }: DraftOptions, issues: Issue[]): void {
  const same = id !== null && (sent === id || (leavesAreText && sent === String(id)));
  if (!same)
    issues.push({
      pointer: "/id",
      code: "read_only",
      detail: id === null ? "The id is given by the service." : "The id cannot be changed.",
    });
}
