import { collectFacts } from "../../access/permission/facts.ts";
import { buildTableName } from "../../resource/tables/table.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { ProveRequest } from "../asking/request.ts";
import type { RowChange, State } from "../content/state.ts";
import { applyChanges, findRow } from "../content/state.ts";
import { findGains, type Right } from "../judging/rights.ts";
import { rowPath } from "../requests/rows.ts";
import { collectPermissions } from "../world/plan.ts";
import type { World } from "../world/world.ts";
import { describeActor, nameOf, type Trial } from "./try.ts";

/** Reports the rights that an actor gains by its own write: by a field of its identity, or by a membership. */
export async function reportGains(
  trial: Trial,
  request: ProveRequest,
  changes: readonly RowChange[],
  state: State,
): Promise<void> {
  const { world, findings } = trial;
  const deciding = decidingTables(world);
  const decisive = changes.filter(({ collection }) => deciding.has(collection.name));
  if (decisive.length === 0 || request.actor.userId === null) return;
  const gainedIn = (later: State): readonly Right[] =>
    findGains(
      world.mounts,
      world.state(),
      later,
      world.sightOf(request.actor),
      world.sightOf(request.actor, later),
    ).filter(
      ({ mount, id }) => !decisive.some((each) => each.collection.name === mount.collection.name && each.id === id),
    );
  const gains = gainedIn(state);
  const declared =
    gains.length > 0 && isOpenJoin(world, decisive) ? gainedIn(joinedByDefault(world, decisive, state)) : [];
  const gain = gains.find(
    ({ action, mount, id }) =>
      !declared.some((each) => each.action === action && each.mount === mount && each.id === id),
  );
  if (gain === undefined) return;
  const { collection } = decisive[0]!;
  const changed = world.mounts.find((mount) => mount.collection.name === collection.name);
  findings.add({
    requests: [request, ...showing(request, gain, state)],
    resource: changed === undefined ? collection.name : nameOf(changed),
    field: fieldOf(world, decisive[0]!),
    sentence: `${describeActor(request)} gains the right to ${gain.action} ${nameOf(gain.mount)} ${String(gain.id)} by its own write.`,
  });
}

/** Returns the request that shows a gained right to read. */
function showing({ actor }: ProveRequest, { action, mount, id }: Right, state: State): readonly ProveRequest[] {
  const row = findRow(state, mount.collection.name, id);
  if (action !== "read" || row === null || mount.permissions.read === undefined) return [];
  return [{ actor, method: "GET", path: rowPath(mount, row, state), route: `${mount.resource.path}/{id}` }];
}

/** Returns the changed field, first one that decides about rights. Null if the row is new. */
function fieldOf({ structure }: World, { collection, before, after }: RowChange): string | null {
  if (before === null || after === null) return null;
  const changed = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return changed.find((name) => structure.get(collection.name)?.has(name) === true) ?? changed[0] ?? null;
}

/** Returns the tables whose rows decide about rights. */
function decidingTables(world: World): ReadonlySet<string> {
  const facts = world.mounts.flatMap((mount) => collectPermissions(mount).flatMap(collectFacts));
  const custom = world.mounts.flatMap((mount) =>
    collectPermissions(mount).flatMap(({ memberships = [] }) => memberships),
  );
  const memberships = [...custom, ...facts.flatMap((each) => ("memberships" in each ? [each.memberships] : []))];
  return new Set([world.usersTable, "accounts", ...memberships.map((resource) => buildTableName(resource))]);
}

/** Returns the state in which new memberships have the default words of fields that decide about rights. */
function joinedByDefault({ mounts, structure }: World, decisive: readonly RowChange[], state: State): State {
  return applyChanges(
    state,
    decisive.map((change) => {
      const { collection, after } = change;
      const fields = mounts.find((each) => each.collection.name === collection.name)?.resource.fields ?? {};
      const defaults = Object.entries(fields).flatMap(([name, { options }]) =>
        structure.get(collection.name)?.has(name) === true &&
        ["string", "number", "boolean"].includes(typeof options.default)
          ? [[name, options.default] as const]
          : [],
      );
      return after === null
        ? change
        : { ...change, after: { ...after, ...Object.fromEntries(defaults) } as StoredRecord };
    }),
  );
}

/** Returns true if the change is a new membership, and the declaration says that anyone may join. */
function isOpenJoin({ mounts }: World, decisive: readonly RowChange[]): boolean {
  return decisive.every(
    ({ collection, before }) =>
      before === null && mounts.some((mount) => mount.collection.name === collection.name && mount.joins === "open"),
  );
}
