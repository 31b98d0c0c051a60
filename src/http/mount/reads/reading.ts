import { decideOn } from "../../../access/permission/decision.ts";
import type { SettledDecision } from "../../../access/permission/permission.ts";
import type { Reply } from "../../../core/call/call.ts";
import { isUnsafe } from "../../../core/call/cross-site.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { isIssues, problem } from "../../../core/problem/problem.ts";
import { readRecordRequest, type ListRequest } from "../../../resource/query.ts";
import type { Key, Row, StoredRecord } from "../../../store/store.ts";
import { tagWithNoted, tagWithShape } from "../../answer/tags.ts";
import { withoutBody, contentTag } from "../../answer/writing.ts";
import { invalid, type Exchange } from "../../exchange.ts";
import { scopesLet } from "../../permitting.ts";
import { goingFields } from "../going.ts";
import type { MountInPlace } from "../mount.ts";
import { expandableNames } from "../relations.ts";
import { shapeDigestOf } from "../shape-digest.ts";
import { expandRecord } from "./expand/expanding.ts";
import { cacheOf, expansionsOf, shapesOf } from "./expand/expansion.ts";
import { Question } from "./expand/verdicts.ts";
import { matches } from "./matches.ts";

/** GET of one record. */
export function read(placed: MountInPlace, exchange: Exchange): Eventually<Reply> {
  const asked = exchange.query === "" ? whole : requireAsked(placed, exchange);
  return after(findVisible(placed, exchange), (row) => {
    if (row === null) throw problem("not_found");
    return asked.expand.length === 0
      ? showRow(placed, exchange, row, asked.fields)
      : showExpanded(placed, exchange, row, asked);
  });
}

type Asked = Pick<ListRequest, "fields" | "expand">;

const whole: Asked = { fields: null, expand: [] };

function requireAsked(placed: MountInPlace, exchange: Exchange): Asked {
  const asked = readRecordRequest(placed.resource, exchange.parameters(), expandableNames(placed));
  if (isIssues(asked)) throw invalid(asked);
  if (asked.fields !== null) exchange.useDeprecated(goingFields(placed.resource, asked.fields));
  return asked;
}

/** The record with others beside it. Its tag is of all that is shown, so that it changes with each of them. */
async function showExpanded(
  placed: MountInPlace,
  exchange: Exchange,
  { record }: Row,
  { fields, expand }: Asked,
): Promise<Reply> {
  const expansions = expansionsOf(placed, expand);
  const showing = { placed, columns: fields ?? placed.shown, expansions };
  const { json } = await expandRecord(exchange, showing, record);
  const { resource, jsonMembers } = placed;
  return {
    status: 200,
    body: { kind: "json", json, element: resource.name, jsonMembers, related: shapesOf(expansions) },
    tag: contentTag(json),
    cache: cacheOf(placed, expansions),
  };
}

/** The reply that shows a record in its present state. */
export function showRow(
  placed: MountInPlace,
  exchange: Exchange,
  row: Row,
  fields: readonly string[] | null = null,
): Reply {
  const { resource, show, cache, jsonMembers } = placed;
  const shown = show(row.record);
  const value = fields === null ? shown : Object.fromEntries(fields.map((name) => [name, shown[name]]));
  return {
    status: 200,
    body: { kind: "data", value, element: resource.name, jsonMembers },
    tag: tagOfRow(placed, exchange, row),
    cache,
  };
}

/** Returns the tag of a record's state, which changes with every write and with the shape. If some of what is shown is only noted, the tag is of what is shown. */
export function tagOfRow(placed: MountInPlace, { service }: Exchange, row: Row): string {
  const { noted, show } = placed;
  if (noted === undefined) return tagWithShape(service.stateTag(placed, row), shapeDigestOf(placed));
  const shown = Object.entries(show(row.record));
  const digestOf = (isNoted: boolean): string =>
    contentTag(JSON.stringify(shown.filter(([name]) => noted.includes(name) === isNoted)));
  return tagWithNoted(digestOf(false), digestOf(true));
}

/** The reply that shows what a change has left. Whoever may change a record and not read it is shown nothing of it. */
export function showChanged(placed: MountInPlace, exchange: Exchange, row: Row): Eventually<Reply> {
  const reply = showRow(placed, exchange, row);
  return after(mayReadChanged(placed, exchange, [row]), (may) => (may ? reply : withoutBody(reply)));
}

/** Whether the caller may read all of these records at their own paths. */
export function mayReadChanged(placed: MountInPlace, exchange: Exchange, rows: readonly Row[]): Eventually<boolean> {
  const mayRead = rows.every(({ record }) => mayReach(placed, exchange, "read", record["id"] as Key, record));
  return mayRead && mayReadWithin(placed, exchange);
}

/** Whether the caller's credential may read, and the caller what the path stands within. */
export function mayReadWithin(placed: MountInPlace, exchange: Exchange): Eventually<boolean> {
  if (!scopesLet(exchange, "GET")) return false;
  // Of a repeat nobody has looked at what the path stands within.
  return placed.parent === null || (parentsAreRead.get(exchange) ?? hasParents(placed, exchange, true));
}

/** The row of the path; null where there is none, or none that the caller may know of. */
export function findVisible(
  placed: MountInPlace,
  exchange: Exchange,
  find: typeof findById = findById,
): Eventually<Row | null> {
  return after(hasParents(placed, exchange), (has) =>
    has ? after(find(placed, exchange), (row) => visible(placed, within(row, placed, exchange), exchange)) : null,
  );
}

/** The record that the path names, whoever may know of it. */
export function findById({ collection }: MountInPlace, exchange: Exchange): Eventually<Row | null> {
  return exchange.service.store.find(collection, exchange.key());
}

/** The row, where it is one of the only ones that the caller may know of. */
export function visible({ collection }: MountInPlace, row: Row | null, { only }: Pick<Exchange, "only">): Row | null {
  return row !== null && (only === null || matches(collection, row.record, only)) ? row : null;
}

/** A record under another parent's path is not there. */
export function within(row: Row | null, { resource }: MountInPlace, { params }: Exchange): Row | null {
  const { parentColumn } = resource;
  return row === null || parentColumn === null || row.record[parentColumn] === params[parentColumn] ? row : null;
}

/** Ends the request unless each record that the path stands within is there and visible to the caller. */
export function requireParents(placed: MountInPlace, exchange: Exchange): Eventually<void> {
  return after(hasParents(placed, exchange), (has) => {
    if (!has) throw problem("not_found");
  });
}

function hasParents(placed: MountInPlace, exchange: Exchange, readsBelow = false): Eventually<boolean> {
  const { parent, resource, writers } = placed;
  if (parent === null) return true;
  const id = exchange.params[resource.parentColumn!]!;
  // Where readers of a record may write within it, it is itself only read, and so is whatever it stands within.
  const reads = readsBelow || writers === "readers" || !isUnsafe(exchange.call.method);
  return after(hasParents(parent, exchange, reads), (has) => {
    if (!has) return false;
    return after(
      exchange.service.store.find(parent.collection, id),
      (row) =>
        row !== null && within(row, parent, exchange) !== null && isReached(parent, exchange, id, row.record, reads),
    );
  });
}

/** Whether the caller may read all that the path stands within: of requests that change something and have looked at it. */
const parentsAreRead = new WeakMap<Exchange, boolean>();

/** Whoever may read the outer record may reach what stands within it; where it can be changed, only whoever may do that may change what stands within it. */
function isReached(parent: MountInPlace, exchange: Exchange, id: Key, record: StoredRecord, reads: boolean): boolean {
  const isRead = mayReach(parent, exchange, "read", id, record);
  if (isUnsafe(exchange.call.method)) parentsAreRead.set(exchange, isRead && parentsAreRead.get(exchange) !== false);
  if (reads || parent.permissions.update === undefined) return isRead;
  if (mayReach(parent, exchange, "update", id, record)) return true;
  if (!isRead) return false;
  exchange.requireIdentity();
  throw problem("permission_denied");
}

/** Whether no row is out of the caller's reach, here and in whatever the path stands within. */
export function reachesEveryRow({ parent, resource }: MountInPlace, exchange: Exchange): boolean {
  if (exchange.only !== null) return false;
  if (parent === null) return true;
  return (
    decisionOn(parent, exchange, "read", exchange.params[resource.parentColumn!]!) === "allow" &&
    reachesEveryRow(parent, exchange)
  );
}

/** Whether the permission for an action lets the caller at this record. */
function mayReach(
  parent: MountInPlace,
  exchange: Exchange,
  action: "read" | "update",
  id: Key,
  record: StoredRecord,
): boolean {
  const decision = decisionOn(parent, exchange, action, id);
  return decision === "allow" || (decision !== "deny" && matches(parent.collection, record, decision.only));
}

/** What the permission for an action says of the record with this id. */
export function decisionOn(
  { permissions, collection }: MountInPlace,
  exchange: Exchange,
  action: "read" | "update",
  id: Key,
): SettledDecision {
  const permission = permissions[action];
  if (permission === undefined) return "deny";
  const { params } = exchange;
  return decideOn(permission, new Question(exchange, action, { ...params, id }), collection);
}
