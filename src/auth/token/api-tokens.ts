import { randomBytes } from "node:crypto";
import {
  formatOpaqueToken,
  makeLookup,
  opaqueTokenPrefix,
  secretPart,
  type OpaqueToken,
} from "../../crypto/opaque-token.ts";
import { hmac, sameBytes, type Secret } from "../../crypto/secret.ts";
import { after, type Eventually } from "../../eventually.ts";
import type { Observer } from "../../observation.ts";
import { problem } from "../../problem/problem.ts";
import type { Collection, Row, Store, Where } from "../../store/store.ts";
import { requireActive } from "../accounts.ts";
import { makeTouch } from "../touch.ts";

/** API tokens, one for a user at most; the key is the lookup id. The secret follows from the server's own and is not here. */
export const apiTokensCollection: Collection = {
  name: "api_tokens",
  key: "text",
  columns: [
    { name: "user_id", type: "integer", unique: true, references: { collection: "accounts", onDelete: "cascade" } },
    { name: "nonce", type: "text" },
    { name: "created_at", type: "date-time" },
    { name: "last_used_at", type: "date-time", nullable: true },
  ],
};

/** What an API token shows of itself. */
export interface ListedToken {
  /** `lk_` and the lookup id. */
  readonly prefix: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

/** What became of a token that was presented. */
export type CheckedToken =
  | { readonly kind: "genuine"; readonly userId: number }
  /** There was one. */
  | { readonly kind: "revoked" }
  /** There never was one. */
  | { readonly kind: "unknown" }
  /** The secret is not the one of that lookup id. */
  | { readonly kind: "forged" };

export interface APITokensOptions {
  readonly store: Store;
  readonly secret: Secret;
  readonly observe: Observer;
}

/** The API tokens of a store. `now` in milliseconds. */
export interface APITokens {
  /** The user's token: a new one (`created`), or the same as the last time. */
  issue(userId: number, now: number): Promise<{ readonly token: string; readonly created: boolean }>;
  find(userId: number): Promise<ListedToken | null>;
  /** Ends the user's token; false where there was none. The next one is another. */
  revoke(userId: number): Promise<boolean>;
  /** Whose token it is, and notes that it was used. */
  check(token: OpaqueToken, now: number): Eventually<CheckedToken>;
}

/** 120 bits: more than anybody can guess. */
const secretHalfBytes = 15;

/** The API tokens of a store. */
export function apiTokens({ store, secret, observe }: APITokensOptions): APITokens {
  const key = secret.derive("api-token");
  const markKey = secret.derive("api-token-mark");
  const touch = makeTouch({ store, collection: apiTokensCollection, column: "last_used_at", everyMs: 60_000, observe });

  /** Always the same for a row: asking again gives the same token. Half proves that it lives, half that it was issued here. */
  function secretOf({ record }: Row): string {
    const lookup = record["id"] as string;
    const living = hmac(key, `${lookup}|${String(record["user_id"])}|${String(record["nonce"])}`);
    return markOf(lookup) + secretPart(living, secretHalfBytes);
  }

  /** What every token with this lookup id begins with: when its row is gone, it tells a revoked token from a guess. */
  function markOf(lookup: string): string {
    return secretPart(hmac(markKey, lookup), secretHalfBytes);
  }

  function wasIssued({ lookup, secret: presented }: OpaqueToken): boolean {
    const mark = Buffer.from(markOf(lookup));
    return sameBytes(mark, Buffer.from(presented.slice(0, mark.length)));
  }

  function textOf(row: Row): string {
    return formatOpaqueToken({ lookup: row.record["id"] as string, secret: secretOf(row) });
  }

  const findRow = (userId: number) => store.findBy(apiTokensCollection, "user_id", userId);

  return {
    async issue(userId, now) {
      // Again where somebody else made or revoked it between the two steps; who comes third has met both.
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const known = await findRow(userId);
        if (known !== null) return { token: textOf(known), created: false };
        const values = {
          user_id: userId,
          nonce: randomBytes(16).toString("base64url"),
          created_at: new Date(now).toISOString(),
          last_used_at: null,
        };
        const outcome = await store.write({
          changes: [
            { kind: "insert", collection: apiTokensCollection, key: makeLookup(), values },
            requireActive(userId),
          ],
        });
        if (outcome.kind === "dangling") throw problem("not_found");
        if (outcome.kind === "refused") throw problem("conflict", { detail: "The account is not active." });
        if (outcome.kind === "written") return { token: textOf(outcome.rows[0]!), created: true };
      }
      throw problem("unavailable", { headers: [["Retry-After", "1"]] });
    },
    async find(userId) {
      const row = await findRow(userId);
      if (row === null) return null;
      const { id, created_at, last_used_at } = row.record;
      return {
        prefix: opaqueTokenPrefix(id as string),
        created_at: created_at as string,
        last_used_at: last_used_at as string | null,
      };
    },
    async revoke(userId) {
      const row = await findRow(userId);
      if (row === null) return false;
      const where: Where = { column: "user_id", operator: "eq", value: userId };
      await store.write({ changes: [{ kind: "deleteAll", collection: apiTokensCollection, where }] });
      return true;
    },
    check: (token, now) =>
      after(store.find(apiTokensCollection, token.lookup), (row): CheckedToken => {
        if (row === null) return { kind: wasIssued(token) ? "revoked" : "unknown" };
        if (!sameBytes(Buffer.from(secretOf(row)), Buffer.from(token.secret))) return { kind: "forged" };
        touch(token.lookup, row.record["last_used_at"] as string | null, now);
        return { kind: "genuine", userId: row.record["user_id"] as number };
      }),
  };
}
