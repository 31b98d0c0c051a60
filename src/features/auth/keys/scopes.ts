/** What keys may be limited to; names with a colon (`notes:read`) are for permissions of one's own. */
export const scopeForm = "^(?:read|write|[a-z][a-z0-9_.-]*:[a-z0-9_.:-]+)$";

/** `read` is for reading and `write` for the other methods; more than that is for the permissions to ask. */
export function scopesAllow(scopes: readonly string[], method: string): boolean {
  return scopes.includes(method === "GET" ? "read" : "write");
}
