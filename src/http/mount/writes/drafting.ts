import { requireSecureTransport } from "../../../core/call/transport.ts";
import { isObject } from "../../../core/checking/members.ts";
import type { Eventually } from "../../../core/eventually.ts";
import { Problem, problem, type Issue } from "../../../core/problem/problem.ts";
import { isWritable, longestJSON } from "../../../resource/declaration/field.ts";
import { readDraft, type Draft, type DraftOptions } from "../../../resource/draft.ts";
import { tooLong } from "../../../resource/kinds/long-values.ts";
import type { Resource } from "../../../resource/resource.ts";
import type { Key, StoredRecord } from "../../../store/store.ts";
import { withoutEmptyTexts } from "../../body/empty-texts.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { readJSON } from "../../formats/json.ts";
import { applyJSONPatch, parseJSONPatch, type Operation } from "../../patch/json-patch.ts";
import { applyMergePatch } from "../../patch/merge-patch.ts";
import { getExchange, invalid, type Context } from "../../request/exchange.ts";
import type { ReceivedBody } from "../../request/facts.ts";
import { convertHidden, olderName, withOlderNames, convertWhole } from "../older/translating.ts";
import { collectDeprecatedFields, collectDeprecatedInBody } from "../used-deprecations.ts";

/** The record that a body is read for. */
export interface Target {
  /** The id in the path. Null if the service assigns one, or if there is none. */
  readonly id: Key | null;
  /** The visible fields of the existing record. Null for a new record. */
  readonly current: Readonly<Record<string, unknown>> | null;
}

/** Reads the body as a complete representation. Ends the request with all issues together. */
export function requireDraft<R extends Resource, const T extends Target>(
  resource: R,
  context: Context,
  target: T,
): Draft<R, T extends { readonly current: null } ? "made" : "changed">;
export function requireDraft(resource: Resource, context: Context, target: Target): Draft {
  return parseDraft(resource, context, requireBody(resource, context), target);
}

/** The target of a sent record: its id and its current state. */
export interface RecordTarget {
  /** The id in the path. Null if the service assigns one. */
  readonly id: Key | null;
  /** The existing record. Null for a new record. */
  readonly record: StoredRecord | null;
  /** True if the body need not have all fields. */
  readonly partial?: boolean;
  /**
   * The names of the fields that the service filled in from the record. Present only if the caller may not read the
   * record.
   */
  readonly hidden?: ReadonlySet<string>;
}

/** Reads the body as a complete record of this mount. Ends the request with all issues together. */
export function requireRecordDraft<const T extends RecordTarget>(
  mount: ServedMount,
  context: Context,
  target: T,
): Draft<Resource, T extends { readonly record: null } ? "made" : "changed">;
export function requireRecordDraft(mount: ServedMount, context: Context, target: RecordTarget): Draft {
  return parseRecordDraft(mount, context, requireBody(mount.resource, context), target);
}

/** Parses a complete record of this mount, in any shape. Ends the request with all issues together. */
export function parseRecordDraft(mount: ServedMount, context: Context, whole: unknown, subject: RecordTarget): Draft {
  const { resource, older, newer, show } = mount;
  const { id, record, partial = false, hidden } = subject;
  const current = record === null ? null : show(record);
  const complete = record === null ? {} : completeRecord(mount, record);
  if (older === null || newer === null)
    return parseDraft(resource, context, whole, {
      id,
      current,
      partial,
      ...complete,
      ...(hidden === undefined ? {} : { hidden }),
    });
  const both = record === null ? null : { old: show(record), newer: newer.show(record) };
  const leavesAreText = context.body?.leavesAreText ?? false;
  const reading = { current: both, leavesAreText, ...(hidden === undefined ? {} : { hidden }) };
  const made = convertWhole(older, whole, reading);
  const hiddenMembers = hidden === undefined ? {} : { hidden: convertHidden(older, whole, hidden, made) };
  const target = {
    id,
    current: both?.newer ?? null,
    partial,
    ...complete,
    ...hiddenMembers,
    given: older.defaults,
  };
  return withOlderNames(mount, () =>
    parseDraft(newer.resource, context, made, target, (name) => olderName(older, name)),
  );
}

/** Returns the record with all fields, if rules hide fields of it from the caller. */
function completeRecord(mount: ServedMount, record: StoredRecord): Pick<DraftOptions, "whole"> {
  const { declared } = mount.newer ?? mount;
  return declared === undefined ? {} : { whole: declared.show(record) };
}

/** A patch in the body, which is parsed before its record is loaded. */
export interface Patch {
  /**
   * Applies the patch to the visible fields of a record, and reads the result as a complete record. Throws
   * `patch_conflict` if the patch does not apply. If the caller may not read the record, the result depends only on the
   * patch, so that it reveals nothing.
   */
  applyTo(record: StoredRecord, mayRead: boolean): Eventually<Draft>;
  /** Ends the request if the patch is invalid for every record. Called if the record does not exist. */
  requireSound(): void;
  /** The problem for a caller who may not read the record. Null if the patch reveals nothing of the record. */
  readonly unseen: Problem | null;
}

/** Reads the body as a patch of the record with this id. */
export function requirePatch(mount: ServedMount, context: Context, id: Key): Patch {
  const { resource, show } = mount;
  const { mediaType, value: sent } = context.body!;
  if (mediaType === "application/json-patch+json") {
    const operations = parseJSONPatch(sent);
    getExchange(context).useDeprecated(
      collectDeprecatedFields(
        resource,
        operations.map(({ path }) => path[0] ?? ""),
      ),
    );
    return {
      applyTo: async (record, mayRead) => {
        const current = show(record);
        const patched = await applyJSONPatch(current, operations);
        requireReadOnlyUnchanged(resource, operations, patched);
        const named = new Set(operations.map(({ path }) => path[0]!));
        return parseRecordDraft(mount, context, patched, { id, record, ...hiddenIn(current, named, mayRead) });
      },
      requireSound: () => undefined,
      unseen: unseenPatch(resource, operations),
    };
  }
  const value = requireBody(resource, context);
  return {
    applyTo: (record, mayRead) => parseMergedDraft(mount, context, value, { id, record, mayRead }),
    requireSound: () => void parseRecordDraft(mount, context, value, { id, record: null, partial: true }),
    unseen: unseenFields(resource, value),
  };
}

/**
 * Applies a merge patch to a record and parses the result. If the caller may not read the record, a sent field replaces
 * the whole field, because a merge would depend on hidden values.
 */
export function parseMergedDraft(
  mount: ServedMount,
  context: Context,
  value: unknown,
  { id, record, mayRead }: { readonly id: Key; readonly record: StoredRecord; readonly mayRead: boolean },
): Draft {
  const current = mount.show(record);
  const named = new Set(isObject(value) ? Object.keys(value) : []);
  const base = mayRead ? current : Object.fromEntries(Object.entries(current).filter(([name]) => !named.has(name)));
  return parseRecordDraft(mount, context, merged(base, value), { id, record, ...hiddenIn(current, named, mayRead) });
}

/** Returns the names of the fields that come from the record. Returns none if the caller may read the record. */
function hiddenIn(
  current: Readonly<Record<string, unknown>>,
  named: ReadonlySet<string>,
  mayRead: boolean,
): Pick<RecordTarget, "hidden"> {
  return mayRead ? {} : { hidden: new Set(Object.keys(current).filter((name) => !named.has(name))) };
}

/**
 * Returns the problem for a JSON Patch of a caller who may not read the record. Returns null if every operation adds,
 * replaces or removes a whole field that callers may send. Any other operation depends on the current values, so the
 * caller could find them out by trying.
 */
function unseenPatch(resource: Resource, operations: readonly Operation[]): Problem | null {
  const at = operations.findIndex(
    ({ op, path }) => !["add", "replace", "remove"].includes(op) || path.length !== 1 || isGiven(resource, path[0]!),
  );
  const detail = `Operation ${at}: it reads the record, which you may not read.`;
  return at === -1 ? null : problem("patch_conflict", { detail });
}

/**
 * Returns the problem for a body that contains fields which only the service sets, from a caller who may not read the
 * record. Such a field must have its current value, so the caller could find out the value by trying. Returns null if
 * the body has no such field.
 */
export function unseenFields(resource: Resource, sent: unknown): Problem | null {
  const serviceFields = isObject(sent)
    ? Object.keys(sent).filter((name) => name !== "id" && isGiven(resource, name))
    : [];
  const issues = serviceFields.map((name) => ({
    pointer: `/${name}`,
    code: "read_only",
    detail: "This field cannot be set.",
  }));
  return issues.length === 0 ? null : problem("invalid", { issues });
}

/** Returns the sent fields without the fields that only the service sets. */
export function withoutGiven(
  resource: Resource,
  sent: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !isGiven(resource, name)));
}

/** Marks the deprecated fields of a body as used, so that the response announces them. */
export function noteDeprecated(resource: Resource, context: Context, sent: unknown): void {
  if (resource.deprecations !== null) getExchange(context).useDeprecated(collectDeprecatedInBody(resource, sent));
}

/**
 * Ends the request if a patch removes a field that only the service sets. A complete body may omit such a field, but a
 * patch that removes the field is a change.
 */
function requireReadOnlyUnchanged(resource: Resource, operations: readonly Operation[], patched: unknown): void {
  const issues = operations.flatMap((operation): Issue[] => {
    const taken = operation.op === "remove" ? operation.path : operation.op === "move" ? operation.from : [];
    const [name = ""] = taken;
    if (taken.length !== 1 || !isGiven(resource, name) || (isObject(patched) && Object.hasOwn(patched, name)))
      return [];
    return [{ pointer: `/${name}`, code: "read_only", detail: "This field cannot be removed." }];
  });
  if (issues.length > 0) throw invalid(issues.slice(0, 1));
}

function isGiven({ fields }: Resource, name: string): boolean {
  return name === "id" || (Object.hasOwn(fields, name) && !isWritable(fields[name]!));
}

/**
 * Returns the sent value, or an empty object if there is no body. Ends the request if the root element is not the
 * record.
 */
function requireBody(resource: Resource, context: Context): unknown {
  const { body } = context;
  if (body === null) return {};
  const { name } = resource;
  if (body.element !== null && body.element !== name)
    throw problem("malformed", { detail: `The root element must be <${name}>.` });
  const sent = parseJSONFields(resource, body);
  noteDeprecated(resource, context, sent);
  return withoutEmptyTexts(resource, body, sent);
}

/**
 * Returns the sent value. In XML, a field with a JSON value is sent as JSON text, which is parsed here. Ends the
 * request if that text is invalid.
 */
function parseJSONFields({ fields }: Resource, { value, leavesAreText }: ReceivedBody): unknown {
  if (!leavesAreText || !isObject(value)) return value;
  const read = { ...value };
  const issues: Issue[] = [];
  for (const [name, { kind }] of Object.entries(fields)) {
    if (kind.column.type !== "json" || !Object.hasOwn(read, name) || read[name] === null) continue;
    const text = read[name];
    if (typeof text === "string" && text.length > longestJSON(kind)) {
      const { code, detail } = tooLong({ kind });
      issues.push({ pointer: `/${name}`, code, detail });
      continue;
    }
    try {
      read[name] = typeof text === "string" ? readJSON(Buffer.from(text), { exactNumbers: true }) : undefined;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      issues.push({ pointer: `/${name}`, code: "invalid", detail: `The element holds JSON text: ${error.detail}` });
    }
    if (typeof text !== "string")
      issues.push({ pointer: `/${name}`, code: "invalid", detail: "The element holds JSON text and no elements." });
  }
  if (issues.length > 0) throw invalid(issues);
  return read;
}

/**
 * Merges a patch. In RFC 7396, a null removes the member. A record always has all members, so the member becomes null.
 */
function merged(current: Readonly<Record<string, unknown>>, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const removed = Object.entries(patch).filter(([, value]) => value === null);
  return { ...(applyMergePatch(current, patch) as object), ...Object.fromEntries(removed) };
}

/** Parses a complete representation. Ends the request with all issues together. */
function parseDraft(
  resource: Resource,
  context: Context,
  whole: unknown,
  target: Target & Pick<DraftOptions, "partial" | "hidden" | "whole" | "given">,
  findName: FindName = (name) => name,
): Draft {
  requireSecret(resource, context, whole);
  const draft = readDraft(resource, whole, {
    ...target,
    leavesAreText: context.body?.leavesAreText ?? false,
    context: { identity: context.identity, now: context.now, requireIdentity: () => context.requireIdentity() },
  });
  if ("hiddenField" in draft) throw buildHiddenConflict(resource, draft.hiddenField, findName);
  if (isDraft(draft)) return draft;
  throw invalid(draft);
}

/**
 * Returns the problem for a body that may be invalid together with a hidden field. It has no pointer, because the sent
 * fields are not wrong. It is the same for every value of the hidden field, so it does not reveal the value.
 */
function buildHiddenConflict({ fields }: Resource, hidden: string | null, findName: FindName): Problem {
  if (hidden === null)
    return problem("conflict", { detail: "The record would not be valid together with values that you may not read." });
  const name = findName(hidden) ?? "another field";
  const isSendable = Object.hasOwn(fields, hidden) && isWritable(fields[hidden]!) && findName(hidden) !== null;
  const cure = isSendable ? "you may not read and did not send. Send it too." : "you may neither read nor send.";
  return problem("conflict", { detail: `The validity of this body depends on ${name}, which ${cure}` });
}

/** Returns the name of a field in the shape of the request. Returns null if the shape does not have it. */
type FindName = (name: string) => string | null;

/**
 * Ends the request if it sends a password without TLS, as at a login. Other people on the network could read the
 * password.
 */
function requireSecret({ fields }: Resource, context: Context, whole: unknown): void {
  if (getExchange(context).service.allowsCleartextLogins || !isObject(whole)) return;
  for (const [name, { options }] of Object.entries(fields))
    if (options.confidential === true && Object.hasOwn(whole, name)) return requireSecureTransport(context.call);
}

function isDraft(draft: Draft | readonly Issue[]): draft is Draft {
  return !Array.isArray(draft);
}
