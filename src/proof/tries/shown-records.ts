import type { ServedMount } from "../../http/declarations/mount.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { ProveAnswer } from "../asking/request.ts";
import { findRow, type State } from "../content/state.ts";
import type { WriteRequest } from "../requests/write-request.ts";
import { describeActor, nameOf, recordsIn, type Trial } from "./try.ts";

/**
 * Reports a record in the answer to a change that the caller may not read. Lists an answer without the record that the
 * caller may read.
 */
export function reportShownRecords(trial: Trial, request: WriteRequest, answer: ProveAnswer, state: State): void {
  const { world, findings } = trial;
  const newer = request.mount.newer ?? request.mount;
  const sight = world.sightOf(request.actor, state);
  if (answer.status >= 300 || (request.action === "create" && isForCreator(newer))) return;
  const rowOf = (id: unknown): StoredRecord | null => findRow(state, newer.collection.name, id);
  const shown = recordsIn(answer.text)
    .map(({ id }) => rowOf(id))
    .filter((row) => row !== null);
  const hidden = shown.find((row) => !sight.mayRead(newer, row) && !sight.isOwn(newer, row));
  if (hidden !== undefined)
    findings.add({
      requests: [request],
      resource: nameOf(newer),
      field: null,
      sentence: `The answer to ${describeActor(request)} shows ${nameOf(newer)} ${String(hidden["id"])}, which it may not read.`,
    });
  const written = request.row === null ? null : rowOf(request.row["id"]);
  if (written === null || shown.length > 0 || request.method === "DELETE" || Array.isArray(request.body)) return;
  if (newer.permissions.read !== undefined && sight.may("read", newer, written))
    findings.listRefused(request, "its answer lacks the changed record, which its permissions show to the caller");
}

/** True if the answer to a creation shows the record to any caller: an account, or a record that no caller may read. */
function isForCreator({ signsUp, permissions }: ServedMount): boolean {
  return signsUp === true || (permissions.read === undefined && permissions.list === undefined);
}
