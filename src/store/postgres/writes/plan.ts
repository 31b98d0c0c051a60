import { quote } from "../../sql/language/names.ts";
import { unopened, type Table } from "../../sql/schema/table.ts";
import { rowsToRead } from "../../sql/writes/changing.ts";
import type { Change, Collection, Requirement, Transaction } from "../../store.ts";
import { postgres, getTable } from "../dialect.ts";
import type { PostgresStatement } from "../parameters.ts";
import {
  compile,
  compileLinks,
  compileReadingAt,
  compileRequirement,
  compileTogether,
  findMadeKey,
  collectNeededKeys,
  type ChangeContext,
  type LinkTogether,
  type MadeKey,
  type RowTogether,
} from "./changes.ts";
import { groupByStatement } from "./statement-groups.ts";

/** The statements of a transaction. All are known in advance, so they can be sent without waiting for answers. */
export interface Plan {
  /** SQL that locks tables. Empty if no lock is needed. */
  readonly locks: string;
  /** The statements in the order in which they are sent. */
  readonly statements: readonly PlannedStatement[];
  /** True if each statement makes one change, in the given order. */
  readonly isInOrder: boolean;
  /**
   * Statements that read rows again at the end, because later changes may have altered them. Each has the index of the
   * change that wrote its row.
   */
  readonly readings: readonly {
    readonly change: number;
    readonly statement: PostgresStatement;
    readonly rows?: 1;
  }[];
}

/** A statement and the indexes of its changes: none of a requirement, one change, or several new rows in order. */
export interface PlannedStatement {
  readonly changes: readonly number[];
  readonly collection: Collection;
  readonly statement: PostgresStatement;
  /** The number of rows that its changes name. Rows of a relation may be thousands. */
  readonly rows: number;
}

/** The state that a transaction is planned with. */
export interface Planning {
  readonly opened: ReadonlyMap<string, Collection>;
  readonly sameShape: (collection: Collection) => string;
}

/**
 * Plans a transaction. Yields after each step, so that long plans can be made in slices. Throws a TypeError if a change
 * cannot be compiled, because the program made a mistake. With `mayPutTogether`, one statement may insert several rows,
 * and a refusal does not name the row.
 */
export function* planTransaction(
  { changes, requires = [] }: Transaction,
  { opened, sameShape }: Planning,
  mayPutTogether: boolean,
): Generator<undefined, Plan, undefined> {
  const reread = rowsToRead(changes, (at) => changes[at]!.collection);
  const neededKeys = collectNeededKeys(changes);
  for (const change of reread) neededKeys.add(change);
  const collections = changes.map((change) => requireOpened(opened, change));
  const keys: MadeKey[] = [];
  const among = (at: number): ChangeContext => ({
    keys,
    returnsKey: neededKeys.has(at) ? at : null,
    sameShape: sameShape(collections[at]!),
  });
  yield;
  const together = mayPutTogether ? groupByStatement(changes) : null;
  const isAmongOthers = new Set(together?.flatMap((places) => (places.length > 1 ? places : [])));
  const alone: (PostgresStatement | null)[] = [];
  for (const [at, change] of changes.entries()) {
    alone.push(isAmongOthers.has(at) ? null : compile(getTable(collections[at]!), change, among(at)));
    keys.push(findMadeKey(change, at, keys));
    yield;
  }
  const statements = requires.map((each) => planRequirement(each, { opened, sameShape })).toSorted(inOrderOfLocks);
  for (const places of together ?? changes.map((_, at) => [at])) {
    const [first] = places as readonly [number];
    const collection = collections[first]!;
    const statement = alone[first] ?? compileSeveral(getTable(collection), places, changes, among);
    const rows = places.reduce((sum, at) => sum + countRows(changes[at]!), 0);
    statements.push({ changes: places, collection, statement, rows });
    yield;
  }
  const readings: Plan["readings"][number][] = [];
  for (const change of reread) {
    const table = getTable(collections[change]!);
    readings.push({ change, statement: compileReadingAt(table, keys[change]!, changes[change]!, change) });
    yield;
  }
  return { locks: locksFor(changes), statements, readings, isInOrder: together === null };
}

/** Plans a requirement. */
function planRequirement(requirement: Requirement, { opened, sameShape }: Planning): PlannedStatement {
  const collection = requireOpened(opened, requirement);
  const statement = compileRequirement(getTable(collection), requirement, sameShape(collection));
  return { changes: [], collection, statement, rows: 1 };
}

/**
 * Compares two requirements, so that all transactions lock the required rows in the same order and two of them do not
 * wait for each other.
 */
function inOrderOfLocks(one: PlannedStatement, other: PlannedStatement): number {
  const [left, right] = [one, other].map(({ statement: { text, values } }) => JSON.stringify([text, values])) as [
    string,
    string,
  ];
  return left < right ? -1 : left > right ? 1 : 0;
}

function countRows(change: Change): number {
  return change.kind === "link" ? change.ids.length : 1;
}

/** Compiles several new rows, of a relation or of another table, as one statement. */
function compileSeveral(
  table: Table,
  places: readonly number[],
  changes: readonly Change[],
  among: (at: number) => ChangeContext,
): PostgresStatement {
  const of = <C extends Change>(at: number): ChangeContext & { readonly change: C } => ({
    change: changes[at] as C,
    ...among(at),
  });
  return changes[places[0]!]!.kind === "link"
    ? compileLinks(
        table,
        places.map((at) => of<LinkTogether["change"]>(at)),
      )
    : compileTogether(
        table,
        places.map((at) => of<RowTogether["change"]>(at)),
      );
}

function requireOpened(
  opened: ReadonlyMap<string, Collection>,
  { collection: { name } }: Pick<Change, "collection">,
): Collection {
  const collection = opened.get(name);
  if (collection !== undefined) return collection;
  throw unopened(name);
}

/**
 * Returns the table locks. A row that must not exist cannot be locked, so its table is locked against writes. The locks
 * are taken first and always in the same order, to avoid deadlocks.
 */
function locksFor(changes: readonly Change[]): string {
  const watched = new Set<string>();
  const written = new Set<string>();
  for (const change of changes) {
    if (change.kind === "forget") continue;
    const { name, existing } = change.collection;
    const table = existing === undefined ? quote(name) : postgres.quoteTable(existing.table);
    if (change.kind !== "require") written.add(table);
    else if (change.atMost !== undefined && change.isGuarded !== true) watched.add(table);
  }
  // Deferred references of existing tables are checked at the statement and not at the commit, so that the error shows
  // which change failed.
  const hasExisting = changes.some(({ kind, collection }) => kind !== "require" && collection.existing !== undefined);
  const locks = [...watched]
    .toSorted()
    .map((name) => `LOCK TABLE ${name} IN ${written.has(name) ? "SHARE ROW EXCLUSIVE" : "SHARE"} MODE;`)
    .join(" ");
  return hasExisting ? `SET CONSTRAINTS ALL IMMEDIATE; ${locks}` : locks;
}
