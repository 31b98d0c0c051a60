import type { DatabaseSync } from "node:sqlite";
import type { Shapes } from "../../sql/schema/shape.ts";
import { rowsToRead, shownBy } from "../../sql/writes/changing.ts";
import type { Collection, Key, Row } from "../../store.ts";
import { prepare } from "../connection.ts";
import { tableOf } from "../dialect.ts";
import { code, codeOf, isStoreFailure } from "../errors.ts";
import type { NamedChange, NamedTransaction, Result } from "../named.ts";
import { outdatedOf, type Outdated } from "../schema.ts";
import { changesOf, type Changes, type Done } from "./changes.ts";
import { countersOf } from "./counters.ts";
import { idempotencyRecordsOf, type IdempotencyRecords } from "./idempotency.ts";
import { notesOf, type Notes } from "./notes.ts";
import { turnsOf } from "./turns.ts";

/** Commits transactions as a group: one trip to the disk for all of them. */
export interface Committer {
  /** The results in the order of the transactions. Throws where the store failed; then none of them has happened. */
  commit(transactions: readonly NamedTransaction[]): Result[];
}

/** What a committer has of a file that others may have open. */
export interface CommitterOptions {
  /** What the tables were when they were found as declared. */
  readonly shapes: Shapes;
  /** How long a group waits for what another process writes, in milliseconds. */
  readonly busyMs: number;
  /** Is called when nobody else can write any more, and a group is about to. */
  readonly begun: () => void;
}

const inMemory: CommitterOptions = { shapes: new Map(), busyMs: 0, begun: () => undefined };

/** A committer over a connection that writes. */
export function committerOf(
  database: DatabaseSync,
  collections: readonly Collection[],
  { shapes, busyMs, begun }: CommitterOptions = inMemory,
): Committer {
  const counters = countersOf(database);
  const notes = notesOf(database);
  const named = new Map(collections.map((each) => [each.name, each]));
  const changes = changesOf(database, named, counters, notes);
  const records = idempotencyRecordsOf(database);
  const turns = turnsOf(database, busyMs);
  const commit = prepare(database, "COMMIT");
  const rollback = prepare(database, "ROLLBACK");
  const outdated = outdatedOf(database, shapes);
  const { attemptAlone, attemptTogether } = attemptsOf({
    database,
    collections: named,
    changes,
    records,
    notes,
    outdated,
  });

  /** By itself, so that what is refused at its end takes none of the others with it. */
  function commitOne(transaction: NamedTransaction): Result {
    try {
      return commitWith(() => [attemptAlone(transaction)])![0]!;
    } catch (error) {
      if (error instanceof EndedByTrigger) return error.outcome;
      if (isStoreFailure(error)) throw error;
      const broken = codeOf(error) === code.foreignKey ? changes.brokenAtEnd(transaction.changes) : null;
      return broken ?? { kind: "fault", message: error instanceof Error ? error.message : String(error) };
    }
  }

  function commitWith(work: () => Result[] | null): Result[] | null {
    turns.begin();
    notes.undo(0);
    try {
      begun();
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
      // Some failures have rolled back already.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    } finally {
      turns.ended();
    }
  }

  return {
    // Hardly any has to be undone, and a savepoint for each costs as much as the row that it guards.
    commit(transactions) {
      try {
        return commitWith(() => attemptTogether(transactions)) ?? commitWith(() => transactions.map(attemptAlone))!;
      } catch (error) {
        // A table of others may look at its references at the end, or have triggers that undo everything.
        if (codeOf(error) !== code.foreignKey && !(error instanceof EndedByTrigger)) throw error;
        return transactions.map(commitOne);
      }
    },
  };
}

/** What transactions are tried with. */
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

/** A trigger has rolled everything back (`RAISE(ROLLBACK, …)`), and this is what became of the one that set it off. */
class EndedByTrigger extends Error {
  readonly outcome: Result;

  constructor(outcome: Result) {
    super("a trigger has ended the transaction");
    this.outcome = outcome;
  }
}

/** Tries transactions within one that was begun. */
function attemptsOf(trying: Trying): Attempts {
  const { database, notes } = trying;
  const savepoint = prepare(database, "SAVEPOINT one");
  const release = prepare(database, "RELEASE one");
  const undo = prepare(database, "ROLLBACK TO one");

  /** Runs one of a group. */
  function attempt(transaction: NamedTransaction): Result {
    try {
      const outcome = run(transaction, trying);
      // A trigger of others may have ended the transaction of all.
      if (outcome.kind !== "written" && !database.isTransaction) throw new EndedByTrigger(outcome);
      return outcome;
    } catch (error) {
      if (isStoreFailure(error) || error instanceof EndedByTrigger) throw error;
      return { kind: "fault", message: error instanceof Error ? error.message : String(error) };
    }
  }

  /** In a savepoint, so that one that is refused takes none of the others with it. */
  function attemptAlone(transaction: NamedTransaction): Result {
    savepoint.run();
    const noted = notes.length;
    const result = attempt(transaction);
    if (result.kind !== "written") {
      undo.run();
      notes.undo(noted);
    }
    const told = leftOutOf(result, transaction, trying);
    release.run();
    return told;
  }

  /** Runs all of a group; null where one of them has to be undone. */
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

/** What was refused before anything was changed: the first change alone, which SQLite undoes by itself, or a repetition. */
function leavesNothing(result: Result, { changes: [first] }: NamedTransaction, { collections }: Trying): boolean {
  if (result.kind === "replayed" || result.kind === "mismatch" || result.kind === "outdated") return true;
  // A trigger of others may have done something else, and left the change out.
  return "change" in result && result.change === 0 && collections.get(first!.collection)?.existing === undefined;
}

/** What was refused, now that it is undone: a row of others that still is in the state that was asked for has a trigger that leaves changes out. */
function leftOutOf(result: Result, { changes: wanted }: NamedTransaction, { changes, collections }: Trying): Result {
  if (result.kind !== "stale" && result.kind !== "missing") return result;
  const change = wanted[result.change] as Extract<NamedChange, { readonly kind: "update" | "delete" }>;
  const collection = collections.get(change.collection)!;
  const isSame = changes.read(collection, change.key)?.revision === change.revision;
  return isSame && collection.existing !== undefined ? { kind: "unfit", change: result.change, column: null } : result;
}

function run({ changes: wanted, idempotency }: NamedTransaction, { changes, records, outdated }: Trying): Result {
  const known = idempotency === undefined ? null : records.recall(idempotency);
  if (known !== null) return known;
  const other = wanted.find(({ kind, collection }) => kind !== "forget" && outdated.has(collection));
  if (other !== undefined) return { kind: "outdated", collection: other.collection };

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
  // A row is told as it is now. The last one is.
  if (wanted.length > 1)
    for (const at of rowsToRead(wanted, (each) => collections[each] ?? null))
      rows[at] = changes.read(collections[at]!, keys[at]!, shownBy(tableOf(collections[at]!), wanted[at]!));

  if (idempotency !== undefined) records.remember(idempotency, wanted[0]?.collection ?? "", rows);
  return { kind: "written", rows };
}

function forget(
  records: IdempotencyRecords,
  { collection, key, caller }: Extract<NamedChange, { kind: "forget" }>,
): Done {
  records.forget(collection, key, caller);
  return { kind: "done", collection: null, row: null };
}
