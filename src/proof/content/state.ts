import type { Collection, Key, Store, StoredRecord } from "../../store/store.ts";

/** The rows of a table, by their ids. */
export type TableRows = ReadonlyMap<Key, StoredRecord>;

/** The content of a store: the rows of each table, by the name of the table. */
export type State = ReadonlyMap<string, TableRows>;

/** More rows than the tables of a small world have. */
const ALL = 10_000;

/** Reads the rows of tables. */
export async function readState(store: Store, collections: Iterable<Collection>): Promise<State> {
  const state = new Map<string, TableRows>();
  for (const collection of collections) {
    const rows = await store.list({ collection, where: null, sort: [{ column: "id" }], limit: ALL });
    state.set(collection.name, new Map(rows.map(({ record }) => [record["id"] as Key, record])));
  }
  return state;
}

/** One row that differs between two states. Null: the row is missing there. */
export interface RowChange {
  readonly collection: Collection;
  readonly id: Key;
  readonly before: StoredRecord | null;
  readonly after: StoredRecord | null;
}

/** Returns the rows of tables that differ between two states. */
export function compareStates(before: State, after: State, collections: Iterable<Collection>): readonly RowChange[] {
  const changes: RowChange[] = [];
  for (const collection of collections) {
    const [old, current] = [before.get(collection.name), after.get(collection.name)];
    for (const id of new Set([...(old?.keys() ?? []), ...(current?.keys() ?? [])])) {
      const [was, is] = [old?.get(id) ?? null, current?.get(id) ?? null];
      if (JSON.stringify(was) !== JSON.stringify(is)) changes.push({ collection, id, before: was, after: is });
    }
  }
  return changes;
}

/** Returns a state with the rows of some tables replaced. */
export function withTables(state: State, tables: State): State {
  return new Map([...state, ...tables]);
}

/** Returns the row of a table. Returns null if there is none. */
export function findRow(state: State, table: string, id: unknown): StoredRecord | null {
  return state.get(table)?.get(id as Key) ?? null;
}

/** Returns the state after changes. */
export function applyChanges(state: State, changes: readonly RowChange[]): State {
  const tables = new Map<string, Map<Key, StoredRecord>>();
  for (const { collection, id, after } of changes) {
    const rows = tables.get(collection.name) ?? new Map(state.get(collection.name));
    tables.set(collection.name, rows);
    if (after === null) rows.delete(id);
    else rows.set(id, after);
  }
  return withTables(state, tables);
}
