import { randomBytes } from "node:crypto";
import type { Call } from "../../../core/call/call.ts";
import { digest } from "../../../core/crypto/secret.ts";
import { insert, storedOf, table, updateAll } from "../../../http/declarations/table.ts";
import { dateTime, text } from "../../../resource/kinds/fields.ts";
import type { Change, Outcome, Store, Where } from "../../../store/store.ts";
import { requireWrittenRow } from "../../../store/written.ts";
import { accountsCollection, ofAccount } from "../records/accounts.ts";
import { equals, timeText, until } from "../records/conditions.ts";
import { maxLogins } from "../records/logins.ts";
import type { Revocations } from "../records/revocation.ts";
import type { TokenFamilies } from "./families.ts";
import type { RefreshToken } from "./refresh-token.ts";

/** Used refresh tokens. The key is a hash of the token's `jti`. A login itself writes nothing here. */
export const refreshUsesCollection = table({
  name: "refresh_uses",
  id: "text",
  fields: {
    user_id: ofAccount,
    family: text(),
    /**
     * The value that the successor is derived from. Null after the grace window (`graceSeconds` after the first use)
     * has closed.
     */
    nonce: text({ optional: true }),
    used_at: dateTime(),
    expires_at: dateTime(),
  },
  indexes: [["user_id"], ["family"], ["nonce", "used_at"], ["expires_at"]],
});

/** Families that were ended early. The key is the family. */
export const deadFamiliesCollection = table({
  name: "dead_families",
  id: "text",
  fields: { expires_at: dateTime() },
  indexes: [["expires_at"]],
});

/** The result of using a token. */
export type Use =
  /**
   * The first use, or a repeated one within the grace window. The only successor is derived from `nonce` and `usedAt`
   * (in milliseconds).
   */
  | { readonly kind: "used"; readonly nonce: string; readonly usedAt: number }
  /** The token was used again after its grace window. Two parties have it, and one of them may be a thief. */
  | { readonly kind: "reused" }
  /** The family of the token was revoked, or all logins of its account were revoked. */
  | { readonly kind: "ended" };

export interface RefreshUsesOptions {
  readonly store: Store;
  readonly revocations: Pick<Revocations, "endFamily">;
  readonly families: TokenFamilies;
  readonly refreshSeconds: number;
  readonly graceSeconds: number;
}

type Family = Pick<RefreshToken, "userId" | "family" | "familyExp">;

/** The stored state of refresh tokens: the used ones, and the dead families. Times in milliseconds. */
export interface RefreshUses {
  /** Uses the token up. Returns the earlier use if there was one. */
  useUp(token: RefreshToken, call: Call): Promise<Use>;
  /**
   * Records a use of the token, but does not use the token up. Returns the state of the token before this use. The
   * caller checks its account.
   */
  look(token: RefreshToken, call: Call): Promise<Use | { readonly kind: "unused" }>;
  /** Returns true if the token was never used and its family is live. The caller checks its account. */
  isFresh(token: RefreshToken): Promise<boolean>;
  /** True if the family has not ended. */
  isLive(family: string): Promise<boolean>;
  /** Ends the family and its access tokens. Returns false if it was already ended. */
  endFamily(token: Family, now: number): Promise<boolean>;
  /** Returns the changes that erase the nonces whose grace windows closed at least two seconds ago. */
  sweep(now: number): Change[];
  /** Returns the changes that delete rows about expired tokens only. */
  prune(now: number): Change[];
}

/**
 * The time for which rows are stored after their tokens expire. Otherwise, a machine whose clock is behind could accept
 * a used token again.
 */
const expirySlackMs = 3_600_000;

/**
 * The time for which nonces are stored after their grace window. A slow request, or a machine whose clock is behind,
 * must still find the nonce.
 */
const sweepSlackMs = 2000;

/** Returns the uses in a store. */
export function refreshUses({
  store,
  revocations,
  families,
  refreshSeconds,
  graceSeconds,
}: RefreshUsesOptions): RefreshUses {
  const isOpen = (usedAt: number, now: number) => now < usedAt + graceSeconds * 1000;

  const isLive = async (family: string): Promise<boolean> =>
    (await store.find(deadFamiliesCollection, family)) === null;

  async function readUse(token: RefreshToken, now: number): Promise<Use | null> {
    const use = await store.find(refreshUsesCollection, hashTokenId(token));
    if (use === null) return null;
    const { used_at, nonce } = storedOf(use);
    const usedAt = Date.parse(used_at);
    return nonce === null || !isOpen(usedAt, now) ? { kind: "reused" } : { kind: "used", nonce, usedAt };
  }

  /** Ends the oldest families of a user who has too many. */
  async function endOldest(userId: number, now: number): Promise<void> {
    for (const family of await families.beyond(userId, maxLogins, now)) {
      const found = await families.find(userId, family);
      if (found !== null) await endFamily(found, now);
    }
  }

  async function endFamily(ending: Family, now: number): Promise<boolean> {
    const { family } = ending;
    const outcome = await store.write({
      changes: [...markFamilyDead(ending), ...families.forget(family), ...revocations.endFamily(family, now)],
    });
    if (outcome.kind === "written") return true;
    if (outcome.kind === "taken" || outcome.kind === "refused") return false; // already ended, or deleted with its account
    throw unexpected(outcome);
  }

  return {
    endFamily,
    async useUp(token, call) {
      const { now } = call;
      const nonce = randomBytes(16).toString("base64url");
      const successorExpiresAt = Math.min(now + refreshSeconds * 1000, token.familyExp * 1000);
      const { counted, seen } = families.use(token, call, successorExpiresAt);
      const changes = [...firstUse(token, nonce, now), counted, seen];
      const outcome = await store.write({ changes });
      switch (outcome.kind) {
        case "written":
          if (storedOf(requireWrittenRow(counted, changes, outcome)).uses === 1) await endOldest(token.userId, now);
          return { kind: "used", nonce, usedAt: now };
        case "taken":
          return (await readUse(token, now)) ?? { kind: "ended" }; // deleted with its account
        case "refused":
        case "dangling":
          return { kind: "ended" };
        default:
          throw unexpected(outcome);
      }
    },
    async look(token, call) {
      const earlierUse = await readUse(token, call.now);
      const { counted, seen } = families.use(token, call, token.exp * 1000);
      const changes = [...requireLiveFamily(token), counted, seen];
      const noted = await store.write({ changes });
      if (noted.kind !== "written") return { kind: "ended" };
      if (storedOf(requireWrittenRow(counted, changes, noted)).uses === 1) await endOldest(token.userId, call.now);
      return earlierUse ?? { kind: "unused" };
    },
    async isFresh(token) {
      return (await store.find(refreshUsesCollection, hashTokenId(token))) === null && isLive(token.family);
    },
    isLive,
    sweep: (now) => [eraseNonces(until("used_at", now - graceSeconds * 1000 - sweepSlackMs))],
    prune: (now) => [...deleteExpired(now), ...families.prune(now)],
  };
}

/**
 * Returns the changes that end a family and erase its nonces. They also lock its account, as every use of the family
 * does. So the end of a family and a use of it wait for each other.
 */
function markFamilyDead({ userId, family, familyExp }: Family): readonly Change[] {
  const values = { expires_at: timeText(familyExp * 1000 + expirySlackMs) };
  return [
    requireAccount(equals("id", userId)),
    insert(deadFamiliesCollection, { key: family, values }),
    eraseNonces(equals("family", family)),
  ];
}

function eraseNonces(where: Where): Change {
  return updateAll(refreshUsesCollection, { where: { all: [where, hasNonce] }, values: { nonce: null } });
}

function deleteExpired(now: number): readonly Change[] {
  const where = until("expires_at", now);
  return [refreshUsesCollection, deadFamiliesCollection].map((collection) => ({
    kind: "deleteAll",
    collection,
    where,
  }));
}

/**
 * Returns the changes of the first use. Among all processes they succeed only once, and only for a live family of an
 * active account.
 */
function firstUse(token: RefreshToken, nonce: string, now: number): Change[] {
  const { userId, family, exp } = token;
  const values = {
    user_id: userId,
    family,
    nonce,
    used_at: timeText(now),
    expires_at: timeText(exp * 1000 + expirySlackMs),
  };
  return [...requireLiveFamily(token), insert(refreshUsesCollection, { key: hashTokenId(token), values })];
}

/**
 * Requires an active account and a live family. Locks the account first. The end of a family also locks the account, so
 * it is complete before this use, or it starts after this use.
 */
function requireLiveFamily({ userId, family, generation }: RefreshToken): readonly Change[] {
  const ofAccount: Where = { any: [equals("generation", generation), equals("kept_family", family)] };
  const where = equals("id", family);
  return [
    requireAccount({ all: [equals("id", userId), equals("active", true), ofAccount] }),
    { kind: "require", collection: deadFamiliesCollection, where, atMost: 0, isGuarded: true, name: "family" },
  ];
}

function requireAccount(where: Where): Change {
  return { kind: "require", collection: accountsCollection, where, atLeast: 1, name: "account" };
}

function hashTokenId({ jti }: RefreshToken): string {
  return digest(jti).toString("base64url");
}

/** Matches rows that have a nonce. Not written as `null: false`, because SQLite uses no index for that condition. */
const hasNonce: Where = { column: "nonce", operator: "gt", value: "" };

function unexpected(outcome: Outcome): Error {
  return new Error(`The store answered ${outcome.kind} to a change of refresh tokens.`);
}
