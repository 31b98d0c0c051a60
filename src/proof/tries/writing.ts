import type { ServedMount } from "../../http/declarations/mount.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { Actor } from "../content/actors.ts";
import type { Cell } from "../content/marks.ts";
import { applyChanges, findRow, type RowChange, type State } from "../content/state.ts";
import { findForgotten } from "../judging/forgotten.ts";
import type { WriteRequest } from "../requests/write-request.ts";
import { drawWrites } from "../requests/writes.ts";
import { reportCopies } from "./copies.ts";
import { reportGains } from "./gains.ts";
import { reportLastOwners } from "./last-owners.ts";
import { reportOutcome } from "./outcomes.ts";
import { tryRepeat } from "./repeating.ts";
import { reportShownRecords } from "./shown-records.ts";
import { describeActor, nameOf, reportSeen, type Trial } from "./try.ts";

/** Sends every writing request of an actor to a mount. Returns false if the world cannot be restored. */
export async function tryWrites(trial: Trial, actor: Actor, mount: ServedMount): Promise<boolean> {
  const repeated = new Set<string>();
  let count = 0;
  for (const drawn of drawWrites(trial.world, actor, mount)) {
    const kind = `${drawn.action} ${Array.isArray(drawn.body) ? "array" : "record"}`;
    const isFirst = !repeated.has(kind) && (drawn.method === "POST" || drawn.method === "PATCH");
    const key = `prove-${actor.name}-${mount.resource.plural}-${++count}`.slice(0, 200);
    const request = isFirst ? { ...drawn, headers: { ...drawn.headers, "Idempotency-Key": key } } : drawn;
    const answer = await trial.sender.send(request);
    const changes = await trial.world.findChanges();
    if (answer === null) continue;
    if (changes.length === 0) {
      reportSeen(trial, request, answer);
      reportOracle(trial, request, answer.status);
      reportIgnored(trial, request, answer.status);
      await reportOutcome(trial, request, answer);
      const left = await trial.world.findChanges();
      if (left.length > 0 && !(await trial.world.undoChanges(left))) return false;
      continue;
    }
    const state = applyChanges(trial.world.state(), changes);
    const marks = sentMarks(request, changes);
    for (const [mark, cell] of marks) {
      const row = findRow(state, cell.mount.collection.name, cell.id);
      // A copied value stays in the row that it was copied from.
      if (row !== null && !trial.world.marks.has(mark)) trial.stored.set(mark, { cell, row, request });
    }
    reportSeen(trial, request, answer, { state, marks });
    reportOracle(trial, request, answer.status);
    reportShownRecords(trial, request, answer, state);
    reportChanges(trial, request, changes, state);
    reportLastOwners(trial, request, state);
    await reportGains(trial, request, changes, state);
    await reportCopies(trial, request, changes, state, marks);
    if (isFirst && answer.status < 300) {
      repeated.add(kind);
      await tryRepeat(trial, request, answer);
    }
    if (!(await trial.world.undoChanges(await trial.world.findChanges()))) return false;
  }
  return true;
}

/** Returns the cells of the sent values: fields of the written row. */
function sentMarks({ marks, mount }: WriteRequest, changes: readonly RowChange[]): ReadonlyMap<string, Cell> {
  const written = changes.find(({ collection, after }) => collection.name === mount.collection.name && after !== null);
  if (written === undefined) return new Map();
  return new Map([...marks].map(([mark, field]) => [mark, { mount: mount.newer ?? mount, id: written.id, field }]));
}

/** Reports a change whose outcome follows from a hidden value: a right guess succeeds. */
function reportOracle({ findings, world }: Trial, request: WriteRequest, status: number): void {
  const [field] = request.fields;
  if (request.isGuess !== true || field === undefined || request.row === null || status >= 300) return;
  const newer = request.mount.newer ?? request.mount;
  const sight = world.sightOf(request.actor);
  if (sight.mayReadField(newer, field, request.row) && sight.mayRead(newer, request.row)) return;
  findings.add({
    requests: [request],
    resource: nameOf(newer),
    field,
    sentence: `${describeActor(request)} guesses ${field} of ${nameOf(newer)} ${String(request.row["id"])} with a change, although its permissions hide it.`,
  });
}

/** Lists an accepted change of an allowed value that was not stored. A hook may have set another value. */
function reportIgnored({ findings }: Trial, request: WriteRequest, status: number): void {
  if (request.isAllowed !== true || request.mount.beforeWrite !== null || request.marks.size === 0 || status >= 300)
    return;
  findings.listRefused(request, `it answers ${status} and changes nothing, although its permissions allow the change`);
}

/** Reports changes of rows and fields that the declarations deny. */
function reportChanges(trial: Trial, request: WriteRequest, changes: readonly RowChange[], state: State): void {
  const newer = request.mount.newer ?? request.mount;
  const own = changes.filter(({ collection }) => collection.name === newer.collection.name);
  const before = trial.world.sightOf(request.actor);
  for (const change of own) {
    const denied = findDenial(before, trial.world.sightOf(request.actor, state), request, newer, change);
    if (denied !== null)
      trial.findings.add({
        requests: [request],
        resource: nameOf(newer),
        field: denied.field,
        sentence: `${describeActor(request)} ${denied.sentence}.`,
      });
  }
}

interface Denial {
  readonly field: string | null;
  readonly sentence: string;
}

type Sight = ReturnType<Trial["world"]["sightOf"]>;

function findDenial(
  before: Sight,
  after: Sight,
  request: WriteRequest,
  mount: ServedMount,
  change: RowChange,
): Denial | null {
  const { plural } = mount.resource;
  const { before: was, after: is, id } = change;
  if (was === null && is !== null) {
    const may =
      request.action === "create" || request.action === "replace"
        ? before.may("create", mount, is) && before.mayWriteWithin(mount, is)
        : false;
    if (!may) return { field: null, sentence: `creates ${plural} ${id}, which the permission of create denies` };
    return findDeniedField(before, request, mount, { id, was: null });
  }
  if (was === null) return null;
  const isTarget = request.row === null ? request.action !== "create" : request.row["id"] === id;
  if (!isTarget) return null;
  const verb = is === null ? "deletes" : "changes";
  if (!before.mayReadUnlimited(mount, was))
    return { field: null, sentence: `${verb} ${plural} ${id}, which it may not read` };
  const action = is === null ? "delete" : request.action === "replace" ? "replace" : "update";
  if (!before.may(action, mount, was) || !before.mayWriteWithin(mount, was))
    return { field: null, sentence: `${verb} ${plural} ${id}, which the permission of ${action} denies` };
  const forgotten = findForgotten(before, action, mount, was);
  if (forgotten !== null)
    return {
      field: null,
      sentence: `${verb} ${plural} ${id} by ${action}, and the same permission denies ${forgotten}`,
    };
  if (is === null) return null;
  if (!before.may(action, mount, is) && !after.may(action, mount, is))
    return { field: null, sentence: `moves ${plural} ${id} to where the permission of ${action} denies it` };
  return findDeniedField(before, request, mount, { id, was, is });
}

/** Finds a sent field that the caller may not send, and whose value was stored. */
function findDeniedField(
  sight: Sight,
  { fields }: WriteRequest,
  mount: ServedMount,
  { id, was, is }: { readonly id: unknown; readonly was: StoredRecord | null; readonly is?: StoredRecord },
): Denial | null {
  const field = fields.find(
    (name) =>
      !sight.mayWriteField(mount, name, was) &&
      (was === null || is === undefined || JSON.stringify(was[name]) !== JSON.stringify(is[name])),
  );
  if (field === undefined)
    return is === undefined ? null : findUnsentField(sight, mount, { fields, id, was: was!, is });
  return {
    field,
    sentence: `sends ${field} of ${mount.resource.plural} ${String(id)}, which the rule of the field denies`,
  };
}

/** Finds a changed field that the caller may not send and has not sent. A hook may change any field. */
function findUnsentField(
  sight: Sight,
  mount: ServedMount,
  {
    fields,
    id,
    was,
    is,
  }: {
    readonly fields: readonly string[];
    readonly id: unknown;
    readonly was: StoredRecord;
    readonly is: StoredRecord;
  },
): Denial | null {
  if (mount.beforeWrite !== null) return null;
  const field = Object.entries(mount.resource.fields).find(
    ([name, declared]) =>
      declared.options.write !== undefined &&
      !fields.includes(name) &&
      !sight.mayWriteField(mount, name, was) &&
      JSON.stringify(was[name]) !== JSON.stringify(is[name]),
  );
  if (field === undefined) return null;
  const [name] = field;
  return {
    field: name,
    sentence: `changes ${name} of ${mount.resource.plural} ${String(id)}, which the rule of the field denies`,
  };
}
