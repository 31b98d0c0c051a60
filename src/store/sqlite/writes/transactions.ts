import type { DatabaseSync } from "node:sqlite";
import type { Shapes } from "../../sql/schema/table-shape.ts";
import { rowsToRead, shownBy } from "../../sql/writes/changing.ts";
import { OVERTAKEN, type Collection, type Key, type Row } from "../../store.ts";
import { prepare } from "../connection/connection.ts";
import { code, findCode, isStoreFailure } from "../connection/errors.ts";
import { makeWriteLock } from "../connection/write-lock.ts";
import { getTable } from "../dialect.ts";
import { createIdempotencyRecords, type IdempotencyRecords } from "../idempotency.ts";
import type { NamedChange, NamedTransaction, Result } from "../named.ts";
import { createShapeCheck, type Outdated } from "../schema.ts";
import { createChanges, type Changes, type CompletedChange } from "./changes.ts";
import { createCounters } from "./counters.ts";
import { createNotes, type Notes } from "./notes.ts";

/** Commits transactions as a group, with one disk sync for all of them. */
export interface Committer {
  /**
   * Returns the results in the order of the transactions. Throws if the store failed. No transaction was committed
   * then.
   */
  commit(transactions: readonly NamedTransaction[]): Result[];
}

/** The options of a committer for a file that other processes may also have open. */
export interface CommitterOptions {
  /** The shapes of the tables when they matched the declaration. */
  readonly shapes: Shapes;
  /** The longest wait of a group for the write of another process, in milliseconds. */
  readonly busyMs: number;
}

const inMemory: CommitterOptions = { shapes: new Map(), busyMs: 0 };

/** Returns a committer over a connection that writes. */
export function createCommitter(
  database: DatabaseSync,
  collections: readonly Collection[],
  { shapes, busyMs }: CommitterOptions = inMemory,
): Committer {
  const counters = createCounters(database);
  const notes = createNotes(database);
  const named = new Map(collections.map((each) => [each.name, each]));
  const changes = createChanges(database, named, counters, notes);
  const records = createIdempotencyRecords(database);
  const writeLock = makeWriteLock(database, busyMs);
  const commit = prepare(database, "COMMIT");
  const rollback = prepare(database, "ROLLBACK");
  const outdated = createShapeCheck(database, shapes);
  const { attemptAlone, attemptTogether } = createAttempts({
    database,
    collections: named,
    changes,
    records,
    notes,
    outdated,
  });

  /** Commits one transaction alone, so a refusal at its end does not affect the other transactions. */
  function commitOne(transaction: NamedTransaction): Result {
    try {
      return commitWith(() => [attemptAlone(transaction)])![0]!;
    } catch (error) {
      if (error instanceof EndedByTrigger) return error.outcome;
      if (isStoreFailure(error)) throw error;
      const broken = findCode(error) === code.foreignKey ? changes.brokenAtEnd(transaction.changes) : null;
      return broken ?? { kind: "fault", message: error instanceof Error ? error.message : String(error) };
    }
  }

  function commitWith(work: () => Result[] | null): Result[] | null {
    writeLock.begin();
    notes.undo(0);
    try {
      counters.load();
      outdated.look();
      const results = work();
      if (results === null) {
        rollback.run();
        return null;
      }
      counters.save();
      notes.save();
      commit.run();
      return results;
    } catch (error) {
      // After some errors, SQLite has already rolled back.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    } finally {
      writeLock.ended();
    }
  }

  return {
    // Tries the group without savepoints first, because a savepoint for each transaction would cost as much as writing
    // its row. Only if a transaction is refused, which is rare, the group runs again with savepoints.
    commit(transactions) {
      try {
        return commitWith(() => attemptTogether(transactions)) ?? commitWith(() => transactions.map(attemptAlone))!;
      } catch (error) {
        // An existing table may check its references at the end of the transaction, or have a trigger that rolls back
        // the whole group. Each transaction is then committed alone.
        if (findCode(error) !== code.foreignKey && !(error instanceof EndedByTrigger)) throw error;
        return transactions.map(commitOne);
      }
    },
  };
}

/** The objects that an attempt uses. */
interface Trying {
  readonly database: DatabaseSync;
  readonly collections: ReadonlyMap<string, Collection>;
  readonly changes: Changes;
  readonly records: IdempotencyRecords;
  readonly notes: Notes;
  readonly outdated: Outdated;
}

interface Attempts {
  attemptAlone(transaction: NamedTransaction): Result;
  attemptTogether(transactions: readonly NamedTransaction[]): Result[] | null;
}

/**
 * A trigger has rolled back the whole group (`RAISE(ROLLBACK, …)`). `outcome` is the result of the transaction that
 * fired the trigger.
 */
class EndedByTrigger extends Error {
  readonly outcome: Result;

  constructor(outcome: Result) {
    super("a trigger ended the transaction");
    this.outcome = outcome;
  }
}

/** Returns the functions that run transactions inside an open one. */
function createAttempts(trying: Trying): Attempts {
  const { database, notes } = trying;
  const savepoint = prepare(database, "SAVEPOINT one");
  const release = prepare(database, "RELEASE one");
  const undo = prepare(database, "ROLLBACK TO one");

  /** Runs one transaction of a group. */
  function attempt(transaction: NamedTransaction): Result {
    try {
      const outcome = run(transaction, trying);
      // A trigger of another program can roll back the transaction of the whole group.
      if (outcome.kind !== "written" && !database.isTransaction) throw new EndedByTrigger(outcome);
      return outcome;
    } catch (error) {
      if (isStoreFailure(error) || error instanceof EndedByTrigger) throw error;
      return { kind: "fault", message: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Uses a savepoint, so a refused transaction does not affect the other transactions of the group. */
  function attemptAlone(transaction: NamedTransaction): Result {
    savepoint.run();
    const noted = notes.length;
    const result = attempt(transaction);
    if (result.kind !== "written") {
      undo.run();
      notes.undo(noted);
    }
    const correctedResult = correctResult(result, transaction, trying);
    release.run();
    return correctedResult;
  }

  /** Runs all transactions of a group. Returns null if one of them must be rolled back. */
  function attemptTogether(transactions: readonly NamedTransaction[]): Result[] | null {
    const results: Result[] = [];
    for (const transaction of transactions) {
      const result = attempt(transaction);
      if (result.kind !== "written" && !leavesNothing(result, transaction, trying)) return null;
      results.push(result);
    }
    return results;
  }

  return { attemptAlone, attemptTogether };
}

/**
 * Returns true if a refused transaction changed nothing: the request was a repeat, the tables are outdated, or its
 * first change failed and SQLite has undone that change.
 */
function leavesNothing(result: Result, { changes: [first] }: NamedTransaction, { collections }: Trying): boolean {
  if (result.kind === "replayed" || result.kind === "mismatch" || result.kind === "outdated") return true;
  // One of `requires` failed, before the first change.
  if (result.kind === "refused" && result.change === -1) return true;
  // A trigger of another program may have changed another row and skipped this change.
  return "change" in result && result.change === 0 && collections.get(first!.collection)?.existing === undefined;
}

/**
 * Corrects the reason of a refusal after the rollback. If the row of an existing table still has the expected revision,
 * a trigger has skipped the change, and the result is `unfit`.
 */
function correctResult(
  result: Result,
  { changes: wanted }: NamedTransaction,
  { changes, collections }: Trying,
): Result {
  if (result.kind !== "stale" && result.kind !== "missing") return result;
  const change = wanted[result.change] as Extract<NamedChange, { readonly kind: "update" | "delete" }>;
  const collection = collections.get(change.collection)!;
  const isSame = changes.read(collection, change.key)?.revision === change.revision;
  return isSame && collection.existing !== undefined ? { kind: "unfit", change: result.change, column: null } : result;
}

function run(
  { changes: wanted, requires = [], idempotency }: NamedTransaction,
  { changes, records, outdated }: Trying,
): Result {
  const earlierResult = idempotency === undefined ? null : records.recall(idempotency);
  if (earlierResult !== null) return earlierResult;
  const other = [...requires, ...wanted.filter(({ kind }) => kind !== "forget")].find(({ collection }) =>
    outdated.has(collection),
  );
  if (other !== undefined) return { kind: "outdated", collection: other.collection };
  if (!requires.every(changes.isMet)) return { kind: "refused", change: -1, name: OVERTAKEN };

  const rows: (Row | null)[] = [];
  const keys: (Key | null)[] = [];
  const collections: (Collection | null)[] = [];
  for (const [at, change] of wanted.entries()) {
    const made = change.kind === "forget" ? forget(records, change) : changes.make(change, at, keys);
    if (made.kind !== "done") return made;
    rows.push(made.row);
    keys.push(made.row === null ? null : (made.row.record["id"] as Key));
    collections.push(made.collection);
  }
  // A later change may have changed the row of an earlier one, so the rows are read again after the last change. The
  // row of a single change is already up to date.
  if (wanted.length > 1)
    for (const at of rowsToRead(wanted, (each) => collections[each] ?? null))
      rows[at] = changes.read(collections[at]!, keys[at]!, shownBy(getTable(collections[at]!), wanted[at]!));

  if (idempotency !== undefined) records.remember(idempotency, wanted[0]?.collection ?? "", rows);
  return { kind: "written", rows };
}

function forget(
  records: IdempotencyRecords,
  { collection, key, caller }: Extract<NamedChange, { kind: "forget" }>,
): CompletedChange {
  records.forget(collection, key, caller);
  return { kind: "done", collection: null, row: null };
}
