import type { StoredRecord } from "../../store/store.ts";
import type { ProveRequest } from "../asking/request.ts";
import { findRow, type State } from "../content/state.ts";
import { describeActor, nameOf, type Trial } from "./try.ts";

/** Reports a write that takes the last owner of a group away, although its mount keeps one. */
export function reportLastOwners({ world, findings }: Trial, request: ProveRequest, state: State): void {
  for (const { founder, collection, ...mount } of world.mounts) {
    if (founder === null || !founder.keep) continue;
    const { memberships, values } = founder;
    const table = world.mounts.find(({ resource }) => resource === memberships.resource)?.collection.name ?? "";
    const isOwner = (row: StoredRecord): boolean =>
      Object.entries(values).every(([name, value]) => row[name] === value);
    const groupsWithOwner = (at: State): ReadonlySet<unknown> =>
      new Set([...(at.get(table)?.values() ?? [])].filter(isOwner).map((row) => row[memberships.group]));
    const left = groupsWithOwner(state);
    const lost = [...groupsWithOwner(world.state())].find(
      (group) => !left.has(group) && findRow(state, collection.name, group) !== null,
    );
    if (lost === undefined) continue;
    findings.add({
      requests: [request],
      resource: memberships.resource.plural,
      field: null,
      sentence: `${describeActor(request)} takes the last owner of ${nameOf(mount)} ${String(lost)} away.`,
    });
  }
}
