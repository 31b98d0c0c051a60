import { quote } from "../../sql/language/names.ts";
import type { Collection, Outcome, Transaction } from "../../store.ts";
import { getTable } from "../dialect.ts";
import type { Session } from "../network/session.ts";
import { compileMissing, compileReading } from "./changes.ts";

/** Completes a refusal with facts that are read after the rollback of its transaction. */
export async function completeRefusal(
  outcome: Outcome,
  transaction: Transaction,
  opened: ReadonlyMap<string, Collection>,
  session: Session,
): Promise<Outcome> {
  return addDanglingPlace(await correctOutcome(outcome, transaction, session), transaction, opened, session);
}

/**
 * Recognizes a trigger that skips changes: the row of an existing table still has the expected revision. Called after
 * the rollback.
 */
async function correctOutcome(outcome: Outcome, { changes }: Transaction, session: Session): Promise<Outcome> {
  if (outcome.kind !== "stale" && outcome.kind !== "missing") return outcome;
  const change = changes[outcome.change]!;
  if ((change.kind !== "update" && change.kind !== "delete") || change.collection.existing === undefined)
    return outcome;
  const table = getTable(change.collection);
  const [cells] = await session.sendForCells(compileReading(table, { kind: "known", key: change.key }));
  const isSame = cells !== undefined && [undefined, table.readRow(cells).revision].includes(change.revision);
  return isSame ? { kind: "unfit", change: outcome.change, column: null } : outcome;
}

/** Finds the id of a link that refers to no row. The error of the server names only the column. */
async function addDanglingPlace(
  outcome: Outcome,
  { changes }: Transaction,
  opened: ReadonlyMap<string, Collection>,
  session: Session,
): Promise<Outcome> {
  if (outcome.kind !== "dangling") return outcome;
  const change = changes[outcome.change]!;
  if (change.kind !== "link") return outcome;
  const column = change.collection.columns.find(({ name }) => name === outcome.column);
  if (column?.references === undefined || column !== change.collection.columns[1]) return outcome;
  const target = opened.get(column.references.collection);
  const from = target === undefined ? quote(column.references.collection) : getTable(target).name;
  const [found] = await session.send(compileMissing(column, from, change.ids));
  return found === undefined ? outcome : { ...outcome, place: (found["place"] as number) - 1 };
}
