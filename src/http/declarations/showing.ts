import type { RecordOf, Resource } from "../../resource/resource.ts";
import type { Collection, StoredRecord } from "../../store/store.ts";
import { compileComputer } from "./computing.ts";

/** Returns the part of a stored record that callers see. */
type Show = (record: StoredRecord) => RecordOf<Resource>;

/**
 * Returns the function that shows records. A record of the store has `id` first, so the shown record also has `id`
 * first.
 */
export function makeShow(resource: Resource, collection: Collection, names: readonly string[]): Show {
  const show = showStored(collection, names);
  const compute = compileComputer(resource);
  return compute === null ? show : (record) => ({ ...show(record), ...compute(show(record)) });
}

function showStored({ columns, computed = [] }: Collection, names: readonly string[]): Show {
  if (names.length === columns.length + computed.length + 1) return (record) => record as RecordOf<Resource>;
  return (record) => {
    const picked: Record<string, unknown> = {};
    for (const name of names) picked[name] = record[name];
    return picked as RecordOf<Resource>;
  };
}
