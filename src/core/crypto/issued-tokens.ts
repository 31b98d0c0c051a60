import { randomBytes } from "node:crypto";
import { formatOpaqueToken, secretPart, type OpaqueToken } from "./opaque-token.ts";
import { hmac, sameBytes, type Secret } from "./secret.ts";

/**
 * The size of each half of a secret, in bytes. One half proves that the secret was issued here, and the other half that
 * it is still valid. Each has 120 bits, which cannot be guessed.
 */
export const secretHalfBytes = 15;

/**
 * Returns the first half of every secret with this lookup id. After the row is deleted, it distinguishes a revoked
 * secret from a guess.
 */
export function deriveMark(lookup: string, key: Uint8Array): string {
  return secretPart(hmac(key, lookup), secretHalfBytes);
}

/** Returns true if a token was issued with one of these keys, even if it has expired or was revoked. */
export function wasIssued({ lookup, secret }: OpaqueToken, keys: readonly Uint8Array[]): boolean {
  return keys.some((key) => {
    const mark = Buffer.from(deriveMark(lookup, key));
    return sameBytes(mark, Buffer.from(secret.slice(0, mark.length)));
  });
}

/** The id of the owner of a token: the digest of the token depends on it. */
export type TokenOwner = number | string;

/** Issues and checks tokens of one purpose. Only a keyed digest of a token is stored. */
export interface TokenIssuer {
  /** Makes the token with this lookup id. Only this result contains the token. */
  issue(lookup: string, owner: TokenOwner): { readonly token: string; readonly digest: string };
  /**
   * Returns true if the digest was made for this token and this owner. So a row that was written directly into the
   * database, or moved to another owner, is not genuine.
   */
  isGenuine(token: OpaqueToken, owner: TokenOwner, digest: string): boolean;
  /** Returns true if the token was issued here, even if its row was deleted. */
  wasIssued(token: OpaqueToken): boolean;
}

/** Returns the issuer of the tokens of a purpose. Tokens that were issued with an older secret stay valid. */
export function tokenIssuer(secret: Secret, purpose: string, prefix?: string): TokenIssuer {
  const digestKeys = secret.deriveEach(purpose);
  const markKeys = secret.deriveEach(`${purpose}-mark`);
  const computeDigest = (token: OpaqueToken, owner: TokenOwner, key: Buffer): Buffer =>
    hmac(key, `${token.lookup}|${owner}|${token.secret}`);
  return {
    issue(lookup, owner) {
      const drawn = secretPart(randomBytes(secretHalfBytes), secretHalfBytes);
      const token = { lookup, secret: deriveMark(lookup, markKeys[0]!) + drawn };
      const digest = computeDigest(token, owner, digestKeys[0]!).toString("base64url");
      return { token: formatOpaqueToken(token, prefix), digest };
    },
    isGenuine(token, owner, digest) {
      const stored = Buffer.from(digest, "base64url");
      return digestKeys.some((key) => sameBytes(computeDigest(token, owner, key), stored));
    },
    wasIssued: (token) => wasIssued(token, markKeys),
  };
}
