import { hash, randomBytes } from "node:crypto";
import type { Account } from "../records/accounts.ts";

/** Recently verified credentials. The next request with one of them needs no hash. */
export interface VerifiedMemory {
  /** Returns the key of a credential. It reveals nothing of the credential outside this process. */
  deriveKey(credential: string): string;
  /**
   * Returns the account as it was when the credential was verified. Returns null if there is no entry, or if it has
   * expired.
   */
  find(key: string, now: number): Account | null;
  remember(key: string, account: Account, now: number): void;
  forget(key: string): void;
}

interface Entry {
  readonly account: Account;
  /** In milliseconds since the epoch. */
  readonly until: number;
}

/** Makes an empty memory. The calling code must compare the returned account with the stored account. */
export function makeVerifiedMemory(lifetimeSeconds = 60, maxEntries = 10_000): VerifiedMemory {
  const secret = randomBytes(32).toString("base64");
  const entries = new Map<string, Entry>();

  return {
    // A secret prefix is enough, because no digest ever leaves the process. It takes a third of the time of an HMAC.
    deriveKey: (credential) => hash("sha256", secret + credential, "base64"),
    find(key, now) {
      const entry = entries.get(key);
      if (entry === undefined) return null;
      if (now < entry.until) return entry.account;
      entries.delete(key);
      return null;
    },
    remember(key, account, now) {
      entries.delete(key);
      entries.set(key, { account, until: now + lifetimeSeconds * 1000 });
      if (entries.size <= maxEntries) return;
      for (const oldest of entries.keys()) {
        entries.delete(oldest);
        return;
      }
    },
    forget(key) {
      entries.delete(key);
    },
  };
}
