import type { ServedMount } from "../../http/declarations/mount.ts";
import { findReferencedTable } from "../../resource/tables/references.ts";
import type { Value } from "../../store/store.ts";
import type { World } from "../world/world.ts";
import { chooseFew, rowsOf } from "./rows.ts";

/** The rows whose ids a name asks for. */
const NAMED_ROWS = 5;

/**
 * Returns the ids that a member, a parameter or a column of this name may hold: `note_id`, `noteIds`, `notes`, or the
 * name of a reference. `id` is that of the mounts that the path names.
 */
export function namedIds(world: World, name: string, path: string): readonly Value[] {
  const mounts = /^ids?$/i.test(name) ? nearMounts(world, path) : namedMounts(world, name);
  return [...new Set(mounts.flatMap((mount) => idsOf(world, mount)))];
}

/** Returns a few ids of records of a mount. */
export function idsOf(world: World, mount: ServedMount): readonly Value[] {
  return chooseFew(rowsOf(world.state(), mount), NAMED_ROWS).map((row) => row["id"] as Value);
}

/** Returns the mounts that a path names: all if it names none. */
export function nearMounts({ mounts }: World, path: string): readonly ServedMount[] {
  const parts = path.split(/[/{}:_-]/);
  const near = mounts.filter(({ resource: { name, plural } }) =>
    parts.some((part) => part === plural || part === name || part === `${name}_id`),
  );
  return near.length > 0 ? near : mounts;
}

function namedMounts({ mounts, usersTable }: World, name: string): readonly ServedMount[] {
  const stem = name.toLowerCase().replace(/_?ids?$/, "");
  const own = mounts.filter(({ resource }) =>
    [resource.name, resource.plural].some((each) => each.replaceAll("_", "") === stem.replaceAll("_", "")),
  );
  if (own.length > 0) return own;
  const tables = mounts.flatMap(({ resource }) => {
    const column = [name, `${stem}_id`].find((each) => Object.hasOwn(resource.fields, each));
    const table = column === undefined ? null : findReferencedTable(resource, column);
    return table === null ? [] : [table === "accounts" ? usersTable : table];
  });
  return mounts.filter(({ collection }) => tables.includes(collection.name));
}
