import { statSync } from "node:fs";
import { aFunction, optional } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import type { Observer } from "../../../core/observation.ts";
import { readSigningKeys, SigningKeysError, type SigningKeys } from "./signing-keys.ts";

/** Options of `watchSigningKeys()`: the observer, which gets a notice of an unreadable file, and the clock. */
export interface WatchedKeysOptions {
  readonly observe: Observer;
  /** Returns milliseconds since the epoch. */
  readonly now?: () => number;
}

const checks: ChecksOf<WatchedKeysOptions> = { observe: aFunction, now: optional(aFunction) };

/** The interval between checks of the file while its keys are in use, in milliseconds. */
const checkEveryMs = 1000;

/**
 * Returns the keys of a JWK Set file. Reads the file again after a change: immediately if a key is unknown, otherwise
 * when the keys are used and the last check is a second old. If the changed file is unreadable, reports it and keeps
 * the previous keys. Throws `SigningKeysError` if the first reading fails.
 */
export function watchSigningKeys(file: string, options: WatchedKeysOptions): SigningKeys {
  requireOptions(options, checks, { of: "watchSigningKeys" });
  const { observe, now = Date.now } = options;
  // The stamp is read before the file, so that the next check notices a write in between.
  let stamp = readStamp(file);
  let current = readSigningKeys(file);
  let version = 0;
  let checkedAt = now();

  function readChangedFile(): void {
    checkedAt = now();
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
    if (Math.abs(now() - checkedAt) >= checkEveryMs) readChangedFile();
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
      readChangedFile();
      return current.find(kid);
    },
    jwks() {
      readChangedFile();
      return current.jwks();
    },
  };
}

/** Returns a stamp of the file. A change of its content or permissions changes the stamp, and so does a replacement. */
function readStamp(file: string): string {
  try {
    const { ino, size, ctimeNs } = statSync(file, { bigint: true });
    return `${ino}:${size}:${ctimeNs}`;
  } catch (error) {
    return String(error);
  }
}
