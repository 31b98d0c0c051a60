import { isDeepStrictEqual } from "node:util";
import type { Change, StoredRecord, Transaction } from "../../../store/store.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { inTurns } from "../../scheduling/slices.ts";
import type { WriteFacts } from "./committing.ts";
import type { ReadOctets } from "./large-reads.ts";

/**
 * Reduces the updates of large records. Each update writes only the changed columns, and its outcome contains only
 * these and the computed columns. If another change of the transaction may write the same rows, the updates write all
 * columns, and their rows count as read a second time.
 */
export async function reduceUpdates(
  { collection }: Pick<ServedMount, "collection">,
  transaction: Transaction,
  writings: readonly WriteFacts[],
  octets: ReadOctets,
): Promise<Transaction> {
  const behind = transaction.changes.slice(writings.length);
  const isAlone = collection.existing === undefined && behind.every((each) => each.collection.name !== collection.name);
  if (!isAlone) {
    octets.takeAgain();
    return transaction;
  }
  const made = (collection.computed ?? []).map(({ name }) => name);
  const changes: Change[] = [];
  await inTurns(writings, ({ before }, at) => {
    const change = transaction.changes[at]!;
    if (change.kind !== "update" || before === null) return void changes.push(change);
    const values = changedValues(before.record, change.values);
    octets.take(Buffer.byteLength(JSON.stringify(values)));
    changes.push({ ...change, values, shown: ["id", ...Object.keys(values), ...made] });
  });
  return { ...transaction, changes: [...changes, ...behind] };
}

function changedValues<V>(before: StoredRecord, values: Readonly<Record<string, V>>): Readonly<Record<string, V>> {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => value !== before[name] && !(name in before && isDeepStrictEqual(value, before[name])),
    ),
  );
}
