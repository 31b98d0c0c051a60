import type { Scheme } from "../../../access/scheme/scheme.ts";
import { made } from "../../../core/copy.ts";

const builtIn = new WeakSet<Scheme>();

/**
 * Marks a scheme whose identities say which level their account needs (`identityOf`). The gate reads the account itself
 * for any other scheme.
 */
export function builtInScheme(scheme: Scheme): Scheme {
  builtIn.add(scheme);
  return made(scheme);
}

/** Returns true if this package made the scheme. */
export function isBuiltInScheme(scheme: Scheme): boolean {
  return builtIn.has(scheme);
}
