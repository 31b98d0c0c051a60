import { statSync } from "node:fs";
import { aFunction, optional } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import type { Observer } from "../../../core/observation.ts";
import { readSigningKeys, SigningKeysError, type SigningKeys } from "./signing-keys.ts";

/** Options of `watchSigningKeys()`: who hears of a file that cannot be read any more. */
export interface WatchedKeysOptions {
  readonly observe: Observer;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

const checks: ChecksOf<WatchedKeysOptions> = { observe: aFunction, now: optional(aFunction) };

/** How often the file is looked at while its keys are in use. */
const lookEveryMs = 1000;

/**
 * The keys of a JWK Set file, read again when it has changed: at once for a key that is not known yet, else within a
 * second. A file that cannot be read any more is reported, and the keys stay as they were. Throws `SigningKeysError`.
 */
export function watchSigningKeys(file: string, options: WatchedKeysOptions): SigningKeys {
  requireOptions(options, checks, { of: "watchSigningKeys" });
  const { observe, now = Date.now } = options;
  // Before the file is read: what is written in between is seen next time and not missed.
  let stamp = stampOf(file);
  let current = readSigningKeys(file);
  let version = 0;
  let lookedAt = now();

  function look(): void {
    lookedAt = now();
    const found = stampOf(file);
    if (found === stamp) return;
    stamp = found;
    try {
      current = readSigningKeys(file);
      version++;
    } catch (error) {
      if (!(error instanceof SigningKeysError)) throw error;
      observe({
        kind: "notice",
        level: "error",
        message: "The signing keys have changed and cannot be used; those from before stay.",
        error,
      });
    }
  }

  function keys(): SigningKeys {
    if (Math.abs(now() - lookedAt) >= lookEveryMs) look();
    return current;
  }

  return {
    get signing() {
      return keys().signing;
    },
    get version() {
      keys();
      return version;
    },
    find(kid) {
      const known = keys().find(kid);
      if (known !== null) return known;
      // Another process may sign with a key that was made a moment ago.
      look();
      return current.find(kid);
    },
    jwks() {
      look();
      return current.jwks();
    },
  };
}

/** What is different after every change, also of who may read: a file that replaces another is another. */
function stampOf(file: string): string {
  try {
    const { ino, size, ctimeNs } = statSync(file, { bigint: true });
    return `${ino}:${size}:${ctimeNs}`;
  } catch (error) {
    return String(error);
  }
}
