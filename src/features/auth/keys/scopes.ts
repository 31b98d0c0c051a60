/** The form of a scope of a key. Names with a colon (`notes:read`) are for custom permissions. */
export const scopeForm = "^(?:read|write|[a-z][a-z0-9_.-]*:[a-z0-9_.:-]+)$";

/**
 * Returns true if the scopes allow a method: `read` for reading, and `write` for the other methods. Permissions check
 * all other scopes.
 */
export function scopesAllow(scopes: readonly string[], method: string): boolean {
  return scopes.includes(method === "GET" ? "read" : "write");
}
