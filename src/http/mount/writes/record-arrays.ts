import type { Reply } from "../../../core/call/call.ts";
import type { Eventually } from "../../../core/eventually.ts";
import { MAX_ISSUES, Problem, problem, type Issue } from "../../../core/problem/problem.ts";
import type { Change, Idempotency, Outcome, Row } from "../../../store/store.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { invalid, type Exchange } from "../../request/exchange.ts";
import { inSlices, inTurns, type Pieces } from "../../scheduling/slices.ts";
import { isOfRelation, requireFewChanges } from "./change-limit.ts";
import { commitWhole, REPLAYED, withAlongside, type WriteFacts } from "./committing.ts";
import { foundingRefusal } from "./founding.ts";
import { withRepeats } from "./idempotency.ts";
import { chooseStored } from "./kept-arrays.ts";
import type { ReadOctets } from "./large-reads.ts";
import { reduceUpdates } from "./large-updates.ts";
import { refusal, takenAt, type Unwritten } from "./outcome.ts";
import type { Part } from "./part.ts";
import { renumberKeys } from "./renumbering.ts";

/** The maximum number of records in one array. */
export const MAX_RECORDS = 1000;

/**
 * Returns the members of an array in the request. Ends the request if the value is not an array, is empty or has too
 * many members.
 */
export function requireMembers(value: unknown): readonly unknown[] {
  if (Array.isArray(value) && value.length >= 1 && value.length <= MAX_RECORDS) return value as unknown[];
  const [code, detail] =
    Array.isArray(value) && value.length > 0
      ? ["too_many", `At most ${MAX_RECORDS} records are allowed.`]
      : ["invalid", `An array of 1 to ${MAX_RECORDS} records is required.`];
  throw invalid([{ pointer: "", code, detail }]);
}

/** Reads each member. Ends the request if members have issues, with the first hundred issues. */
export async function readEach<M, T>(members: readonly M[], read: (member: M, at: number) => T): Promise<readonly T[]> {
  const done: T[] = [];
  const found = new FoundIssues();
  await inTurns(members, (member, at) => found.collect(at, () => void done.push(read(member, at))));
  found.end();
  return done;
}

/** Collects the issues of the members of an array: the first hundred, in the order of the array. */
export class FoundIssues {
  #found: { readonly at: number; readonly issue: Issue }[] = [];

  /**
   * Runs the check for the member at an index and collects its issues. Does nothing if earlier members already have a
   * hundred issues.
   */
  collect(at: number, work: () => Eventually<void>): Eventually<void> {
    const last = this.#found[MAX_ISSUES - 1];
    if (last !== undefined && last.at < at) return;
    try {
      const done = work();
      return done instanceof Promise ? done.catch((error: unknown) => this.#keep(at, error)) : done;
    } catch (error) {
      this.#keep(at, error);
    }
  }

  #keep(at: number, error: unknown): void {
    if (!(error instanceof Problem) || error.issues.length === 0) throw error;
    const more = error.below(`/${at}`).issues.map((issue) => ({ at, issue }));
    this.#found = [...this.#found, ...more].toSorted((one, other) => one.at - other.at).slice(0, MAX_ISSUES);
  }

  /** Ends the request if there are issues. */
  end(): void {
    if (this.#found.length > 0) throw invalid(this.#found.map(({ issue }) => issue));
  }
}

/**
 * Calls `complete` of the hook and returns the changes of one record. Called after the preconditions of all records
 * were checked.
 */
export type PreparedPart = () => Promise<Part>;

/** Runs a step for each item, one after another. */
export async function inOrder<T, R>(
  each: readonly T[],
  step: (one: T, at: number) => Promise<R>,
): Promise<readonly R[]> {
  const done: R[] = [];
  await inTurns(each, async (one, at) => void done.push(await step(one, at)));
  return done;
}

/**
 * Runs work for one record of an array. If it throws a problem, the pointers of the problem get the index of the
 * record.
 */
export async function runAtIndex<T>(at: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Problem ? error.below(`/${at}`) : error;
  }
}

/** The options for writing the records of an array. */
interface Committing {
  readonly idempotency: Idempotency | null;
  /** Counts the octets that were read of existing records. Null if the records are new. */
  readonly octets: ReadOctets | null;
}

/**
 * Writes the changes of all records in one transaction. `owners` contains the index in the array for each change. Ends
 * the request if there are too many changes.
 */
export async function commitParts(
  mount: ServedMount,
  exchange: Exchange,
  parts: readonly Part[],
  { idempotency, octets }: Committing,
): Promise<{ readonly outcome: Outcome; readonly owners: readonly number[]; readonly founded: ReadonlySet<number> }> {
  const { changes, owners, founded, foundings, weight } = await inSlices(joinChanges(parts));
  const writings = [...parts.map(({ writing }) => writing), ...foundings];
  const areLarge = octets !== null && octets.areMany;
  const stored = await chooseStored(parts, idempotency, areLarge);
  const transaction = withRepeats(exchange, changes, stored);
  const whole = await withAlongside(mount, exchange, transaction, writings);
  requireFewChanges(weight + whole.changes.length - transaction.changes.length);
  const slim = areLarge ? await reduceUpdates(mount, whole, writings, octets) : whole;
  return { outcome: await commitWhole(mount, exchange, slim, writings), owners, founded };
}

interface Joined {
  readonly changes: readonly Change[];
  /** The index in the array for each change. */
  readonly owners: readonly number[];
  /** The places of the changes that make memberships of founders. */
  readonly founded: ReadonlySet<number>;
  /** The facts about the writes of these memberships. */
  readonly foundings: readonly WriteFacts[];
  /** The number of changes, for the limit of an array. */
  readonly weight: number;
}

/**
 * Joins the changes of all parts. The changes of the records come first. Link rows come last, because one statement can
 * then write many of them.
 */
function* joinChanges(parts: readonly Part[]): Pieces<Joined> {
  const changes = parts.map(({ own }) => own);
  const owners = parts.map(({ at }) => at);
  const linking: Change[] = [];
  const linkOwners: number[] = [];
  const founded = new Set<number>();
  const foundings: WriteFacts[] = [];
  let weight = changes.length;
  for (const [place, { at, further, founding = [] }] of parts.entries()) {
    const places: number[] = [place];
    const from = founding[0]?.at ?? Infinity;
    for (const change of further) {
      const made = renumberKeys(change, (local) => places[local] ?? changes.length + local);
      const [into, whose] = change.kind === "link" ? [linking, linkOwners] : [changes, owners];
      const local = places.push(into.push(made) - 1) - 1;
      if (local >= from && into === changes) founded.add(places[local]!);
      whose.push(at);
      if (!isOfRelation(change)) weight++;
      yield;
    }
    for (const each of founding) foundings.push({ ...each, at: places[each.at!]! });
  }
  const linkRows = parts.reduce((sum, part) => sum + part.linkRows, 0);
  return {
    changes: [...changes, ...linking],
    owners: [...owners, ...linkOwners],
    founded,
    foundings,
    weight: weight + linkRows,
  };
}

/** The changes of a transaction, for the problem of a refused write. */
interface RefusedParts {
  /** The index in the array for each change. */
  readonly owners: readonly number[];
  /** The places of the changes that make memberships of founders. Default: none. */
  readonly founded?: ReadonlySet<number>;
  /** The number of records in the array. */
  readonly count: number;
}

/** Returns the problem of a write that the store refused. It points to the record that caused the refusal. */
export function buildRefusal(
  outcome: Unwritten,
  mount: ServedMount,
  exchange: Exchange,
  { owners, founded, count }: RefusedParts,
): Error {
  if (!("change" in outcome)) return refusal(outcome, mount, exchange);
  if (founded?.has(outcome.change) === true) return foundingRefusal(mount, outcome, exchange);
  const owner = owners[outcome.change];
  const isOwn = outcome.change < count;
  if (isOwn && outcome.kind === "missing") return notFound([owner!]);
  if (isOwn && outcome.kind === "stale") return stale([owner!]);
  const isUnknown = outcome.kind === "taken" && outcome.column === null && outcome.columns === undefined;
  if (isUnknown && owner !== undefined) return takenAt(`/${owner}`);
  const error = refusal({ ...outcome, change: isOwn ? 0 : 1 }, mount, exchange);
  return owner === undefined || !(error instanceof Problem) ? error : error.below(`/${owner}`);
}

/** Returns the problem for records that do not exist, or that this caller may not change. */
export function notFound(places: readonly number[]): Problem {
  const detail = "There is no such record.";
  return problem("not_found", { issues: places.map((at) => ({ pointer: `/${at}/id`, code: "not_found", detail })) });
}

/** Returns the problem for records that have changed, so that their `if_match` is false. */
export function stale(places: readonly number[]): Problem {
  const detail = "The record was changed in the meantime. Read it again.";
  return problem("precondition_failed", {
    issues: places.map((at) => ({ pointer: `/${at}/if_match`, code: "stale", detail })),
  });
}

/** Returns the reply that shows all records, in the order of the array. */
export async function showAll(
  { resource, show, jsonMembers }: ServedMount,
  exchange: Exchange,
  rows: readonly (Row | null)[],
  { status, isReplay }: { readonly status: 200 | 201; readonly isReplay: boolean },
): Promise<Reply> {
  const headers = isReplay ? [REPLAYED] : [];
  if (exchange.preferences?.get("return") === "minimal") return { status: status === 200 ? 204 : 201, headers };
  const value: unknown[] = [];
  await inTurns(rows, (row) => void value.push(show(row!.record)));
  const body = { kind: "data", value, element: resource.plural, items: resource.name, jsonMembers } as const;
  return { status, headers, body };
}

/**
 * Returns the reply to a repeated request, without records. Used if a record has changed since the first response, so
 * that the response cannot be created again.
 */
export function withoutRecords(status: 201 | 204): Reply {
  return { status, headers: [REPLAYED] };
}
