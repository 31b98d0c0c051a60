import { quote } from "../../sql/names.ts";
import { rowsToRead } from "../../sql/writes/changing.ts";
import type { Change, Collection, Transaction } from "../../store.ts";
import { postgres, tableOf } from "../dialect.ts";
import type { Statement } from "../parameters.ts";
import { compile, compileReading, keyMadeBy, spokenOf, type MadeKey } from "./changes.ts";

/** A transaction as what is sent: everything is known beforehand, so that nothing has to be waited for. */
export interface Plan {
  /** SQL that locks tables; empty where none is needed. */
  readonly locks: string;
  /** One statement a change. */
  readonly statements: readonly Statement[];
  /** Statements that read rows which later changes may have altered, with the changes whose rows they are. */
  readonly readings: readonly { readonly change: number; readonly statement: Statement }[];
}

/** Throws a TypeError where the transaction cannot be meant. */
export function planTransaction(
  { changes }: Transaction,
  opened: ReadonlyMap<string, Collection>,
  sameShape: (collection: Collection) => string,
): Plan {
  const reread = rowsToRead(changes, (at) => changes[at]!.collection.existing !== undefined);
  const told = spokenOf(changes);
  for (const change of reread) told.add(change);
  const keys: MadeKey[] = [];
  const statements = changes.map((change, at) => {
    const collection = opened.get(change.collection.name);
    if (collection === undefined)
      throw new TypeError(`The store was not opened with a collection ${JSON.stringify(change.collection.name)}`);
    const statement = compile(tableOf(collection), change, {
      keys,
      tellsKey: told.has(at) ? at : null,
      sameShape: sameShape(collection),
    });
    keys.push(keyMadeBy(change, at, keys));
    return statement;
  });
  const readings = reread.map((change) => ({
    change,
    statement: compileReading(tableOf(opened.get(changes[change]!.collection.name)!), keys[change]!),
  }));
  return { locks: locksFor(changes), statements, readings };
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
    else if (change.atMost !== undefined) watched.add(table);
  }
  // A reference that others look at when they commit is looked at where the row is written, so that the change can be told.
  const hasExisting = changes.some(({ kind, collection }) => kind !== "require" && collection.existing !== undefined);
  const locks = [...watched]
    .toSorted()
    .map((name) => `LOCK TABLE ${name} IN ${written.has(name) ? "SHARE ROW EXCLUSIVE" : "SHARE"} MODE;`)
    .join(" ");
  return hasExisting ? `SET CONSTRAINTS ALL IMMEDIATE; ${locks}` : locks;
}
