import { Flaw, type ServedMount } from "../../door/resources.ts";
import type { Change, Collection, Key } from "../../door/stores.ts";
import { collectReferences, readTargets } from "./import-order.ts";
import type { ImportLine } from "./import-users.ts";
import { parseId } from "./read-record.ts";
import { listPathParameters } from "./resource-names.ts";

/** The other files of the same command. */
export interface OtherFiles {
  /** The names of the collections whose files are imported after this one. */
  readonly later: readonly string[];
  /** In a dry run, the ids in each file by the name of its collection. Null if records are written. */
  readonly ids: ReadonlyMap<string, ReadonlySet<Key>> | null;
}

/** The references between the records of a file and those of the other files. */
export interface OpenReferences {
  /**
   * Returns the fields that a record is created without, because they may refer to records that are written after it.
   */
  list(record: ImportLine["record"]): readonly string[];
  /** Returns true if a field, or the id of a parent, refers to a record that only a dry run does not write. */
  isGiven(name: string, record: ImportLine["record"]): boolean;
}

/** Finds the references of a file to the other files of the same command. */
export function openReferences(
  mount: ServedMount,
  { later, ids }: OtherFiles,
  { isText }: { readonly isText: boolean },
): OpenReferences {
  const references = collectReferences(mount);
  const above = listPathParameters(mount).at(-1);

  function isGiven(name: string, record: ImportLine["record"]): boolean {
    const to = references.find((each) => each.name === name)?.to;
    const known = to === undefined || to === mount.collection.name ? undefined : ids?.get(to);
    return known !== undefined && readTargets(mount, name, record, isText).every((id) => known.has(id));
  }

  return {
    list: (record) =>
      references
        .filter(({ name, to, isOptional }) => {
          if (!isOptional || readTargets(mount, name, record, isText).length === 0) return false;
          return ids === null ? later.includes(to) : isGiven(name, record);
        })
        .map(({ name }) => name),
    isGiven(name, record) {
      if (name !== above || mount.parent === null) return isGiven(name, record);
      const id = parseId(record[name], mount.parent.resource.id);
      return !(id instanceof Flaw) && ids?.get(mount.parent.collection.name)?.has(id) === true;
    },
  };
}

/**
 * Returns the mounts in an order in which each required reference finds its record. The order depends only on the
 * declarations, so a repeated command uses the same. Returns the mounts that require each other if there is no such
 * order.
 */
export function orderMounts(
  mounts: readonly ServedMount[],
): { readonly ordered: readonly ServedMount[] } | { readonly circle: readonly ServedMount[] } {
  const left = new Set(mounts);
  const ordered: ServedMount[] = [];
  while (left.size > 0) {
    const next = [...left].find((each) => [...left].every((other) => other === each || !requires(each, other)));
    if (next === undefined) return { circle: [...left] };
    left.delete(next);
    ordered.push(next);
  }
  return { ordered };
}

/** Returns true if no record of a mount can exist without a record of another one. */
export function requires(mount: ServedMount, other: ServedMount): boolean {
  return (
    mount.parent === other ||
    collectReferences(mount).some(({ to, isOptional }) => !isOptional && to === other.collection.name)
  );
}

/**
 * The marks of the records that were created without some references. A mark is written in the same transaction as its
 * record, and removed in the same transaction that sets the references. So only records of this import get them, also
 * after an interruption.
 */
export function leftOutMarks(collection: Collection, key: string) {
  const keyOf = (line: number): string => `${key} ${line}`;
  return {
    add: (line: number): Change => ({ kind: "insert", collection, key: keyOf(line), values: { line } }),
    take: (line: number): Change => ({ kind: "delete", collection, key: keyOf(line) }),
    forget: (line: number): Change => ({
      kind: "deleteAll",
      collection,
      where: { column: "id", operator: "eq", value: keyOf(line) },
    }),
  };
}
