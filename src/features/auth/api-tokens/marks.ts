import { secretPart, type OpaqueToken } from "../../../core/crypto/opaque-token.ts";
import { hmac, sameBytes } from "../../../core/crypto/secret.ts";

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
