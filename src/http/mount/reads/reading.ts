import type { RowsDecision } from "../../../access/permission/contract.ts";
import { decideOn } from "../../../access/permission/decision.ts";
import type { Reply } from "../../../core/call/call.ts";
import { isUnsafe } from "../../../core/call/cross-site.ts";
import { hmac } from "../../../core/crypto/secret.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { isIssues, problem } from "../../../core/problem/problem.ts";
import { readRecordRequest, type ListRequest } from "../../../resource/query.ts";
import type { Key, Row, StoredRecord } from "../../../store/store.ts";
import { tagWithNoted, tagWithShape } from "../../answer/tags.ts";
import { withoutBody, contentTag } from "../../answer/writing.ts";
import { hidesValues } from "../../declarations/mount.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { expandableNames } from "../../declarations/relations.ts";
import { invalid, type Exchange } from "../../request/exchange.ts";
import { scopesLet } from "../../request/permitting.ts";
import { computeShapeDigest } from "../shape-digest.ts";
import { collectDeprecatedFields } from "../used-deprecations.ts";
import { expandRecord } from "./expand/expanding.ts";
import { chooseCache, buildExpansions, buildShapes } from "./expand/expansion.ts";
import { Question } from "./expand/verdicts.ts";
import { judge, judgeChanged, judgeEach } from "./settling.ts";

/** Answers GET of one record. */
export function read(mount: ServedMount, exchange: Exchange): Eventually<Reply> {
  const request = exchange.query === "" ? whole : requireAsked(mount, exchange);
  return after(findVisible(mount, exchange), (row) => {
    if (row === null) throw problem("not_found");
    return request.expand.length === 0
      ? showRow(mount, exchange, row, request.fields)
      : showExpanded(mount, exchange, row, request);
  });
}

type ReadRequest = Pick<ListRequest, "fields" | "expand">;

const whole: ReadRequest = { fields: null, expand: [] };

function requireAsked(mount: ServedMount, exchange: Exchange): ReadRequest {
  const request = readRecordRequest(mount.resource, exchange.parameters(), expandableNames(mount));
  if (isIssues(request)) throw invalid(request);
  if (request.fields !== null) exchange.useDeprecated(collectDeprecatedFields(mount.resource, request.fields));
  return request;
}

/**
 * Returns the record with its expansions. Its ETag is computed from everything that is shown, so it changes when a
 * related record changes.
 */
async function showExpanded(
  mount: ServedMount,
  exchange: Exchange,
  { record }: Row,
  { fields, expand }: ReadRequest,
): Promise<Reply> {
  const expansions = buildExpansions(mount, expand);
  const showing = { mount, columns: fields ?? mount.shown, expansions };
  const { json } = await expandRecord(exchange, showing, record);
  const { resource, jsonMembers } = mount;
  return {
    status: 200,
    body: { kind: "json", json, element: resource.name, jsonMembers, related: buildShapes(expansions) },
    tag: contentTag(json),
    cache: chooseCache(mount, expansions),
  };
}

/** Returns the reply that shows a record in its current state. */
export function showRow(
  mount: ServedMount,
  exchange: Exchange,
  row: Row,
  fields: readonly string[] | null = null,
): Reply {
  const { resource, show, cache, jsonMembers } = mount;
  const shown = show(row.record);
  const value = fields === null ? shown : Object.fromEntries(fields.map((name) => [name, shown[name]]));
  return {
    status: 200,
    body: { kind: "data", value, element: resource.name, jsonMembers },
    tag: tagOfRow(mount, exchange, row),
    cache,
  };
}

/**
 * Returns the ETag of a record. It changes with every write, and differs between shapes. `noted` fields can change
 * without a new revision. If the mount has them, the ETag is computed from the shown values.
 */
export function tagOfRow(mount: ServedMount, { service }: Exchange, row: Row): string {
  const { noted, show } = mount;
  if (hidesValues(mount)) return tagOfVisible(mount, service, row);
  if (noted === undefined) {
    const shape = computeShapeDigest(mount);
    return service.revisionTags.has(shape) ? String(row.revision) : tagWithShape(service.stateTag(mount, row), shape);
  }
  const shown = Object.entries(show(row.record));
  const hashShown = (isNoted: boolean): string =>
    contentTag(JSON.stringify(shown.filter(([name]) => noted.includes(name) === isNoted)));
  return tagWithNoted(hashShown(false), hashShown(true));
}

/**
 * Returns the ETag for a caller from whom rules hide values: a keyed digest of the visible content. It stays the same
 * if only hidden values change. An older shape has the digest of the newer one, because both are one state.
 */
function tagOfVisible(mount: ServedMount, { fingerprintKey }: Exchange["service"], { record }: Row): string {
  const { collection, show } = mount.newer ?? mount;
  const content = hmac(fingerprintKey, JSON.stringify([collection.name, show(record)]));
  return tagWithShape(content.toString("base64url", 0, 9), computeShapeDigest(mount));
}

/** Returns the reply after a change. A caller who may change a record but not read it sees nothing of it. */
export function showChanged(mount: ServedMount, exchange: Exchange, row: Row): Eventually<Reply> {
  const reply = showRow(mount, exchange, row);
  return after(mayReadChanged(mount, exchange, [row]), (may) => (may ? reply : withoutBody(reply)));
}

/**
 * True if the caller may read all of the records that the request has created. Records that no caller may read are shown
 * to their creator, and an account to the person who signs up.
 */
export function mayReadCreated(mount: ServedMount, exchange: Exchange, rows: readonly Row[]): Eventually<boolean> {
  const { permissions, signsUp } = mount;
  const isUnread = permissions.read === undefined && permissions.list === undefined;
  if (signsUp === true || isUnread) return true;
  const judged = rows.map(({ record }) => ({
    record,
    decision: decideReading(mount, exchange, record["id"] as Key),
  }));
  return after(judgeEach(mount, exchange, judged), (each) => each.every(Boolean) && mayReadWithin(mount, exchange));
}

/** True if the caller may read all of these records at their own paths. */
export function mayReadChanged(mount: ServedMount, exchange: Exchange, rows: readonly Row[]): Eventually<boolean> {
  return after(mayReadEach(mount, exchange, rows), (each) => each.every(Boolean) && mayReadWithin(mount, exchange));
}

/** Returns for each record whether the permission lets the caller read it at its own path. */
export function mayReadEach(
  mount: ServedMount,
  exchange: Exchange,
  rows: readonly Row[],
): Eventually<readonly boolean[]> {
  const judged = rows.map(({ record }) => ({
    record,
    decision: decisionOn(mount, exchange, "read", record["id"] as Key),
  }));
  return judgeEach(mount, exchange, judged);
}

/** True if the caller's credential allows reading, and the caller may read the parents of the path. */
export function mayReadWithin(mount: ServedMount, exchange: Exchange): Eventually<boolean> {
  if (!scopesLet(exchange, "GET")) return false;
  // A repeated request gets its stored outcome before its parents are checked, so they are checked here.
  return mount.parent === null || (exchange.parentsAreRead ?? hasParents(mount, exchange, true));
}

/** Returns the row of the path. Returns null if there is no row, or if the caller may not know about the row. */
export function findVisible(
  mount: ServedMount,
  exchange: Exchange,
  find: typeof findById = findById,
): Eventually<Row | null> {
  return after(hasParents(mount, exchange), (has) =>
    has
      ? after(find(mount, exchange), (row) => findAllowedRow(mount, findWithinParent(row, mount, exchange), exchange))
      : null,
  );
}

/**
 * Returns the problem for a record that the caller may not change: 403 if the caller may read it, and 404 if it is
 * missing or hidden. A caller without a credential gets 401 in place of 403.
 */
export async function refuseRow(mount: ServedMount, exchange: Exchange): Promise<Error> {
  return (await isForbidden(mount, exchange)) ? forbidden(exchange) : problem("not_found");
}

/** Returns true if the record in the path exists, and the caller may read it, but not change it. */
export async function isForbidden(mount: ServedMount, exchange: Exchange): Promise<boolean> {
  if (exchange.only === null || !(await hasParents(mount, exchange))) return false;
  const row = findWithinParent(await findById(mount, exchange), mount, exchange);
  if (row === null || (await judge(mount, exchange, row.record, exchange.only))) return false;
  const decision = decideReading(mount, exchange, exchange.key());
  return decision === "allow" || (decision !== "deny" && judge(mount, exchange, row.record, decision.only));
}

/** Returns the problem for a caller who may read a record and not change it. */
export function forbidden(exchange: Exchange): Error {
  exchange.requireIdentity();
  return problem("permission_denied");
}

/**
 * Returns the decision about reading the record with this id: of the permission for `read`, or else for `list`. No
 * caller may read the records of a mount without both.
 */
export function decideReading(mount: ServedMount, exchange: Exchange, id: Key): RowsDecision {
  const action = mount.permissions.read === undefined ? "list" : "read";
  const permission = mount.permissions[action];
  if (permission === undefined) return "deny";
  return decideOn(permission, new Question(exchange, action, { ...exchange.params, id }), mount);
}

/** Returns the record in the path, for any caller. */
export function findById({ collection }: ServedMount, exchange: Exchange): Eventually<Row | null> {
  return exchange.service.store.find(collection, exchange.key());
}

/** Returns the row, or null if the permission hides it from the caller. */
function findAllowedRow(mount: ServedMount, row: Row | null, exchange: Exchange): Eventually<Row | null> {
  const { only } = exchange;
  if (row === null || only === null) return row;
  const isAllowed = judgeChanged(mount, exchange, row.record, only);
  return isAllowed instanceof Promise ? isAllowed.then((is) => (is ? row : null)) : isAllowed ? row : null;
}

/** Returns the row, or null if its parent is not the parent in the path. */
export function findWithinParent(row: Row | null, { resource }: ServedMount, { params }: Exchange): Row | null {
  const { parentColumn } = resource;
  return row === null || parentColumn === null || row.record[parentColumn] === params[parentColumn] ? row : null;
}

/** Ends the request if a parent in the path does not exist or is not visible to the caller. */
export function requireParents(mount: ServedMount, exchange: Exchange): Eventually<void> {
  return after(hasParents(mount, exchange), (has) => {
    if (!has) throw problem("not_found");
  });
}

function hasParents(mount: ServedMount, exchange: Exchange, readsBelow = false): Eventually<boolean> {
  const { parent, resource, writers } = mount;
  if (parent === null) return true;
  const id = exchange.params[resource.parentColumn!]!;
  // With `writers: "readers"`, a caller who may read the parent record may write within it.
  const reads = readsBelow || writers === "readers" || !isUnsafe(exchange.call.method);
  return after(hasParents(parent, exchange, reads), (has) => {
    if (!has) return false;
    return after(
      exchange.service.store.find(parent.collection, id),
      (row) =>
        row !== null &&
        findWithinParent(row, parent, exchange) !== null &&
        isReached(parent, exchange, id, row.record, reads),
    );
  });
}

/**
 * Returns true if the caller may use the records within a parent record. To read them, the caller must be allowed to
 * read the parent. To change them, the caller must be allowed to update the parent, if its mount has a permission for
 * update.
 */
function isReached(
  parent: ServedMount,
  exchange: Exchange,
  id: Key,
  record: StoredRecord,
  reads: boolean,
): Eventually<boolean> {
  return after(mayReach(parent, exchange, "read", id, record), (isRead) => {
    if (isUnsafe(exchange.call.method)) exchange.parentsAreRead = isRead && exchange.parentsAreRead !== false;
    if (reads || parent.permissions.update === undefined) return isRead;
    return after(mayReach(parent, exchange, "update", id, record), (isUpdated) => {
      if (isUpdated) return true;
      if (!isRead) return false;
      exchange.requireIdentity();
      throw problem("permission_denied");
    });
  });
}

/** True if the permission of the request allows every row, and the caller may read each parent in the path. */
export function reachesEveryRow(mount: ServedMount, exchange: Exchange): boolean {
  return exchange.only === null && readsEveryParent(mount, exchange);
}

/** True if the permissions let the caller read every parent in the path, for any record. */
export function readsEveryParent({ parent, resource }: ServedMount, exchange: Exchange): boolean {
  if (parent === null) return true;
  const id = exchange.params[resource.parentColumn!]!;
  return decisionOn(parent, exchange, "read", id) === "allow" && readsEveryParent(parent, exchange);
}

/** True if the permission for an action allows this record for the caller. */
function mayReach(
  parent: ServedMount,
  exchange: Exchange,
  action: "read" | "update",
  id: Key,
  record: StoredRecord,
): Eventually<boolean> {
  const decision = decisionOn(parent, exchange, action, id);
  return decision === "allow" || (decision !== "deny" && judgeChanged(parent, exchange, record, decision.only));
}

/** Returns the decision of the permission for an action on the record with this id. */
export function decisionOn(mount: ServedMount, exchange: Exchange, action: "read" | "update", id: Key): RowsDecision {
  const permission = mount.permissions[action];
  if (permission === undefined) return "deny";
  const { params } = exchange;
  return decideOn(permission, new Question(exchange, action, { ...params, id }), mount);
}
