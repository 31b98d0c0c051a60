import type { StoredRecord } from "../../store/store.ts";
import type { ProveAnswer } from "../asking/request.ts";
import { findRow } from "../content/state.ts";
import type { Sight } from "../judging/sight.ts";
import { missingId } from "../requests/rows.ts";
import type { WriteRequest } from "../requests/write-request.ts";
import type { World } from "../world/world.ts";
import { describeActor, nameOf, type Trial } from "./try.ts";

/**
 * Reports a refused write that reveals whether a hidden record exists: its status is not that of a missing record.
 * Lists a refusal that hides a record which the caller may read.
 */
export async function reportOutcome(trial: Trial, request: WriteRequest, answer: ProveAnswer): Promise<void> {
  const { world, sender, findings } = trial;
  const { status } = answer;
  if (isRefused(world, request, answer))
    findings.listRefused(request, `it answers ${status}, although its permissions let the caller ${request.action}`);
  const { row, mount, allowedAt } = request;
  if (allowedAt !== undefined && status === 404 && answer.text.includes(`"/${allowedAt}/id"`))
    findings.listRefused(request, "it answers that a record is missing which its permissions let the caller update");
  if (allowedAt !== undefined && status === 400 && answer.text.includes(`"/${allowedAt}/`))
    findings.listRefused(request, "it answers 400 to a change that is allowed, beside one that is not");
  const newer = mount.newer ?? mount;
  const sight = world.sightOf(request.actor);
  reportConcealed(trial, request, answer, sight);
  const hidden = findUnknownField(world, request, answer);
  if (hidden !== null)
    findings.listRefused(request, `it answers that there is no field ${hidden}, although the caller may read it`);
  const unknown = findUnknown(world, request, answer, sight);
  if (unknown !== null)
    findings.listRefused(
      request,
      `it answers that ${unknown} names no record, although the caller may read that record`,
    );
  if (status < 400 || status >= 500) return;
  if (request.missingPath !== undefined) await reportParent(trial, request, status, request.missingPath);
  if (row === null) return;
  if (sight.mayReadUnlimited(newer, row)) {
    const isRead = newer.permissions.read !== undefined && sight.may("read", newer, row);
    if (isRead && (status === 404 || (request.isAllowed === false && ![400, 401, 403].includes(status))))
      findings.listRefused(request, `it answers ${status} for a record that its permissions let the caller read`);
    return;
  }
  const missing = withMissingId(request, row);
  const other = await sender.send(missing);
  if (other === null || other.status >= 500) return;
  if (other.status === status) {
    if (isDenied(world, request, status, sight))
      findings.listRefused(request, `it answers ${status} in place of 404 for a record that is missing or hidden`);
    return;
  }
  if ((await world.findChanges()).length > 0) return;
  findings.add({
    requests: [request],
    resource: nameOf(newer),
    field: null,
    sentence: `${describeActor(request)} learns that ${nameOf(newer)} ${String(row["id"])} exists: the answer is ${status}, and ${other.status} for a missing record.`,
  });
}

/** Reports a refused creation that reveals whether its parent exists: its status is not that within a missing parent. */
async function reportParent(trial: Trial, request: WriteRequest, status: number, path: string): Promise<void> {
  const other = await trial.sender.send({ ...request, path });
  if (other === null || other.status >= 500 || other.status === status) return;
  const { parent, resource } = request.mount.newer ?? request.mount;
  trial.findings.add({
    requests: [request],
    resource: nameOf(parent!),
    field: null,
    sentence: `${describeActor(request)} learns from a creation of ${resource.plural} that its ${parent!.resource.name} exists: the answer is ${status}, and ${other.status} within a missing one.`,
  });
}

/**
 * Returns true if the caller may not do what the declarations allow. Hooks, and the rules of accounts, may refuse it.
 * These rules let users change their own names.
 */
function isRefused(world: World, request: WriteRequest, { status, text }: ProveAnswer): boolean {
  const { action, actor, fields, isAllowed, mount, row } = request;
  if (isAllowed !== true) return false;
  const isOwnName = action === "update" && row?.["id"] === actor.userId && fields.join() === "name";
  if (mount.collection.name === world.usersTable ? !isOwnName : mount.beforeWrite !== null) return false;
  return [401, 403, 404].includes(status) || /"(read_only|unknown_field|patch_conflict)"/.test(text);
}

/**
 * Returns true if a record is denied that the caller may not know, although the permission depends on the record. The
 * rules of accounts, and hooks, may deny what the permission allows.
 */
function isDenied({ usersTable }: World, request: WriteRequest, status: number, sight: Sight): boolean {
  const { mount, row, action } = request;
  const newer = mount.newer ?? mount;
  return (
    [401, 403, 412].includes(status) &&
    mount.beforeWrite === null &&
    mount.collection.name !== usersTable &&
    sight.mayWithAny(action, newer, row!) &&
    sight.mayWriteWithin(newer, row!)
  );
}

/** Returns the sent field that is refused as an unknown id, although its record exists and the caller may read it. */
function findUnknown(
  { mounts, state }: World,
  { isAllowed, mount, body }: WriteRequest,
  { status, text }: ProveAnswer,
  sight: Sight,
): string | null {
  if (isAllowed !== true || status !== 400 || mount.beforeWrite !== null || Array.isArray(body)) return null;
  if (!text.includes('"There is no record with this id."')) return null;
  const sent = Object.entries((body ?? {}) as Readonly<Record<string, unknown>>).find(([name, id]) => {
    const to = mount.resource.fields[name]?.kind.references?.resource;
    const target = mounts.find(({ resource }) => resource.plural === to);
    const row = target === undefined ? null : findRow(state(), target.collection.name, id);
    return (
      text.includes(`"/${name}"`) && row !== null && (sight.mayReadUnlimited(target!, row) || sight.isOwn(target!, row))
    );
  });
  return sent?.[0] ?? null;
}

/** Returns the sent field that is refused as an unknown name, although the caller may read it. */
function findUnknownField(
  world: World,
  { actor, body, mount, row }: WriteRequest,
  { status, text }: ProveAnswer,
): string | null {
  if (status !== 400 || !text.includes('"unknown_field"') || Array.isArray(body)) return null;
  const { errors = [] } = JSON.parse(text) as { readonly errors?: readonly Readonly<Record<string, unknown>>[] };
  const sight = world.sightOf(actor);
  const newer = mount.newer ?? mount;
  const names = Object.keys(body ?? {}).filter((name) => Object.hasOwn(mount.resource.fields, name));
  const found = names.find(
    (name) =>
      errors.some(({ code, pointer }) => code === "unknown_field" && pointer === `/${name}`) &&
      sight.mayReadField(newer, mount.older?.members.get(name)?.from ?? name, row ?? {}),
  );
  return found ?? null;
}

/** Returns the request for a record that does not exist. */
function withMissingId(request: WriteRequest, row: StoredRecord): WriteRequest {
  const { body, path } = request;
  const id = missingId(row["id"]);
  if (path.endsWith(`/${String(row["id"])}`)) return { ...request, path: path.replace(/[^/]*$/, id) };
  const [change, ...others] = body as readonly [object, ...object[]];
  return { ...request, body: [{ ...change, id: typeof row["id"] === "number" ? Number(id) : id }, ...others] };
}

/** Reports a refusal that names a field which neither can be read nor sent, in place of an unknown field. */
function reportConcealed(
  { findings }: Trial,
  request: WriteRequest,
  { status, text }: ProveAnswer,
  sight: Sight,
): void {
  if (status !== 400 || !text.includes('"read_only"')) return;
  const newer = request.mount.newer ?? request.mount;
  const field = request.fields.find((name) => {
    const { read, write } = newer.resource.fields[name]?.options ?? {};
    return (
      read !== undefined &&
      write !== undefined &&
      !sight.mayReadField(newer, name, request.row ?? {}) &&
      !sight.mayWriteField(newer, name, request.row)
    );
  });
  if (field === undefined || request.fields.length > 1) return;
  findings.add({
    requests: [request],
    resource: nameOf(newer),
    field,
    sentence: `${describeActor(request)} is told that ${field} of ${nameOf(newer)} cannot be set, although it may not know the field.`,
  });
}
