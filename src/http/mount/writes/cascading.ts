import { buildTableName } from "../../../resource/tables/table.ts";
import type { MountInPlace } from "../../declarations/mount.ts";

const cache = new WeakMap<MountInPlace, readonly MountInPlace[]>();

/**
 * Returns the mounts whose records the database deletes together with a record of this mount, at any depth: nested records, and records
 * that refer to the record with `onDelete: "cascade"`. If the records of this mount refer to each other, the result contains this mount
 * too.
 */
export function cascadesFrom(mount: MountInPlace): readonly MountInPlace[] {
  let found = cache.get(mount);
  if (found === undefined) cache.set(mount, (found = findCascades(mount)));
  return found;
}

function findCascades(mount: MountInPlace): readonly MountInPlace[] {
  const found = new Set<MountInPlace>();
  const add = (of: MountInPlace): void => {
    for (const each of of.referrers)
      if (!found.has(each) && cascades(each, buildTableName(of.resource))) {
        found.add(each);
        add(each);
      }
  };
  add(mount);
  return [...found];
}

function cascades({ collection }: MountInPlace, table: string): boolean {
  return collection.columns.some(
    ({ references }) => references?.collection === table && references.onDelete === "cascade",
  );
}
