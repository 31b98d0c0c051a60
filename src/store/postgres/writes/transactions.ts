import { inSlices } from "../../slices.ts";
import type { Refusing, Shapes } from "../../sql/schema/table-shape.ts";
import { shownBy } from "../../sql/writes/changing.ts";
import { compileIdempotency } from "../../sql/writes/idempotency.ts";
import {
  OVERTAKEN,
  type Change,
  type Collection,
  type Idempotency,
  type Outcome,
  type Recalled,
  type Row,
  type Transaction,
  type Value,
} from "../../store.ts";
import { postgres, getTable } from "../dialect.ts";
import { isServerError, state } from "../errors.ts";
import type { Connections } from "../network/connections.ts";
import { idleInTransactionMs, type Session } from "../network/session.ts";
import { prepared } from "../parameters.ts";
import { claimKey } from "./idempotency.ts";
import { completeRefusal } from "./looked-up.ts";
import { outdatedBy, createShapeCheck } from "./outdated.ts";
import { planTransaction, type Plan, type Planning } from "./plan.ts";
import { readRefusal } from "./refusals.ts";
import { isKeyRepeated, keyRepeated, moveSequence } from "./repeated-keys.ts";

type Rows = readonly (readonly Value[])[];

const remembering = compileIdempotency(postgres);

/** READ COMMITTED, because a statement that waited for a lock must see the changes of the transaction that held it. */
const beginOwn = "BEGIN ISOLATION LEVEL READ COMMITTED";
/** The connections of a pooler do not have this program's settings. */
const beginPooled = `${beginOwn}; SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs}`;

/** A statement of a transaction failed. `at` is its index in the plan. */
class StatementFailed extends Error {
  readonly at: number;

  constructor(at: number, cause: unknown) {
    super("a statement failed", { cause });
    this.at = at;
  }
}

function unwrapCause(error: unknown): unknown {
  return error instanceof StatementFailed ? error.cause : error;
}

/**
 * Plans a transaction. If planning fails, but an earlier write had the same idempotency key, returns the outcome of
 * that write.
 */
async function planned(
  connections: Connections,
  transaction: Transaction,
  planning: Planning,
): Promise<Plan | Recalled> {
  try {
    return await inSlices(planTransaction(transaction, planning, true));
  } catch (error) {
    const earlierOutcome =
      transaction.idempotency === undefined ? null : await recall(connections, transaction.idempotency);
    if (earlierOutcome === null) throw error;
    return earlierOutcome;
  }
}

/** Returns the function that makes transactions. */
export function createWriter(
  connections: Connections,
  collections: readonly Collection[],
  { shapes, refusing, pooled }: { readonly shapes: Shapes; readonly refusing: Refusing; readonly pooled: boolean },
): (transaction: Transaction) => Promise<Outcome> {
  const opened = new Map(collections.map((each) => [each.name, each]));
  const planning = { opened, sameShape: createShapeCheck(shapes) };
  const begin = pooled ? beginPooled : beginOwn;

  return async (transaction) => {
    const plan = await planned(connections, transaction, planning);
    if ("kind" in plan) return plan;
    return connections.use(async (session) => {
      const outcome = await attempt(session, transaction, plan);
      // If changes share statements, an error does not show which change was refused. So the transaction runs again
      // with one statement for each change.
      if (outcome !== null) return outcome;
      return (await attempt(session, transaction, await inSlices(planTransaction(transaction, planning, false))))!;
    });
  };

  /** Returns null if the plan was refused and its statements do not have the order of the changes. */
  async function attempt(session: Session, transaction: Transaction, plan: Plan): Promise<Outcome | null> {
    try {
      return await withFreeKeys(session, transaction, plan, () => make(session, transaction, plan));
    } catch (error) {
      const named = [...(transaction.requires ?? []), ...transaction.changes];
      const outdated = await outdatedBy(unwrapCause(error), named, shapes, session);
      if (outdated !== null) throw refusing(outdated);
      const outcome = resolveOutcome(error, transaction, plan);
      return outcome === null ? null : completeRefusal(outcome, transaction, opened, session);
    }
  }

  async function make(session: Session, { changes, idempotency }: Transaction, plan: Plan): Promise<Outcome> {
    if (idempotency !== undefined) return sendOnce(session, changes, plan, idempotency);
    return { kind: "written", rows: plan.statements.length === 0 ? [] : await sendAll(session, changes, plan) };
  }

  /** Sends the whole transaction in one round trip. */
  async function sendAll(session: Session, changes: Transaction["changes"], plan: Plan): Promise<(Row | null)[]> {
    // Through a pooler, a single statement would run with the default isolation level, which is unknown.
    if (!pooled && plan.statements.length === 1 && plan.readings.length === 0 && plan.locks === "")
      return collectRows(changes, plan, await awaitAll([], await sendPlan(session, plan), []));
    const begun = ignoreRejection(session.run(`${begin}; ${plan.locks}`));
    const sent = await sendPlan(session, plan);
    const committed = session.run("COMMIT");
    return collectRows(changes, plan, await awaitAll([begun], sent, [committed]));
  }

  /**
   * Runs a transaction with an idempotency key. It takes two round trips, because the record to store is known only
   * after the changes.
   */
  async function sendOnce(
    session: Session,
    changes: Transaction["changes"],
    plan: Plan,
    idempotency: Idempotency,
  ): Promise<Outcome> {
    const begun = ignoreRejection(session.run(`${begin}; ${plan.locks}`));
    const claimed = ignoreRejection(session.send(claimKey(idempotency)));
    const sent = await sendPlan(session, plan);
    try {
      const rows = collectRows(changes, plan, await awaitAll([begun, claimed], sent, []));
      const recordStatements = remembering.remember(idempotency, changes[0]?.collection.name ?? "", rows);
      const remembered = recordStatements.map(({ text, values }) => session.send(prepared(text, values)));
      await awaitAll(remembered, [], [session.run("COMMIT")]);
      return { kind: "written", rows };
    } catch (error) {
      // A lost connection also ends the transaction.
      await session.run("ROLLBACK").catch(() => undefined);
      if (!isKnownKey(error)) throw error;
      const earlierOutcome = await recall(session, idempotency);
      // The record was found and then deleted by the cleanup, so the key is free now.
      return earlierOutcome ?? sendOnce(session, changes, plan, idempotency);
    }
  }
}

/** Makes a transaction. If a sequence issued a key that exists, moves the sequence and tries again. */
async function withFreeKeys(
  session: Session,
  transaction: Transaction,
  plan: Plan,
  make: () => Promise<Outcome>,
): Promise<Outcome> {
  const moved: Collection[] = [];
  for (;;)
    try {
      return await make();
    } catch (error) {
      const repeated = repeatedIn(error, transaction, plan);
      if (repeated === null) throw error;
      if (moved.includes(repeated)) throw keyRepeated(repeated);
      await moveSequence(session, repeated);
      moved.push(repeated);
    }
}

/**
 * Returns the collection in which the database gave a new row the key of another row. Returns null for an error with
 * another cause.
 */
function repeatedIn(error: unknown, { changes }: Transaction, { statements }: Plan): Collection | null {
  const at = error instanceof StatementFailed ? statements[error.at]?.changes[0] : undefined;
  if (at === undefined) return null;
  return isKeyRepeated(unwrapCause(error), changes[at]!) ? changes[at]!.collection : null;
}

/**
 * Returns the outcome of a failed transaction. Returns null if it was refused and its statements do not have the order
 * of the changes. Throws an error that is not a refusal.
 */
function resolveOutcome(
  error: unknown,
  { changes }: Transaction,
  { statements, readings, isInOrder }: Plan,
): Outcome | null {
  if (!(error instanceof StatementFailed)) throw error;
  if (isUnmet(error, statements)) return { kind: "refused", change: -1, name: OVERTAKEN };
  const at = statements[error.at]?.changes[0] ?? readings[error.at - statements.length]?.change;
  if (at === undefined) throw error.cause;
  const refusal = readRefusal(error.cause, getTable(changes[at]!.collection), changes[at]!, at);
  if (refusal === null) throw error.cause;
  return isInOrder ? refusal : null;
}

/** True if a requirement of the transaction failed. */
function isUnmet({ at, cause }: StatementFailed, statements: Plan["statements"]): boolean {
  const isRequirement = statements[at]?.changes.length === 0;
  return isRequirement && isServerError(cause) && cause.code === state.refused && cause.message === "refused";
}

/** Returns the result of an earlier write with the same key, or null if there is none. */
export async function recall(session: Pick<Session, "send">, idempotency: Idempotency): Promise<Recalled | null> {
  const { text, values, of } = remembering.recall(idempotency);
  return of(await session.send(prepared(text, values)));
}

/**
 * Sends the statements without waiting for each answer, as long as they write at most `rowsAhead` rows: the time limit
 * of a statement starts when it is sent, and thousands of rows before it would use up this time. Stops if the
 * transaction has failed.
 */
async function sendPlan(session: Session, { statements, readings }: Plan): Promise<Promise<Rows>[]> {
  const sent: Promise<Rows>[] = [];
  const rowCounts: number[] = [];
  let answered = 0;
  let ahead = 0;
  for (const { statement, rows = 1 } of [...statements, ...readings]) {
    while (ahead > 0 && ahead + rows > rowsAhead) {
      if (!(await hasSucceeded(sent[answered]!))) return sent;
      ahead -= rowCounts[answered++]!;
    }
    sent.push(ignoreRejection(session.sendForCells(statement)));
    rowCounts.push(rows);
    ahead += rows;
  }
  return sent;
}

/**
 * The maximum number of rows of unanswered statements. Writing them takes some milliseconds, and on a busy server less
 * than a second.
 */
const rowsAhead = 200;

function hasSucceeded(sent: Promise<unknown>): Promise<boolean> {
  return sent.then(
    () => true,
    () => false,
  );
}

/** Handles a rejection at once, because the promise may reject before a caller awaits it. */
function ignoreRejection<T>(sent: Promise<T>): Promise<T> {
  sent.catch(() => undefined);
  return sent;
}

/** Waits for all promises. Rejects with the first failure, because it is the cause of all later ones. */
async function awaitAll(
  before: readonly Promise<unknown>[],
  sent: readonly Promise<Rows>[],
  behind: readonly Promise<unknown>[],
): Promise<Rows[]> {
  const results = await Promise.allSettled([...before, ...sent, ...behind]);
  const failed = results.findIndex((each) => each.status === "rejected");
  if (failed !== -1) {
    const reason: unknown = (results[failed] as PromiseRejectedResult).reason;
    const at = failed - before.length;
    throw at >= 0 && at < sent.length ? new StatementFailed(at, reason) : reason;
  }
  return Promise.all(sent);
}

function isKnownKey(error: unknown): boolean {
  return isServerError(error) && error.code === state.refused && error.message === "known";
}

function collectRows(
  changes: Transaction["changes"],
  { statements, readings }: Plan,
  results: readonly Rows[],
): (Row | null)[] {
  const rows = changes.map((): Row | null => null);
  for (const [at, { changes: places, collection }] of statements.entries()) {
    if (collection.existing !== undefined) continue;
    for (const [nth, place] of places.entries()) rows[place] = readChangedRow(changes[place]!, results[at]![nth]);
  }
  for (const [at, { change }] of readings.entries())
    rows[change] = readChangedRow(changes[change]!, results[statements.length + at]![0]);
  return rows;
}

function readChangedRow(change: Change, cells: Rows[number] | undefined): Row | null {
  const { kind } = change;
  const hasRow = kind === "insert" || kind === "update" || kind === "add";
  return hasRow && cells !== undefined ? shownBy(getTable(change.collection), change).readRow(cells) : null;
}
