import type { ProveAnswer, ProveRequest } from "../asking/request.ts";
import { pathOfMissing } from "../requests/endpoint-paths.ts";
import { describeActor, nameOf, type Trial } from "./try.ts";

/** Reports an endpoint of the project that denies a hidden row, and does not find a missing one. */
export async function reportExistence(
  { world, sender, findings }: Trial,
  request: ProveRequest,
  answer: ProveAnswer,
): Promise<void> {
  const { named = [], route } = request;
  const [first] = named;
  if (first === undefined || answer.status !== 403) return;
  const sight = world.sightOf(request.actor);
  if (named.some(({ mount, row }) => sight.mayReadUnlimited(mount, row) || sight.isOwn(mount, row))) return;
  const path = pathOfMissing(world, route);
  const missing = path === null ? null : await sender.send({ ...request, path, named: [] });
  if (missing?.status !== 404) return;
  findings.add({
    requests: [request],
    resource: nameOf(first.mount),
    field: null,
    sentence: `${describeActor(request)} learns that ${nameOf(first.mount)} ${String(first.row["id"])} exists: the answer is 403, and 404 for a missing record.`,
  });
}
