import { after, type Eventually } from "../../../core/eventually.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Row } from "../../../store/store.ts";
import { checkPreconditions, hasPreconditions, requirePreconditionsHold } from "../../answer/conditional.ts";
import { everyTag, stateIn } from "../../answer/tags.ts";
import type { Exchange } from "../../exchange.ts";
import type { MountInPlace } from "../mount.ts";
import { tagOfCollection } from "../reads/listing.ts";
import { tagOfRow } from "../reads/reading.ts";

/** Returns the ETags of the row in every representation (`stateIn`). With `isOld`, also the revision, which was the ETag until 0.2. */
export function tagsOfState(mount: MountInPlace, exchange: Exchange, row: Row, isOld: boolean): readonly string[] {
  const { formats } = exchange.service;
  const tags = everyTag(formats, stateIn(tagOfRow(mount, exchange, row)));
  return isOld && mount.noted === undefined ? [...tags, ...everyTag(formats, String(row.revision))] : tags;
}

/**
 * Returns true if `If-Match` is one ETag of version 0.1. A list of such ETags is not accepted, because it could guess a revision by trying
 * many at once.
 */
export function isOldTag(ifMatch: string | undefined): boolean {
  return ifMatch !== undefined && /^"-?\d{1,16}(?:-[\w-]+)?"$/.test(ifMatch);
}

/**
 * Ends the request if `If-Match` or `If-None-Match` is false for the row (RFC 9110 §13.2.2). The ETag may be that of any representation.
 */
export function requirePreconditions(mount: MountInPlace, exchange: Exchange, row: Row): void {
  const { call } = exchange;
  if (mount.requireIfMatch && call.header("if-match") === undefined) throw problem("precondition_required");
  if (!hasPreconditions(call)) return;
  const tags = tagsOfState(mount, exchange, row, isOldTag(call.list("if-match")));
  requirePreconditionsHold(call, tags, stateIn);
}

/** Ends the request if it requires an existing record. */
export function requireNothingThere({ call }: Exchange): void {
  if (checkPreconditions(call, null).kind !== "proceed") throw problem("precondition_failed");
}

/**
 * Ends a creation if its preconditions are false for the collection that it names. The collection always exists, and its ETag is that of
 * its first page as the caller sees it. This is checked before the write and not in its transaction.
 */
export function requireCollectionAsKnown(mount: MountInPlace, exchange: Exchange): Eventually<void> {
  const { call, service } = exchange;
  if (!hasPreconditions(call)) return;
  return after(tagOfCollection(mount, exchange), (tag) =>
    requirePreconditionsHold(call, tag === null ? [] : everyTag(service.formats, tag)),
  );
}
