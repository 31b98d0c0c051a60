import type { Change, Collection, Store, WrittenValues } from "../../store/store.ts";
import type { RowChange } from "./state.ts";

/** Undoes changes of rows. Returns false if the store refuses it. */
export async function undo(
  store: Store,
  changes: readonly RowChange[],
  collections: readonly Collection[],
): Promise<boolean> {
  const order = new Map(inOrderOfReferences(collections).map(({ name }, at) => [name, at]));
  const placed = changes.toSorted((one, other) => order.get(one.collection.name)! - order.get(other.collection.name)!);
  const undone: Change[] = [
    ...placed
      .toReversed()
      .flatMap(({ collection, id, before }): Change[] =>
        before === null ? [{ kind: "delete", collection, key: id }] : [],
      ),
    ...placed.flatMap(({ collection, id, before, after }): Change[] => {
      if (before === null) return [];
      const values = stored(collection, before);
      return [
        after === null
          ? { kind: "insert", collection, key: id, values }
          : { kind: "update", collection, key: id, values },
      ];
    }),
  ];
  if (undone.length === 0) return true;
  try {
    return (await store.write({ changes: undone })).kind === "written";
  } catch {
    return false;
  }
}

/** Returns the stored columns of a row, without its id and without values that the database computes. */
function stored({ columns }: Collection, row: Readonly<Record<string, unknown>>): WrittenValues {
  return Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null])) as WrittenValues;
}

/** Returns tables so that each comes after the tables that it refers to. */
export function inOrderOfReferences(collections: readonly Collection[]): readonly Collection[] {
  const done = new Map<string, Collection>();
  const visit = (collection: Collection, trail: readonly string[]): void => {
    if (done.has(collection.name) || trail.includes(collection.name)) return;
    for (const { references } of collection.columns) {
      const to = collections.find(({ name }) => name === references?.collection);
      if (to !== undefined) visit(to, [...trail, collection.name]);
    }
    done.set(collection.name, collection);
  };
  for (const each of collections) visit(each, []);
  return [...done.values()];
}
