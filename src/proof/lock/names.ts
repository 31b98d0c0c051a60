import type { ServedMount } from "../../http/declarations/mount.ts";
import type { Resource } from "../../resource/resource.ts";
import { formatTableName } from "../../resource/tables/table.ts";
import type { Namer } from "./terms.ts";

/** Returns the name of a resource in sentences: `tasks`, or `notes in projects` for a nested one. */
export function nameResource({ plural, name, within }: Resource): string {
  const own = plural === "" ? name : plural;
  return within === null ? own : `${own} in ${nameResource(within)}`;
}

/** Names groups and their members by the resources of a service. */
export function makeNamer(mounts: readonly ServedMount[]): Namer {
  const resources = mounts.filter(({ older }) => older === null).map(({ resource }) => resource);
  return {
    members({ memberships }) {
      const noun = membersOf(memberships);
      const isClear = resources.every((each) => each === memberships || membersOf(each) !== noun);
      return isClear ? noun : `${noun} (${memberships.path})`;
    },
    group({ memberships: { fields, parentColumn, within }, group }) {
      if (group === parentColumn) return within!.name;
      const to = fields[group]!.kind.references!.resource;
      return resources.find((each) => formatTableName(each.plural) === formatTableName(to))?.name ?? to;
    },
  };
}

/** Memberships make members. Other names, like `guest`, name the members themselves. */
function membersOf({ name, plural }: Resource): string {
  const members = /(^|_)membership$/.test(name) ? `${name.replace(/ship$/, "")}s` : plural;
  return members.replaceAll(/[_-]/g, " ");
}
