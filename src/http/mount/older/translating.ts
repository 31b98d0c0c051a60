import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../../core/checking/members.ts";
import type { Eventually } from "../../../core/eventually.ts";
import { valueOfJSON } from "../../../core/exact-numbers.ts";
import { MAX_ISSUES, Problem, type Issue } from "../../../core/problem/problem.ts";
import type { FilterValue } from "../../../resource/filter-value.ts";
import { Flaw, isShown, isWritable } from "../../../resource/kinds/field.ts";
import { DEFAULT_LIMIT } from "../../../resource/page-size.ts";
import { pointerTo } from "../../../resource/pointer.ts";
import type { AskedOnce, Filter } from "../../../resource/query.ts";
import type { ListText, StoredRecord } from "../../../store/store.ts";
import { inTurns } from "../../body/turns.ts";
import { invalid } from "../../exchange.ts";
import type { Older, OlderMember, Shaped } from "./shape.ts";

/** What a mount shows, and of what it is made. */
type Shown = Shaped & { readonly computed: readonly string[]; readonly sources: readonly string[] };
type Values = Readonly<Record<string, unknown>>;

/** Whether these fields are columns, so that a store can show them as they are; null: all of them. */
export function areColumns({ older, computed }: Shown, fields: readonly string[] | null): boolean {
  return older === null && (fields === null ? computed.length === 0 : !fields.some((name) => computed.includes(name)));
}

/** The columns of which these fields are made; null: all of them. */
export function columnsFor(shown: Shown, fields: readonly string[] | null): readonly string[] {
  const { older, computed, sources } = shown;
  if (fields === null) return sources;
  if (older === null) return areColumns(shown, fields) ? fields : sources;
  if (computed.length > 0) return sources;
  return [...new Set(fields.map((name) => older.members.get(name)?.from ?? name))];
}

/** The order by the names of columns. */
export function sortFor({ older }: Shaped, sort: AskedOnce["sort"]): AskedOnce["sort"] {
  if (older === null) return sort;
  return sort.map((each) => ({ ...each, field: older.members.get(each.field)?.from ?? each.field }));
}

/** A filter by the name of its column, and with its values. */
export function filterFor({ older }: Shaped, filter: Filter): Filter {
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

/** The records of a page as they are shown, of these fields; of many after one another. */
export function showPage(
  { show }: { readonly show: (record: StoredRecord) => Values },
  fields: readonly string[] | null,
  { json, count }: Pick<ListText, "json" | "count">,
): Eventually<string> {
  const records = valueOfJSON(json) as readonly StoredRecord[];
  const shown: Values[] = [];
  const step = (record: StoredRecord): void => {
    const shape = show(record);
    shown.push(fields === null ? shape : Object.fromEntries(fields.map((name) => [name, shape[name]])));
  };
  if (count > DEFAULT_LIMIT) return inTurns(records, step).then(() => JSON.stringify(shown));
  for (const record of records) step(record);
  return JSON.stringify(shown);
}

/** What is read against a record: as callers see it in both shapes; null where one is made. */
interface Reading {
  readonly current: { readonly old: Values; readonly newer: Values } | null;
  readonly leavesAreText: boolean;
  /** The names in the whole that come from the record, if the caller may not read it; left out if they may. */
  readonly hidden?: ReadonlySet<string>;
}

/** The whole in the newer shape. Ends the request with what is wrong with fields that only the older one has. */
export function wholeFor(older: Older, whole: unknown, reading: Reading): unknown {
  if (!isObject(whole)) return whole;
  const { current, hidden } = reading;
  const issues: Issue[] = [];
  const say = (name: string, code: string, detail: string): unknown =>
    issues.push({ pointer: pointerTo(name), code, detail });
  const made: Record<string, unknown> = current === null ? { ...older.defaults } : keptOf(older, current.newer);
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

/** Keeps the value of a member that was not sent. */
function keep({ from, isPlain, read }: OlderMember, current: Reading["current"], made: Record<string, unknown>): void {
  if (isPlain || read !== null) made[from] = current?.newer[from];
}

/** The names in a whole of the newer shape that come from the record, as `hidden` names them in the older one. */
export function hiddenFor(
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

/** What the older shape cannot send stays as it is. */
function keptOf({ newer, members }: Older, current: Values): Record<string, unknown> {
  const sent = new Set([...members.values()].filter(({ read }) => read !== null).map(({ from }) => from));
  const kept = Object.entries(newer.resource.fields).filter(
    ([name, field]) => isShown(field) && isWritable(field) && !sent.has(name),
  );
  return Object.fromEntries(kept.map(([name]) => [name, current[name]]));
}

/** Undefined: nothing is changed by it. */
function converted(
  { name, from, field, read }: OlderMember,
  sent: unknown,
  { current: seen, leavesAreText, hidden }: Reading,
): unknown {
  const { kind, options } = field;
  const current = hidden === undefined ? seen : null;
  const value =
    sent === null ? null : leavesAreText && typeof sent === "string" ? kind.parseText(sent) : kind.parse(sent);
  if (read === null) {
    if (current !== null && isDeepStrictEqual(value, current.old[name])) return undefined;
    return new Flaw("read_only", "This field cannot be set.");
  }
  if (value === null) return options.optional === true ? null : new Flaw("invalid", "This field must not be null.");
  // What stands there is not converted twice: what the older shape does not tell apart would be lost.
  if (current !== null && isDeepStrictEqual(value, current.old[name])) return current.newer[from];
  return value instanceof Flaw ? value : read(value);
}

/** Does something in the newer shape: what is wrong is told with the names of the older one. */
export function toldAsOlder<T>({ older }: Shaped, work: () => T): T {
  if (older === null) return work();
  try {
    const done = work();
    return (done instanceof Promise ? done.catch((error: unknown) => fail(older, error)) : done) as T;
  } catch (error) {
    return fail(older, error);
  }
}

/** A problem with the names of the older shape. */
export function asOlder({ older }: Shaped, error: Error): Error {
  return older !== null && error instanceof Problem ? error.at((pointer) => olderPointer(older, pointer)) : error;
}

function fail(older: Older, error: unknown): never {
  throw error instanceof Error ? asOlder({ older }, error) : error;
}

/** What the older shape has no field for is told of the whole. */
function olderPointer({ members, newer }: Older, pointer: string): string {
  const [, first = "", rest = ""] = /^\/([^/]*)(.*)$/.exec(pointer) ?? [];
  if (first === "" || first === "id" || !Object.hasOwn(newer.resource.fields, first)) return pointer;
  const member = memberFrom(members, first);
  if (member === undefined) return "";
  return `/${member.name}${member.isPlain ? rest : ""}`;
}

/** The name of a field in the older shape; null if that has none for it. */
export function olderName({ members }: Older, name: string): string | null {
  return memberFrom(members, name)?.name ?? null;
}

function memberFrom(members: Older["members"], name: string): OlderMember | undefined {
  const all = [...members.values()].filter(({ from }) => from === name);
  return all.find(({ read }) => read !== null) ?? all[0];
}
