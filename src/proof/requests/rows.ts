import type { ServedMount } from "../../http/declarations/mount.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { State } from "../content/state.ts";
import { paramsOf } from "../judging/sight.ts";

/** Returns the rows of a mount. */
export function rowsOf(state: State, mount: ServedMount): readonly StoredRecord[] {
  return [...(state.get(mount.collection.name)?.values() ?? [])];
}

/** Returns a few of the rows: the first, the last, and those between. */
export function chooseFew(rows: readonly StoredRecord[], count: number): readonly StoredRecord[] {
  if (rows.length <= count) return rows;
  return Array.from({ length: count }, (_, at) => rows[Math.round((at * (rows.length - 1)) / Math.max(1, count - 1))]!);
}

/** Fills a declared path with the parameters of a row. */
export function fillPath(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/\{([a-z][a-z0-9_]*)(?::\w+)?\}/g, (whole, name: string) =>
    Object.hasOwn(params, name) ? encodeURIComponent(String(params[name])) : whole,
  );
}

/** Returns the path of the collection that a row is in. */
export function collectionPath(mount: ServedMount, row: StoredRecord, state: State): string {
  return fillPath(mount.resource.path, paramsOf(mount, row, state));
}

/** Returns the path of a row. */
export function rowPath(mount: ServedMount, row: StoredRecord, state: State): string {
  return fillPath(`${mount.resource.path}/{id}`, paramsOf(mount, row, state));
}

/** Returns the path of a collection whose parent does not exist, for a row with a parent. */
export function missingCollectionPath({ resource, ...mount }: ServedMount, row: StoredRecord, state: State): string {
  const parent = resource.parentColumn!;
  const params = { ...paramsOf({ resource, ...mount }, row, state), [parent]: missingId(row[parent]) };
  return fillPath(resource.path, params);
}

/** Returns an id of the same kind that no record of the world has. */
export function missingId(id: unknown): string {
  return typeof id === "number" ? "8000000001" : "0f0f0f0f-0000-4000-8000-000000000000";
}
