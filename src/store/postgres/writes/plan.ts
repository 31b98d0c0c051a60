import { quote } from "../../sql/names.ts";
import { unopened, type Table } from "../../sql/schema/table.ts";
import { rowsToRead } from "../../sql/writes/changing.ts";
import type { Change, Collection, Transaction } from "../../store.ts";
import { postgres, tableOf } from "../dialect.ts";
import type { Statement } from "../parameters.ts";
import {
  compile,
  compileLinks,
  compileReadingOf,
  compileTogether,
  keyMadeBy,
  spokenOf,
  type Among,
  type LinkTogether,
  type MadeKey,
  type RowTogether,
} from "./changes.ts";
import { putTogether } from "./together.ts";

/** A transaction as what is sent: everything is known beforehand, so that nothing has to be waited for. */
export interface Plan {
  /** SQL that locks tables; empty where none is needed. */
  readonly locks: string;
  /** In the order in which they are sent. */
  readonly statements: readonly Planned[];
  /** Whether each of them makes one change, in the order in which they were given. */
  readonly isInOrder: boolean;
  /** Statements that read rows which later changes may have altered, with the changes whose rows they are. */
  readonly readings: readonly { readonly change: number; readonly statement: Statement; readonly isLong?: false }[];
}

/** A statement, and the places of the changes that it makes: of one, or of several new rows in their order. */
export interface Planned {
  readonly changes: readonly number[];
  readonly collection: Collection;
  readonly statement: Statement;
  /** It makes thousands of rows: two of those are not sent at once. */
  readonly isLong: boolean;
}

/** What a transaction is planned with. */
export interface Planning {
  readonly opened: ReadonlyMap<string, Collection>;
  readonly sameShape: (collection: Collection) => string;
}

/**
 * Plans a transaction, and stops after each step. Throws a TypeError if the transaction is a fault of the program. With `mayPutTogether` one statement
 * may make several new rows, and a refusal does not name the row.
 */
export function* planTransaction(
  { changes }: Transaction,
  { opened, sameShape }: Planning,
  mayPutTogether: boolean,
): Generator<undefined, Plan, undefined> {
  const reread = rowsToRead(changes, (at) => changes[at]!.collection);
  const told = spokenOf(changes);
  for (const change of reread) told.add(change);
  const collections = changes.map((change) => requireOpened(opened, change));
  const keys: MadeKey[] = [];
  const among = (at: number): Among => ({
    keys,
    tellsKey: told.has(at) ? at : null,
    sameShape: sameShape(collections[at]!),
  });
  yield;
  const together = mayPutTogether ? putTogether(changes) : null;
  const isAmongOthers = new Set(together?.flatMap((places) => (places.length > 1 ? places : [])));
  const alone: (Statement | null)[] = [];
  for (const [at, change] of changes.entries()) {
    alone.push(isAmongOthers.has(at) ? null : compile(tableOf(collections[at]!), change, among(at)));
    keys.push(keyMadeBy(change, at, keys));
    yield;
  }
  const statements: Planned[] = [];
  for (const places of together ?? changes.map((_, at) => [at])) {
    const [first] = places as readonly [number];
    const collection = collections[first]!;
    const statement = alone[first] ?? compileSeveral(tableOf(collection), places, changes, among);
    statements.push({ changes: places, collection, statement, isLong: changes[first]!.kind === "link" });
    yield;
  }
  const readings: Plan["readings"][number][] = [];
  for (const change of reread) {
    const table = tableOf(collections[change]!);
    readings.push({ change, statement: compileReadingOf(table, keys[change]!, changes[change]!, change) });
    yield;
  }
  return { locks: locksFor(changes), statements, readings, isInOrder: together === null };
}

/** Compiles several new rows, of a relation or of another table, as one statement. */
function compileSeveral(
  table: Table,
  places: readonly number[],
  changes: readonly Change[],
  among: (at: number) => Among,
): Statement {
  const of = <C extends Change>(at: number): Among & { readonly change: C } => ({
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

function requireOpened(opened: ReadonlyMap<string, Collection>, { collection: { name } }: Change): Collection {
  const collection = opened.get(name);
  if (collection !== undefined) return collection;
  throw unopened(name);
}

/**
 * What must not be there cannot be locked as a row, so nobody may write to its table meanwhile. Taken in one order and
 * before anything else, so that two transactions do not wait for each other.
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
  // A reference that others look at when they commit is looked at where the row is written, so that the change can be told.
  const hasExisting = changes.some(({ kind, collection }) => kind !== "require" && collection.existing !== undefined);
  const locks = [...watched]
    .toSorted()
    .map((name) => `LOCK TABLE ${name} IN ${written.has(name) ? "SHARE ROW EXCLUSIVE" : "SHARE"} MODE;`)
    .join(" ");
  return hasExisting ? `SET CONSTRAINTS ALL IMMEDIATE; ${locks}` : locks;
}
