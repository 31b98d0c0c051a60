import { administrator, allOf, anyOf, self, unlimited } from "../index.ts";

/** The user of the path, and administrators. */
export const ownOrAny = anyOf(administrator, self());

/** The same for what makes, changes or ends a way of logging in: a key that is limited must not give itself more. */
export const ownOrAnyUnlimited = allOf(unlimited, ownOrAny);

/** What keys may be limited to; names with a colon (`notes:read`) are for permissions of one's own. */
export const scopeForm = "^(?:read|write|[a-z][a-z0-9_.-]*:[a-z0-9_.:-]+)$";

/** `read` is for reading and `write` for the other methods; more than that is for the permissions to ask. */
export function scopesAllow(scopes: readonly string[], method: string): boolean {
  return scopes.includes(method === "GET" ? "read" : "write");
}
