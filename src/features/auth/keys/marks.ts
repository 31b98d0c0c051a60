import { secretPart, type OpaqueToken } from "../../../core/crypto/opaque-token.ts";
import { hmac, sameBytes } from "../../../core/crypto/secret.ts";

/** Half of a secret tells that it was issued here, and half that it lives: 120 bits each, more than anybody can guess. */
export const secretHalfBytes = 15;

/** What every secret with this lookup id begins with: when its row is gone, it tells one that was revoked from a guess. */
export function markOf(lookup: string, key: Uint8Array): string {
  return secretPart(hmac(key, lookup), secretHalfBytes);
}

/** Whether a token was issued with one of these keys, whatever has become of it. */
export function wasIssued({ lookup, secret }: OpaqueToken, keys: readonly Uint8Array[]): boolean {
  return keys.some((key) => {
    const mark = Buffer.from(markOf(lookup, key));
    return sameBytes(mark, Buffer.from(secret.slice(0, mark.length)));
  });
}
