import { collectFacts } from "../../access/permission/facts.ts";
import { buildTableName } from "../../resource/tables/table.ts";
import type { Change } from "../../store/store.ts";
import type { ProveAnswer } from "../asking/request.ts";
import type { Actor } from "../content/actors.ts";
import { applyChanges } from "../content/state.ts";
import type { WriteRequest } from "../requests/write-request.ts";
import { collectPermissions } from "../world/plan.ts";
import { reportShownRecords } from "./shown-records.ts";
import { describeActor, nameOf, reportSeen, type Trial } from "./try.ts";

/**
 * Repeats a request with the same key: again, as another user, and after the roles and memberships of the actor were
 * taken away. The answer must hide what is hidden from that caller, and refuse what it may not send.
 */
export async function tryRepeat(trial: Trial, request: WriteRequest, first: ProveAnswer): Promise<void> {
  const { world, sender, findings } = trial;
  const { userId } = request.actor;
  if (userId === null) return;
  const again = await sender.send(request);
  if (again !== null && again.status !== first.status)
    findings.listRefused(request, `its repeat answers ${again.status} in place of ${first.status}`);
  await repeatAsOther(trial, request);
  const changes = takeRights(trial, userId);
  const written = await world.service.store.write({ changes }).catch(() => null);
  if (written?.kind !== "written") return;
  const answer = await sender.send(request);
  if (answer === null) return;
  const state = applyChanges(world.state(), await world.findChanges());
  reportSeen(trial, request, answer, { state });
  reportShownRecords(trial, request, answer, state);
  const newer = request.mount.newer ?? request.mount;
  const sight = world.sightOf(request.actor, state);
  const field = request.fields.find(
    (name) =>
      newer.resource.fields[name]?.options.write !== undefined && !sight.mayWriteField(newer, name, request.row),
  );
  if (field === undefined || answer.status >= 300) return;
  findings.add({
    requests: [request],
    resource: nameOf(newer),
    field,
    sentence: `${describeActor(request)} repeats a request with ${field} of ${nameOf(newer)} after the rule of the field denies it.`,
  });
}

/** Sends the request with the same key as another caller, who must not get the stored answer. */
async function repeatAsOther({ world, sender, findings }: Trial, request: WriteRequest): Promise<void> {
  const { actor } = request;
  const others = world.actors.filter(({ userId, credential }) => userId !== actor.userId && credential === "login");
  const isAdministrator = ({ name }: Actor): boolean => name.startsWith("admin");
  const acting = world.actors.find(({ userId, actingId }) => userId === actor.userId && actingId !== actor.actingId);
  for (const other of [others.find((each) => !isAdministrator(each)), others.find(isAdministrator), acting]) {
    if (other === undefined) continue;
    const answer = await sender.send({ ...request, actor: other });
    if (answer?.headers.get("idempotency-replayed") !== "true") continue;
    findings.add({
      requests: [request, { ...request, actor: other }],
      resource: nameOf(request.mount),
      field: null,
      sentence: `${other.name} gets the stored answer to a request of another caller for ${nameOf(request.mount)}.`,
    });
  }
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
