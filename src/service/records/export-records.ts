import type { ServedMount } from "../../door/resources.ts";
import type { Key, Store, StoredRecord } from "../../door/stores.ts";
import { loadPages } from "./pages.ts";
import { listPathParameters } from "./resource-names.ts";

const PAGE = 1000;

/** A record in an export: its id, its parents' ids, and the fields that callers see. */
export type ExportedRecord = Readonly<Record<string, unknown>>;

/** Returns the columns of an export, in order. */
export function exportedColumns(mount: ServedMount): readonly string[] {
  const [id, ...others] = mount.shown;
  return [id!, ...listPathParameters(mount), ...others];
}

/**
 * Returns all records of a resource in the order of their ids, a page at a time. Leaves out fields that are never
 * shown.
 */
export async function* exportRecords(store: Store, mount: ServedMount): AsyncGenerator<readonly ExportedRecord[]> {
  const columns = exportedColumns(mount);
  for await (const rows of loadPages(store, mount.collection, PAGE)) {
    const places = await placesOfEach(
      store,
      mount,
      rows.map(({ record }) => record),
    );
    yield rows.map(({ record }, at) => {
      const shown: ExportedRecord = { ...places[at], ...mount.show(record) };
      return Object.fromEntries(columns.map((name) => [name, shown[name]]));
    });
  }
}

/**
 * Returns the ids of all parents of each record. The record has the id of its parent, and the parent has the id of the
 * next one.
 */
async function placesOfEach(
  store: Store,
  { resource: { parentColumn }, parent }: ServedMount,
  records: readonly StoredRecord[],
): Promise<readonly ExportedRecord[]> {
  if (parentColumn === null || parent === null) return records.map(() => ({}));
  const ids = [...new Set(records.map((record) => record[parentColumn] as Key))];
  const outer = new Map<Key, ExportedRecord>();
  if (parent.parent !== null) {
    const rows = await store.list({
      collection: parent.collection,
      where: { column: "id", operator: "in", value: ids },
      sort: [{ column: "id" }],
      limit: ids.length,
    });
    const found = rows.map(({ record }) => record);
    const places = await placesOfEach(store, parent, found);
    for (const [at, record] of found.entries()) outer.set(record["id"] as Key, places[at]!);
  }
  return records.map((record) => {
    const id = record[parentColumn] as Key;
    return { ...outer.get(id), [parentColumn]: id };
  });
}
