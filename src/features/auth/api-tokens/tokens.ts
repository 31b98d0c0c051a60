import { randomBytes } from "node:crypto";
import { requireOptions } from "../../../core/checking/options.ts";
import { deriveMark, secretHalfBytes, wasIssued } from "../../../core/crypto/issued-tokens.ts";
import {
  formatOpaqueToken,
  makeLookup,
  opaqueTokenPrefix,
  secretPart,
  type OpaqueToken,
} from "../../../core/crypto/opaque-token.ts";
import { hmac, sameBytes, type Secret } from "../../../core/crypto/secret.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { problem } from "../../../core/problem/problem.ts";
import { insert, storedOf, table, type StoredIn } from "../../../http/declarations/table.ts";
import { dateTime, reference, text } from "../../../resource/kinds/fields.ts";
import type { Change, Row } from "../../../store/store.ts";
import { requireWrittenRow } from "../../../store/written.ts";
import { Admission } from "../gate/admission.ts";
import { notActive, requireActive } from "../records/accounts.ts";
import { ofUser, timeText } from "../records/conditions.ts";
import { tokenChecks, type TokensOptions } from "../records/token-prefix.ts";
import { makeTouch } from "../records/touch.ts";

/**
 * API tokens, at most one per user. The key is the lookup id. The secret is derived from the server's secret and is not
 * stored.
 */
export const apiTokensCollection = table({
  name: "api_tokens",
  id: "text",
  fields: {
    user_id: reference("accounts", { unique: true, onDelete: "cascade" }),
    nonce: text(),
    created_at: dateTime(),
    last_used_at: dateTime({ optional: true }),
    /** Set if the token was made through an external login. */
    expires_at: dateTime({ optional: true }),
  },
});

type TokenRecord = StoredIn<typeof apiTokensCollection>;

/** The public data of an API token. */
export interface ListedToken {
  /** The prefix of tokens with the lookup id. */
  readonly prefix: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

/** The result of checking a token. */
export type CheckedToken =
  | {
      readonly kind: "genuine";
      readonly userId: number;
      /** In milliseconds since the epoch. Null: does not expire. */
      readonly expiresAt: number | null;
    }
  | { readonly kind: "expired" }
  /** The token was valid before and was revoked. */
  | { readonly kind: "revoked" }
  /** The token never existed. */
  | { readonly kind: "unknown" }
  /** The secret does not belong to that lookup id. */
  | { readonly kind: "forged" };

/** The API tokens of a store. `now` in milliseconds. */
export interface APITokens {
  /**
   * Spends the admission and returns the user's token. If the user has a valid token, returns it, or ends the request
   * (409) if it expires after `expiresAt`. Otherwise makes a token (`created`) that expires at `expiresAt`
   * (milliseconds since the epoch). Default: it does not expire.
   */
  issue(
    admission: Admission,
    now: number,
    expiresAt?: number | null,
  ): Promise<{ readonly token: string; readonly created: boolean }>;
  find(userId: number): Promise<ListedToken | null>;
  /** Revokes the user's token. Returns false if there was none. The next one is different. */
  revoke(userId: number): Promise<boolean>;
  /** Returns the account of a token, and records its use. */
  check(token: OpaqueToken, now: number): Eventually<CheckedToken>;
}

/** The keys that are derived from one of the server's secrets. */
interface Keyring {
  /**
   * Identifies the server's secret. Stored in the rows of tokens that are derived from that secret, and reveals nothing
   * about it.
   */
  readonly name: string;
  readonly key: Buffer;
  readonly markKey: Buffer;
}

/** Returns one keyring for each of the server's secrets. The first one makes tokens, and each one verifies them. */
function deriveKeyrings(secret: Secret): readonly Keyring[] {
  const names = secret.deriveEach("api-token-name").map((name) => name.toString("base64url", 0, 9));
  const markKeys = secret.deriveEach("api-token-mark");
  return secret.deriveEach("api-token").map((key, at) => ({ name: names[at]!, key, markKey: markKeys[at]! }));
}

/** Returns the API tokens of a store. */
export function storeAPITokens(options: TokensOptions): APITokens {
  requireOptions(options, tokenChecks, { of: "storeAPITokens" });
  const { store, secret, observe, prefix } = options;
  const keyrings = deriveKeyrings(secret);
  const markKeys = keyrings.map(({ markKey }) => markKey);
  const touch = makeTouch({ store, collection: apiTokensCollection, column: "last_used_at", everyMs: 60_000, observe });

  /**
   * Returns the secret of a row. It is always the same, so a repeated request returns the same token. One half proves
   * that the token is valid, the other that this service issued it. Returns null if its server secret was removed.
   */
  function deriveSecret({ id: lookup, nonce, user_id }: TokenRecord): string | null {
    // Older rows do not name a secret, because servers had only one at that time. Their tokens are derived from the
    // oldest secret.
    const keyring = nonce.includes(".") ? keyrings.find(({ name }) => nonce.startsWith(`${name}.`)) : keyrings.at(-1);
    if (keyring === undefined) return null;
    const living = hmac(keyring.key, `${lookup}|${user_id}|${nonce}`);
    return deriveMark(lookup, keyring.markKey) + secretPart(living, secretHalfBytes);
  }

  function formatToken(stored: TokenRecord): string | null {
    const secret = deriveSecret(stored);
    return secret === null ? null : formatOpaqueToken({ lookup: stored.id, secret }, prefix);
  }

  const findRow = (userId: number) => store.findBy(apiTokensCollection, "user_id", userId);

  return {
    async issue(admission, now, expiresAt = null) {
      const account = Admission.spend(admission);
      const { id: userId } = account;
      // Tries again if another request makes or revokes the token between the read and the write. Three attempts are
      // enough if both happen.
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const existing = await findRow(userId);
        const stored = existing === null ? null : storedOf(existing);
        const text = stored === null || isExpired(stored, now) ? null : formatToken(stored);
        if (text !== null) {
          if (outlives(stored!, expiresAt)) throw problem("conflict", { detail: tooLong });
          if (admission.notices.length > 0) await store.write({ changes: admission.notices });
          return { token: text, created: false };
        }
        const values = newRow(userId, keyrings[0]!, now, expiresAt);
        // The token has expired, or its server secret was removed, so it cannot be used any more.
        const ended = existing === null ? [] : [buildDeletion(existing)];
        const inserted = insert(apiTokensCollection, { key: makeLookup(), values });
        const changes = [...ended, inserted, requireActive(account), ...admission.notices];
        const outcome = await store.write({ changes });
        if (outcome.kind === "dangling") throw problem("not_found");
        if (outcome.kind === "refused") throw problem("conflict", { detail: notActive });
        if (outcome.kind === "written")
          return { token: formatToken(storedOf(requireWrittenRow(inserted, changes, outcome)))!, created: true };
      }
      throw problem("unavailable", { headers: [["Retry-After", "1"]] });
    },
    async find(userId) {
      const row = await findRow(userId);
      return row === null ? null : listed(storedOf(row), prefix);
    },
    async revoke(userId) {
      const row = await findRow(userId);
      if (row === null) return false;
      await store.write({ changes: [{ kind: "deleteAll", collection: apiTokensCollection, where: ofUser(userId) }] });
      return true;
    },
    check: (token, now) =>
      after(store.find(apiTokensCollection, token.lookup), (row): CheckedToken => {
        if (row === null) return { kind: wasIssued(token, markKeys) ? "revoked" : "unknown" };
        const stored = storedOf(row);
        const expected = deriveSecret(stored);
        if (expected === null) return { kind: "revoked" };
        if (!sameBytes(Buffer.from(expected), Buffer.from(token.secret))) return { kind: "forged" };
        // Only a caller who knows the token learns that it has expired.
        if (isExpired(stored, now)) return { kind: "expired" };
        touch(token.lookup, stored.last_used_at, now);
        return { kind: "genuine", userId: stored.user_id, expiresAt: readExpiry(stored) };
      }),
  };
}

function newRow(userId: number, { name }: Keyring, now: number, expiresAt: number | null) {
  return {
    user_id: userId,
    nonce: `${name}.${randomBytes(16).toString("base64url")}`,
    created_at: timeText(now),
    last_used_at: null,
    expires_at: expiresAt === null ? null : timeText(expiresAt),
  };
}

function buildDeletion(row: Row<TokenRecord>): Change {
  return { kind: "delete", collection: apiTokensCollection, key: storedOf(row).id, revision: row.revision };
}

function listed({ id, created_at, last_used_at }: TokenRecord, prefix: string | undefined): ListedToken {
  return { prefix: opaqueTokenPrefix(id, prefix), created_at, last_used_at };
}

function readExpiry({ expires_at }: TokenRecord): number | null {
  return expires_at === null ? null : Date.parse(expires_at);
}

/**
 * True if the token lives longer than an external login allows. The caller could not make such a token, so the caller
 * must not receive it.
 */
function outlives(stored: TokenRecord, latest: number | null): boolean {
  return latest !== null && (readExpiry(stored) ?? Infinity) > latest;
}

const tooLong = "The existing token lives longer than this login allows. Revoke it first.";

function isExpired(stored: TokenRecord, now: number): boolean {
  const expiresAt = readExpiry(stored);
  return expiresAt !== null && now >= expiresAt;
}
