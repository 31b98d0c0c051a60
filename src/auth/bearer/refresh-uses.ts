import { randomBytes } from "node:crypto";
import { digest } from "../../crypto/secret.ts";
import type { Change, Collection, Outcome, Store, Where } from "../../store/store.ts";
import { accountsCollection } from "../accounts.ts";
import type { Revocations } from "../revocation.ts";
import type { RefreshToken } from "./refresh-token.ts";

/** Refresh tokens that were used up; the key is a hash of the token's `jti`. A login leaves nothing here. */
export const refreshUsesCollection: Collection = {
  name: "refresh_uses",
  key: "text",
  columns: [
    { name: "user_id", type: "integer", references: { collection: "accounts", onDelete: "cascade" } },
    { name: "family", type: "text" },
    /** What the successor is derived with; null once the window has closed. */
    { name: "nonce", type: "text", nullable: true },
    { name: "used_at", type: "date-time" },
    { name: "expires_at", type: "date-time" },
  ],
  indexes: [["user_id"], ["family"], ["nonce", "used_at"], ["expires_at"]],
};

/** Families that have ended before their time; the key is the family. */
export const deadFamiliesCollection: Collection = {
  name: "dead_families",
  key: "text",
  columns: [{ name: "expires_at", type: "date-time" }],
  indexes: [["expires_at"]],
};

/** What became of a token that somebody wants to use. */
export type Use =
  /** Its one successor follows from these; first use or again within the window. `usedAt` in milliseconds. */
  | { readonly kind: "used"; readonly nonce: string; readonly usedAt: number }
  /** It came back after its window: two hold it, and one of them is a thief. */
  | { readonly kind: "reused" }
  /** Its family or its account has ended. */
  | { readonly kind: "ended" };

export interface RefreshUsesOptions {
  readonly store: Store;
  readonly revocations: Pick<Revocations, "endFamily">;
  readonly graceSeconds: number;
}

/** What the database knows of refresh tokens: which were used up, and which families are dead. Times in milliseconds. */
export interface RefreshUses {
  useUp(token: RefreshToken, now: number): Promise<Use>;
  /** What has become of the token so far; uses nothing up. Its account is the caller's to look at. */
  look(token: RefreshToken, now: number): Promise<Use | { readonly kind: "unused" }>;
  /** Whether the token could still be used for the first time; its account is the caller's to look at. */
  isFresh(token: RefreshToken): Promise<boolean>;
  /** Ends the family and its access tokens; false where it had ended before. */
  endFamily(token: RefreshToken, now: number): Promise<boolean>;
  /** Erases the nonces of windows that closed two seconds ago. */
  sweep(now: number): Change[];
  /** Removes what concerns only tokens that have expired. */
  prune(now: number): Change[];
}

/** Kept longer than the tokens live, for a machine whose clock is behind must not find a used token fresh. */
const slackMs = 3_600_000;

/** A request that arrived within the window and is slow, or on a machine whose clock is behind, must still find the nonce. */
const sweepSlackMs = 2000;

/** The uses in a store. */
export function refreshUses({ store, revocations, graceSeconds }: RefreshUsesOptions): RefreshUses {
  const isOpen = (usedAt: number, now: number) => now < usedAt + graceSeconds * 1000;

  async function readUse(token: RefreshToken, now: number): Promise<Use | null> {
    const use = await store.find(refreshUsesCollection, keyOf(token));
    if (use === null) return null;
    const usedAt = Date.parse(use.record["used_at"] as string);
    const nonce = use.record["nonce"] as string | null;
    return nonce === null || !isOpen(usedAt, now) ? { kind: "reused" } : { kind: "used", nonce, usedAt };
  }

  return {
    async useUp(token, now) {
      const nonce = randomBytes(16).toString("base64url");
      const outcome = await store.write({ changes: firstUse(token, nonce, now) });
      switch (outcome.kind) {
        case "written":
          return { kind: "used", nonce, usedAt: now };
        case "taken":
          return (await readUse(token, now)) ?? { kind: "ended" }; // gone with its account
        case "refused":
        case "dangling":
          return { kind: "ended" };
        default:
          throw unexpected(outcome);
      }
    },
    async look(token, now) {
      if ((await store.find(deadFamiliesCollection, token.family)) !== null) return { kind: "ended" };
      return (await readUse(token, now)) ?? { kind: "unused" };
    },
    async isFresh(token) {
      return (
        (await store.find(refreshUsesCollection, keyOf(token))) === null &&
        (await store.find(deadFamiliesCollection, token.family)) === null
      );
    },
    async endFamily({ family, familyExp }, now) {
      const outcome = await store.write({
        changes: [
          {
            kind: "insert",
            collection: deadFamiliesCollection,
            key: family,
            values: { expires_at: timeText(familyExp * 1000 + slackMs) },
          },
          {
            kind: "updateAll",
            collection: refreshUsesCollection,
            where: { all: [equals("family", family), hasNonce] },
            values: { nonce: null },
          },
          ...revocations.endFamily(family, now),
        ],
      });
      if (outcome.kind !== "written" && outcome.kind !== "taken") throw unexpected(outcome);
      return outcome.kind === "written";
    },
    sweep(now) {
      const closed: Where = {
        column: "used_at",
        operator: "lte",
        value: timeText(now - graceSeconds * 1000 - sweepSlackMs),
      };
      return [
        {
          kind: "updateAll",
          collection: refreshUsesCollection,
          where: { all: [hasNonce, closed] },
          values: { nonce: null },
        },
      ];
    },
    prune(now) {
      const where: Where = { column: "expires_at", operator: "lte", value: timeText(now) };
      return [refreshUsesCollection, deadFamiliesCollection].map((collection) => ({
        kind: "deleteAll",
        collection,
        where,
      }));
    },
  };
}

/** The first use: it succeeds once, whichever process tries, and only for a living family of a living account. */
function firstUse(token: RefreshToken, nonce: string, now: number): Change[] {
  const { userId, family, generation, exp } = token;
  const ofAccount: Where = { any: [equals("generation", generation), equals("kept_family", family)] };
  const living: Where = { all: [equals("id", userId), equals("active", true), ofAccount] };
  const values = { user_id: userId, family, nonce, used_at: timeText(now), expires_at: timeText(exp * 1000 + slackMs) };
  return [
    { kind: "require", collection: deadFamiliesCollection, where: equals("id", family), atMost: 0, name: "family" },
    { kind: "require", collection: accountsCollection, where: living, atLeast: 1, name: "account" },
    { kind: "insert", collection: refreshUsesCollection, key: keyOf(token), values },
  ];
}

function keyOf({ jti }: RefreshToken): string {
  return digest(jti).toString("base64url");
}

const hasNonce: Where = { column: "nonce", operator: "null", value: false };

function equals(column: string, value: string | number | boolean): Where {
  return { column, operator: "eq", value };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

function unexpected(outcome: Outcome): Error {
  return new Error(`The store answered ${outcome.kind} to a change of refresh tokens that cannot have it.`);
}
