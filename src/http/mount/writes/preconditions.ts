import { after, type Eventually } from "../../../core/eventually.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Row } from "../../../store/store.ts";
import { checkPreconditions, hasPreconditions, requirePreconditionsHold } from "../../answer/conditional.ts";
import { everyTag, stateIn } from "../../answer/tags.ts";
import { hidesValues } from "../../declarations/mount.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { tagOfCollection } from "../reads/listing.ts";
import { tagOfRow } from "../reads/reading.ts";

/**
 * Returns the ETags of the row in every format. With `isOld`, also returns the ETags from its revision, which were used
 * before version 0.2 and are still used beside such a version.
 */
export function tagsOfState(mount: ServedMount, exchange: Exchange, row: Row, isOld: boolean): readonly string[] {
  const { formats, stateTag } = exchange.service;
  const isByContent = mount.noted !== undefined || hidesValues(mount);
  const state = isByContent ? stateIn(tagOfRow(mount, exchange, row)) : stateTag(mount, row);
  const tags = everyTag(formats, state);
  return isOld && !isByContent ? [...tags, ...everyTag(formats, String(row.revision))] : tags;
}

/**
 * Returns true if `If-Match` is one ETag of version 0.1. Such an ETag is a revision, which is easy to guess. A list of
 * such ETags is not accepted, because a client could try many revisions at once.
 */
export function isOldTag(ifMatch: string | undefined): boolean {
  return ifMatch !== undefined && /^"-?\d{1,16}(?:-[\w-]+)?"$/.test(ifMatch);
}

/**
 * Ends the request if `If-Match` or `If-None-Match` is false for the row (RFC 9110 §13.2.2). The client may send the
 * ETag of any format.
 */
export function requirePreconditions(mount: ServedMount, exchange: Exchange, row: Row): void {
  const { call } = exchange;
  if (mount.requireIfMatch && call.header("if-match") === undefined) throw problem("precondition_required");
  if (!hasPreconditions(call)) return;
  const isOld = isOldTag(call.list("if-match") ?? call.list("if-none-match"));
  const tags = tagsOfState(mount, exchange, row, isOld);
  requirePreconditionsHold(call, tags, stateIn);
}

/** Ends the request if its preconditions require an existing record. Used before a record is created. */
export function requireNothingThere({ call }: Exchange): void {
  if (checkPreconditions(call, null).kind !== "proceed") throw problem("precondition_failed");
}

/**
 * Ends a request to the collection if its preconditions are false for the collection. The collection always exists. Its
 * ETag is the ETag of its first page, as this caller sees it. The check is made before the write and not in its
 * transaction.
 */
export function requireCollectionAsKnown(mount: ServedMount, exchange: Exchange): Eventually<void> {
  const { call, service } = exchange;
  if (!hasPreconditions(call)) return;
  return after(tagOfCollection(mount, exchange), (tag) =>
    requirePreconditionsHold(call, tag === null ? [] : everyTag(service.formats, tag)),
  );
}
