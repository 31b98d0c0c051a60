import type { Reply } from "../../../core/call/call.ts";
import { MAX_ISSUES, Problem, problem, type Issue } from "../../../core/problem/problem.ts";
import {
  isKeyOf,
  keyOf,
  type Change,
  type Idempotency,
  type KeyOf,
  type Outcome,
  type Row,
  type WrittenValues,
} from "../../../store/store.ts";
import { inTurns } from "../../body/turns.ts";
import { invalid, type Exchange } from "../../exchange.ts";
import type { MountInPlace } from "../mount.ts";
import { commitAll, REPLAYED, type Writing } from "./committing.ts";
import { withRepeats } from "./idempotency.ts";
import { refusal, takenAt, type Unwritten } from "./outcome.ts";

/** How many records one array has at most. */
export const MAX_RECORDS = 1000;
// As many as a problem document tells.

/** The members of an array that was sent. Ends the request where it is none, or has none or too many. */
export function requireMembers(value: unknown): readonly unknown[] {
  if (Array.isArray(value) && value.length >= 1 && value.length <= MAX_RECORDS) return value as unknown[];
  const [code, detail] =
    Array.isArray(value) && value.length > 0
      ? ["too_many", `At most ${MAX_RECORDS} records are allowed.`]
      : ["invalid", `An array of 1 to ${MAX_RECORDS} records is required.`];
  throw invalid([{ pointer: "", code, detail }]);
}

/** Reads each member. Ends the request with what is wrong with all of them, a hundred issues at most. */
export async function readEach<M, T>(members: readonly M[], read: (member: M, at: number) => T): Promise<readonly T[]> {
  const done: T[] = [];
  const issues: Issue[] = [];
  await inTurns(members, (member, at) => {
    if (issues.length >= MAX_ISSUES) return;
    try {
      done.push(read(member, at));
    } catch (error) {
      if (!(error instanceof Problem) || error.issues.length === 0) throw error;
      issues.push(...error.below(`/${at}`).issues);
    }
  });
  if (issues.length > 0) throw invalid(issues.slice(0, MAX_ISSUES));
  return done;
}

/** What one record of several adds to their transaction. */
export interface Part {
  /** Where the record stands in the array. */
  readonly at: number;
  readonly own: Change;
  /** Written so that `keyOf(0)` is the record's own id. */
  readonly further: readonly Change[];
  readonly writing: Writing;
}

/** A record whose hook was asked. What that completes is asked for once the preconditions of all hold. */
export type PreparedPart = () => Promise<Part>;

/** Does the same with each, one after another. */
export async function inOrder<T, R>(
  each: readonly T[],
  step: (one: T, at: number) => Promise<R>,
): Promise<readonly R[]> {
  const done: R[] = [];
  await inTurns(each, async (one, at) => void done.push(await step(one, at)));
  return done;
}

/** Does something about one record of an array: what is wrong is told with its place. */
export async function told<T>(at: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Problem ? error.below(`/${at}`) : error;
  }
}

/** Writes all of them in one transaction; tells whose each change was, as its place in the array. */
export async function commitParts(
  placed: MountInPlace,
  exchange: Exchange,
  parts: readonly Part[],
  idempotency: Idempotency | null,
): Promise<{ readonly outcome: Outcome; readonly owners: readonly number[] }> {
  const { changes, owners } = joined(parts);
  const writings = parts.map(({ writing }) => writing);
  return { outcome: await commitAll(placed, exchange, withRepeats(exchange, changes, idempotency), writings), owners };
}

/** The changes of all, their own first; and whose each is, as its place in the array. */
function joined(parts: readonly Part[]): {
  readonly changes: readonly Change[];
  readonly owners: readonly number[];
} {
  const changes = parts.map(({ own }) => own);
  const owners = parts.map(({ at }) => at);
  for (const [place, { at, further }] of parts.entries()) {
    const behind = changes.length;
    for (const change of further) {
      changes.push(moved(change, (made) => (made === 0 ? place : behind + made - 1)));
      owners.push(at);
    }
  }
  return { changes, owners };
}

/** The change with the keys that it speaks of where they stand now. */
export function moved(change: Change, place: (made: number) => number): Change {
  const move = <T>(value: T): T | KeyOf => (isKeyOf(value) ? keyOf(place(value.keyOf)) : value);
  const moved = change.kind === "insert" && change.key !== undefined ? { ...change, key: move(change.key) } : change;
  if (!("values" in moved)) return moved;
  const isData = (name: string): boolean =>
    moved.collection.columns.some((column) => column.name === name && column.type === "json");
  const values = Object.entries(moved.values).map(([name, value]) => [name, isData(name) ? value : move(value)]);
  return { ...moved, values: Object.fromEntries(values) as WrittenValues };
}

/** What a caller is told when the store did not write: of the record whose change it was. */
export function refusalOf(
  outcome: Unwritten,
  placed: MountInPlace,
  exchange: Exchange,
  { owners, count }: { readonly owners: readonly number[]; readonly count: number },
): Error {
  if (!("change" in outcome)) return refusal(outcome, placed, exchange);
  const owner = owners[outcome.change];
  const isOwn = outcome.change < count;
  if (isOwn && outcome.kind === "missing") return notFound([owner!]);
  if (isOwn && outcome.kind === "stale") return stale([owner!]);
  if (outcome.kind === "taken" && outcome.column === null && owner !== undefined) return takenAt(`/${owner}`);
  const told = refusal({ ...outcome, change: isOwn ? 0 : 1 }, placed, exchange);
  return owner === undefined || !(told instanceof Problem) ? told : told.below(`/${owner}`);
}

/** The records at these places are not there, or not for this caller to change. */
export function notFound(places: readonly number[]): Problem {
  const detail = "There is no such record.";
  return problem("not_found", { issues: places.map((at) => ({ pointer: `/${at}/id`, code: "not_found", detail })) });
}

/** The records at these places are in another state than their `if_match` says. */
export function stale(places: readonly number[]): Problem {
  const detail = "The record is in another state.";
  return problem("precondition_failed", {
    issues: places.map((at) => ({ pointer: `/${at}/if_match`, code: "stale", detail })),
  });
}

/** The reply that shows all of them, in the order of the array. */
export function showAll(
  { resource, show, jsonMembers }: MountInPlace,
  exchange: Exchange,
  rows: readonly (Row | null)[],
  { status, isReplay }: { readonly status: 200 | 201; readonly isReplay: boolean },
): Reply {
  const headers = isReplay ? [REPLAYED] : [];
  if (exchange.preferences?.get("return") === "minimal") return { status: status === 200 ? 204 : 201, headers };
  const value = rows.map((row) => show(row!.record));
  const body = { kind: "data", value, element: resource.plural, items: resource.name, jsonMembers } as const;
  return { status, headers, body };
}
