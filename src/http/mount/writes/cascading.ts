import { buildTableName } from "../../../resource/tables/table.ts";
import type { ServedMount } from "../../declarations/mount.ts";

const cache = new WeakMap<ServedMount, readonly ServedMount[]>();

/**
 * Returns the mounts whose records the database deletes together with a record of this mount, at any depth: nested
 * records, and records that refer to the record with `onDelete: "cascade"`. If the records of this mount refer to each
 * other, the result contains this mount too.
 */
export function cascadesFrom(mount: ServedMount): readonly ServedMount[] {
  let found = cache.get(mount);
  if (found === undefined) cache.set(mount, (found = findCascades(mount)));
  return found;
}

function findCascades(mount: ServedMount): readonly ServedMount[] {
  const found = new Set<ServedMount>();
  const add = (of: ServedMount): void => {
    for (const each of of.referrers)
      if (!found.has(each) && cascades(each, buildTableName(of.resource))) {
        found.add(each);
        add(each);
      }
  };
  add(mount);
  return [...found];
}

function cascades({ collection }: ServedMount, table: string): boolean {
  return collection.columns.some(
    ({ references }) => references?.collection === table && references.onDelete === "cascade",
  );
}
