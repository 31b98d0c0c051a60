import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../../core/checking/members.ts";
import type { Eventually } from "../../../core/eventually.ts";
import { valueOfJSON } from "../../../core/exact-numbers.ts";
import { MAX_ISSUES, Problem, type Issue } from "../../../core/problem/problem.ts";
import { Flaw, isShown, isWritable } from "../../../resource/declaration/field.ts";
import type { FilterValue } from "../../../resource/filter-value.ts";
import { DEFAULT_LIMIT } from "../../../resource/page-size.ts";
import { pointerTo } from "../../../resource/pointer.ts";
import type { AskedOnce, Filter } from "../../../resource/query.ts";
import type { ListText, StoredRecord } from "../../../store/store.ts";
import type { Older, OlderMember, Shaped } from "../../declarations/older-shape.ts";
import { invalid } from "../../request/exchange.ts";
import { inTurns } from "../../scheduling/slices.ts";

/**
 * The part of a mount that shows records: its shape, its computed fields, and the columns that the shown fields need.
 */
type MountOutput = Shaped & { readonly computed: readonly string[]; readonly sources: readonly string[] };
type ShapedRecord = Readonly<Record<string, unknown>>;

/** True if these fields are plain columns, so a store can show them directly. Null: all fields. */
export function areColumns({ older, computed }: MountOutput, fields: readonly string[] | null): boolean {
  return older === null && (fields === null ? computed.length === 0 : !fields.some((name) => computed.includes(name)));
}

/** Returns the columns that these fields need. Null: all fields. */
export function columnsFor(shown: MountOutput, fields: readonly string[] | null): readonly string[] {
  const { older, computed, sources } = shown;
  if (fields === null) return sources;
  if (older === null) return areColumns(shown, fields) ? fields : sources;
  if (computed.length > 0) return sources;
  return [...new Set(fields.map((name) => older.members.get(name)?.from ?? name))];
}

/** Returns the sort order with the names of columns. */
export function convertSort({ older }: Shaped, sort: AskedOnce["sort"]): AskedOnce["sort"] {
  if (older === null) return sort;
  return sort.map((each) => ({ ...each, field: older.members.get(each.field)?.from ?? each.field }));
}

/** Returns a filter with the name of its column, and with its values converted to the newer shape. */
export function convertFilter({ older }: Shaped, filter: Filter): Filter {
  const member = older?.members.get(filter.field);
  if (older === null || member === undefined) return filter;
  const { from: field, isPlain } = member;
  if (isPlain || filter.operator === "null") return { ...filter, field };
  const { kind } = older.newer.resource.fields[field]!;
  const convert = (value: FilterValue): FilterValue => {
    const read = kind.parse(member.read!(value));
    if (read instanceof Flaw)
      throw invalid([{ pointer: `?${filter.field}`, code: "invalid", detail: "No record can have this value." }]);
    return read as FilterValue;
  };
  const value = Array.isArray(filter.value)
    ? filter.value.map((each) => convert(each as FilterValue) as string | number | boolean)
    : convert(filter.value);
  return { ...filter, field, value };
}

/** Returns the JSON of a page with these fields. Lets other requests run between the records of a large page. */
export function showPage(
  { show }: { readonly show: (record: StoredRecord) => ShapedRecord },
  fields: readonly string[] | null,
  { json, count }: Pick<ListText, "json" | "count">,
): Eventually<string> {
  const records = valueOfJSON(json) as readonly StoredRecord[];
  const shown: ShapedRecord[] = [];
  const step = (record: StoredRecord): void => {
    const shape = show(record);
    shown.push(fields === null ? shape : Object.fromEntries(fields.map((name) => [name, shape[name]])));
  };
  if (count > DEFAULT_LIMIT) return inTurns(records, step).then(() => JSON.stringify(shown));
  for (const record of records) step(record);
  return JSON.stringify(shown);
}

/** The existing record, which a request body is compared with, and facts about that body. */
interface ComparedRecord {
  /** The record in both shapes. Null if the request creates a record. */
  readonly current: { readonly old: ShapedRecord; readonly newer: ShapedRecord } | null;
  /** True if the body is XML or a form, so that every value in it is text. */
  readonly leavesAreText: boolean;
  /**
   * The fields that the caller did not send. The service copied them from the record into the body. Present only if the
   * caller may not read the record.
   */
  readonly hidden?: ReadonlySet<string>;
}

/** Converts a complete representation to the newer shape. Ends the request if fields of the older shape are invalid. */
export function convertWhole(older: Older, whole: unknown, reading: ComparedRecord): unknown {
  if (!isObject(whole)) return whole;
  const { current, hidden } = reading;
  const issues: Issue[] = [];
  const say = (name: string, code: string, detail: string): unknown =>
    issues.push({ pointer: pointerTo(name), code, detail });
  const made: Record<string, unknown> = current === null ? collectDefaults(older) : collectUnsent(older, current.newer);
  for (const [name, sent] of Object.entries(whole)) {
    const member = older.members.get(name);
    if (name === "id") made["id"] = sent;
    else if (member === undefined) say(name, "unknown_field", "There is no field of this name.");
    else if (hidden?.has(name) === true) keep(member, current, made);
    else if (member.isPlain) made[member.from] = sent;
    else {
      const value = converted(member, sent, reading);
      if (value instanceof Flaw) say(name, value.code, value.detail);
      else if (value !== undefined) made[member.from] = value;
    }
    if (issues.length >= MAX_ISSUES) break;
  }
  if (issues.length > 0) throw invalid(issues);
  return made;
}

/** Keeps the stored value of a field that the caller did not send. */
function keep(
  { from, isPlain, read }: OlderMember,
  current: ComparedRecord["current"],
  made: Record<string, unknown>,
): void {
  if (isPlain || read !== null) made[from] = current?.newer[from];
}

/**
 * Returns the names of the fields that the caller did not send, in the newer shape. `hidden` has the fields of `whole`
 * that the caller did not send, by their names in the older shape. `made` is `whole`, converted to the newer shape.
 */
export function convertHidden(
  { members }: Older,
  whole: unknown,
  hidden: ReadonlySet<string>,
  made: unknown,
): ReadonlySet<string> {
  const sent = new Set(
    (isObject(whole) ? Object.keys(whole) : [])
      .filter((name) => !hidden.has(name))
      .map((name) => members.get(name)?.from),
  );
  return new Set((isObject(made) ? Object.keys(made) : []).filter((name) => name !== "id" && !sent.has(name)));
}

/** Returns the defaults of this shape, without those of fields that the caller may not send. */
function collectDefaults({ defaults, newer: { resource } }: Older): Record<string, unknown> {
  const sent = Object.entries(defaults).filter(
    ([name]) => Object.hasOwn(resource.fields, name) && isWritable(resource.fields[name]!),
  );
  return Object.fromEntries(sent);
}

/** Returns the current values of the fields that a caller of the older shape cannot send. They stay unchanged. */
function collectUnsent({ newer, members }: Older, current: ShapedRecord): Record<string, unknown> {
  const sent = new Set([...members.values()].filter(({ read }) => read !== null).map(({ from }) => from));
  const unsentFields = Object.entries(newer.resource.fields).filter(
    ([name, field]) => isShown(field) && isWritable(field) && !sent.has(name),
  );
  return Object.fromEntries(unsentFields.map(([name]) => [name, current[name]]));
}

/**
 * Converts a sent value. Returns undefined for a read-only field that was sent unchanged, and a `Flaw` if the value is
 * invalid.
 */
function converted(
  { name, from, field, read }: OlderMember,
  sent: unknown,
  { current: seen, leavesAreText, hidden }: ComparedRecord,
): unknown {
  const { kind, options } = field;
  const current = hidden === undefined ? seen : null;
  const value =
    sent === null ? null : leavesAreText && typeof sent === "string" ? kind.parseText(sent) : kind.parse(sent);
  if (!isWritable(field)) {
    if (current !== null && isDeepStrictEqual(value, current.old[name])) return undefined;
    return new Flaw("read_only", "This field cannot be set.");
  }
  if (value === null) return options.optional === true ? null : new Flaw("invalid", "This field must not be null.");
  // An unchanged value is not converted back. The older shape may not contain all of the newer value, so a part of it
  // would be lost.
  if (current !== null && isDeepStrictEqual(value, current.old[name])) return current.newer[from];
  return value instanceof Flaw ? value : read!(value);
}

/** Runs work in the newer shape. If the work throws a problem, its issues get the field names of the older shape. */
export function withOlderNames<T>({ older }: Shaped, work: () => T): T {
  if (older === null) return work();
  try {
    const done = work();
    return (done instanceof Promise ? done.catch((error: unknown) => fail(older, error)) : done) as T;
  } catch (error) {
    return fail(older, error);
  }
}

/** Returns a problem with the field names of the older shape. */
export function convertProblem({ older }: Shaped, error: Error): Error {
  return older !== null && error instanceof Problem ? error.at((pointer) => olderPointer(older, pointer)) : error;
}

function fail(older: Older, error: unknown): never {
  throw error instanceof Error ? convertProblem({ older }, error) : error;
}

/**
 * Returns the pointer in the older shape. If the older shape does not have the field, returns the pointer to the whole
 * body.
 */
function olderPointer({ members, newer }: Older, pointer: string): string {
  const [, first = "", rest = ""] = /^\/([^/]*)(.*)$/.exec(pointer) ?? [];
  if (first === "" || first === "id" || !Object.hasOwn(newer.resource.fields, first)) return pointer;
  const member = memberFrom(members, first);
  if (member === undefined) return "";
  return `/${member.name}${member.isPlain ? rest : ""}`;
}

/** Returns the name of a field in the older shape, or null if the older shape does not have the field. */
export function olderName({ members }: Older, name: string): string | null {
  return memberFrom(members, name)?.name ?? null;
}

function memberFrom(members: Older["members"], name: string): OlderMember | undefined {
  const all = [...members.values()].filter(({ from }) => from === name);
  return all.find(({ read }) => read !== null) ?? all[0];
}
