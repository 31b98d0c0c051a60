import type { ServedMount } from "../../door/resources.ts";
import type { Change, Key, Store, Value } from "../../door/stores.ts";
import type { Task } from "./gathering-store.ts";
import type { LateReference } from "./import-order.ts";
import type { RefusedLine } from "./import-users.ts";
import { parseValue, type RecordReading } from "./read-record.ts";

/** The reason of the service for a reference that has no target. */
export const NO_RECORD = "There is no record with this id.";

const TAKEN = "Another record has this value already.";

/**
 * Makes the task that sets the references of one record that were left out when it was created. The changes in `before`
 * are written in the same transaction.
 */
export function lateTask(
  mount: ServedMount,
  each: LateReference,
  { isText }: Pick<RecordReading, "isText">,
  store: Store,
  before: readonly Change[] = [],
): Task<RefusedLine | null> {
  return {
    place: each.place,
    uuid: null,
    adjust: (transaction) => transaction,
    tried: () => undefined,
    failed: () => undefined,
    async run() {
      const outcome = await store.write({ changes: [...before, ...lateChanges(mount, each, isText)] });
      // `missing`: the record itself was refused, which has already been reported, or an interrupted import has set the
      // references.
      if (outcome.kind === "written" || outcome.kind === "missing") return null;
      const why = outcome.kind === "taken" ? TAKEN : NO_RECORD;
      const reasons = each.late.map((name) => `${name}: ${why} The record was imported without it.`);
      return { line: each.line, reasons };
    },
  };
}

function lateChanges(
  { resource, collection, links }: ServedMount,
  { record, id, late }: LateReference,
  isText: boolean,
): readonly Change[] {
  const values: Record<string, Value> = {};
  const changes: Change[] = [];
  for (const name of late) {
    const value = parseValue(resource.fields[name]!, record[name], isText) as Value;
    const list = links.find(({ field }) => field === name);
    if (list === undefined) values[name] = value;
    else changes.push({ kind: "link", collection: list.collection, record: id, ids: value as readonly Key[] });
  }
  return Object.keys(values).length === 0 ? changes : [{ kind: "update", collection, key: id, values }, ...changes];
}
