import { collectFacts } from "../../access/permission/facts.ts";
import { buildTableName } from "../../resource/tables/table.ts";
import type { Change } from "../../store/store.ts";
import type { ProveRequest } from "../asking/request.ts";
import { applyChanges } from "../content/state.ts";
import { collectPermissions } from "../world/plan.ts";
import { reportSeen, type Trial } from "./try.ts";

/**
 * Takes the roles and memberships of the actor away, and repeats its request: the answer must hide what is hidden now.
 */
export async function tryRepeat(trial: Trial, request: ProveRequest): Promise<void> {
  const { world, sender } = trial;
  const { userId } = request.actor;
  if (userId === null) return;
  const changes = takeRights(trial, userId);
  const written = await world.service.store.write({ changes }).catch(() => null);
  if (written?.kind !== "written") return;
  const answer = await sender.send(request);
  if (answer === null) return;
  const state = applyChanges(world.state(), await world.findChanges());
  reportSeen(trial, request, answer, { state });
}

function takeRights({ world }: Trial, userId: number): readonly Change[] {
  const accounts = world.collections().find(({ name }) => name === "accounts");
  const facts = world.mounts.flatMap((mount) => collectPermissions(mount).flatMap(collectFacts));
  const memberships = new Map(
    facts.flatMap((each) => ("memberships" in each ? [[buildTableName(each.memberships), each.user] as const] : [])),
  );
  return [
    ...(accounts === undefined
      ? []
      : [{ kind: "update", collection: accounts, key: userId, values: { role: "user" } } as const]),
    ...[...memberships].flatMap(([table, column]): readonly Change[] => {
      const collection = world.collections().find(({ name }) => name === table);
      return collection === undefined
        ? []
        : [{ kind: "deleteAll", collection, where: { column, operator: "eq", value: userId } }];
    }),
  ];
}
