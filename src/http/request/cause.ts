import type { Call } from "../../core/call/call.ts";
import type { Identity } from "../../core/identity.ts";
import type { Cause } from "../../store/store.ts";

/**
 * Returns the cause of a write: the caller, the administrator who acts for the caller if there is one, and the request.
 */
export function buildCause(call: Call, identity: Identity | null): Cause {
  return {
    ...callerIn(identity),
    credentialId: identity?.keyId ?? identity?.sessionId ?? identity?.family ?? null,
    requestId: call.requestId,
    traceId: call.trace?.traceId ?? null,
    parentId: call.trace?.parentId ?? null,
  };
}

/**
 * Returns the members of a cause that name the caller, and the administrator who acts for the caller if there is one.
 */
export function callerIn(identity: Identity | null): Pick<Cause, "userId" | "actorId" | "scheme"> {
  if (identity === null) return { userId: null, scheme: null };
  const { id: userId, scheme, actor } = identity;
  return actor === undefined ? { userId, scheme } : { userId, actorId: actor.id, scheme };
}
