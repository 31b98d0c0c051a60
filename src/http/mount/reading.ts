import { isUnsafe } from "../../auth/cross-site.ts";
import { after, type Eventually } from "../../eventually.ts";
import { decideOn } from "../../permission/decision.ts";
import type { Decision, PermissionRequest } from "../../permission/permission.ts";
import { problem } from "../../problem/problem.ts";
import type { Issue } from "../../problem/problem.ts";
import { readFieldsRequest } from "../../resource/query.ts";
import type { Row, StoredRecord } from "../../store/store.ts";
import type { Reply } from "../call.ts";
import { invalid, type Exchange } from "../exchange.ts";
import { withoutBody } from "../writing.ts";
import { matches } from "./matches.ts";
import type { MountInPlace } from "./mount.ts";

/** GET of one record. */
export function read(placed: MountInPlace, exchange: Exchange): Eventually<Reply> {
  const fields = exchange.call.query === "" ? null : requireFields(placed, exchange);
  return after(findVisible(placed, exchange), (row) => {
    if (row === null) throw problem("not_found");
    return showRow(placed, row, fields);
  });
}

function requireFields({ resource }: MountInPlace, exchange: Exchange): readonly string[] | null {
  const fields = readFieldsRequest(resource, exchange.parameters());
  if (fields === null || isNames(fields)) return fields;
  throw invalid(fields);
}

function isNames(fields: readonly string[] | readonly Issue[]): fields is readonly string[] {
  return fields.every((each) => typeof each === "string");
}

/** The reply that shows a record in its present state. */
export function showRow(
  { resource, show, cache, jsonMembers }: MountInPlace,
  row: Row,
  fields: readonly string[] | null = null,
): Reply {
  const shown = show(row.record);
  const value = fields === null ? shown : Object.fromEntries(fields.map((name) => [name, shown[name]]));
  return {
    status: 200,
    body: { kind: "data", value, element: resource.name, jsonMembers },
    tag: String(row.revision),
    cache,
  };
}

/** The reply that shows what a change has left. Whoever may change a record and not read it is shown nothing of it. */
export function showChanged(placed: MountInPlace, exchange: Exchange, row: Row): Reply {
  const reply = showRow(placed, row);
  return mayReach(placed, exchange, "read", exchange.id(), row.record) ? reply : withoutBody(reply);
}

/** The row of the path; null where there is none, or none that the caller may know of. */
export function findVisible(placed: MountInPlace, exchange: Exchange): Eventually<Row | null> {
  return after(hasParents(placed, exchange), (has) =>
    has ? after(findById(placed, exchange), (row) => visible(placed, within(row, placed, exchange), exchange)) : null,
  );
}

function findById({ collection }: MountInPlace, exchange: Exchange): Eventually<Row | null> {
  return exchange.service.store.find(collection, exchange.id());
}

function visible({ collection }: MountInPlace, row: Row | null, { only }: Exchange): Row | null {
  return row !== null && (only === null || matches(collection, row.record, only)) ? row : null;
}

/** A record under another parent's path is not there. */
function within(row: Row | null, { resource }: MountInPlace, { params }: Exchange): Row | null {
  const { parentColumn } = resource;
  return row === null || parentColumn === null || row.record[parentColumn] === params[parentColumn] ? row : null;
}

/** Ends the request unless each record that the path stands within is there and visible to the caller. */
export function requireParents(placed: MountInPlace, exchange: Exchange): Eventually<void> {
  return after(hasParents(placed, exchange), (has) => {
    if (!has) throw problem("not_found");
  });
}

function hasParents({ parent, resource }: MountInPlace, exchange: Exchange): Eventually<boolean> {
  if (parent === null) return true;
  const id = exchange.params[resource.parentColumn!] as number;
  return after(hasParents(parent, exchange), (has) => {
    if (!has) return false;
    return after(
      exchange.service.store.find(parent.collection, id),
      (row) => row !== null && within(row, parent, exchange) !== null && isReached(parent, exchange, id, row.record),
    );
  });
}

/** Whoever may read the outer record may reach what stands within it; where it can be changed, only whoever may do that may change what stands within it. */
function isReached(parent: MountInPlace, exchange: Exchange, id: number, record: StoredRecord): boolean {
  const reads = !isUnsafe(exchange.call.method);
  if (reads || parent.permissions.update === undefined) return mayReach(parent, exchange, "read", id, record);
  if (mayReach(parent, exchange, "update", id, record)) return true;
  if (!mayReach(parent, exchange, "read", id, record)) return false;
  exchange.requireIdentity();
  throw problem("permission_denied");
}

/** Whether no row is out of the caller's reach, here and in whatever the path stands within. */
export function reachesEveryRow({ parent, resource }: MountInPlace, exchange: Exchange): boolean {
  if (exchange.only !== null) return false;
  if (parent === null) return true;
  return (
    decisionOn(parent, exchange, "read", exchange.params[resource.parentColumn!] as number) === "allow" &&
    reachesEveryRow(parent, exchange)
  );
}

function mayReach(
  parent: MountInPlace,
  exchange: Exchange,
  action: "read" | "update",
  id: number,
  record: StoredRecord,
): boolean {
  const decision = decisionOn(parent, exchange, action, id);
  return decision === "allow" || (decision !== "deny" && matches(parent.collection, record, decision.only));
}

function decisionOn(
  { permissions, collection }: MountInPlace,
  exchange: Exchange,
  action: "read" | "update",
  id: number,
): Decision {
  const permission = permissions[action];
  if (permission === undefined) return "deny";
  const { params } = exchange;
  const request: PermissionRequest = {
    action,
    params: { ...params, id },
    // Only a permission that looks makes the answer private.
    get identity() {
      return exchange.identity;
    },
  };
  return decideOn(permission, request, collection);
}
