import { statSync } from "node:fs";
import { aFunction, optional } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import type { Observer } from "../../../core/observation.ts";
import { readSigningKeys, SigningKeysError, type SigningKeys } from "./signing-keys.ts";

/** Options of `watchSigningKeys()`: the observer that receives an unreadable file, and the clock. */
export interface WatchedKeysOptions {
  readonly observe: Observer;
  /** Returns milliseconds since the epoch. */
  readonly now?: () => number;
}

const checks: ChecksOf<WatchedKeysOptions> = { observe: aFunction, now: optional(aFunction) };

/** The interval between checks of the file while its keys are in use, in milliseconds. */
const lookEveryMs = 1000;

/**
 * Returns the keys of a JWK Set file, and reads it again after changes: immediately for an unknown key, otherwise within a second. An
 * unreadable file is reported, and the keys stay the same. Throws `SigningKeysError`.
 */
export function watchSigningKeys(file: string, options: WatchedKeysOptions): SigningKeys {
  requireOptions(options, checks, { of: "watchSigningKeys" });
  const { observe, now = Date.now } = options;
  // Before the file is read, so a write in between is noticed the next time.
  let stamp = readStamp(file);
  let current = readSigningKeys(file);
  let version = 0;
  let lookedAt = now();

  function look(): void {
    lookedAt = now();
    const found = readStamp(file);
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
        message: "The changed signing keys cannot be used. The service keeps the previous ones.",
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
      const key = keys().find(kid);
      if (key !== null) return key;
      // Another process may already sign with a new key.
      look();
      return current.find(kid);
    },
    jwks() {
      look();
      return current.jwks();
    },
  };
}

/** Returns a stamp that differs after every change, including the file's permissions and its replacement. */
function readStamp(file: string): string {
  try {
    const { ino, size, ctimeNs } = statSync(file, { bigint: true });
    return `${ino}:${size}:${ctimeNs}`;
  } catch (error) {
    return String(error);
  }
}
