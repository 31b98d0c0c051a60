import { hmac, sameBytes, type Secret } from "../../../core/crypto/secret.ts";
import { normalizeCode } from "../requests/codes.ts";

/** Derives and checks the token of a link and the code of the same mail. */
export interface ProofTokens {
  /** Returns the token of the link of a stored proof. */
  deriveToken(id: string, purpose: string): string;
  /**
   * Returns the id of the stored proof of a token. Returns null if the service did not make it for one of these
   * purposes.
   */
  read(token: string, purposes: readonly string[]): string | null;
  /** Returns the eight digits of the code of a stored proof. */
  deriveCode(id: string): string;
  isRightCode(id: string, code: string): boolean;
}

const ID_LENGTH = 22;
const form = /^[\w-]{65}$/;
const CODES = 100_000_000n;

/**
 * Derives the token and the code from the server's secret and the id of the stored proof. So neither the database nor
 * the outbox contains a token or a code.
 */
export function makeProofTokens(secret: Secret): ProofTokens {
  const keys = secret.deriveEach("mail-proof");

  function computeSignature(key: Uint8Array, id: string, purpose: string): string {
    return hmac(key, `link|${purpose}|${id}`).toString("base64url");
  }

  function codeWith(key: Uint8Array, id: string): string {
    const number = hmac(key, `code|${id}`).readBigUInt64BE() % CODES;
    return String(number).padStart(8, "0");
  }

  return {
    deriveToken: (id, purpose) => `${id}${computeSignature(keys[0]!, id, purpose)}`,
    read(token, purposes) {
      if (!form.test(token)) return null;
      const [id, signature] = [token.slice(0, ID_LENGTH), Buffer.from(token.slice(ID_LENGTH))];
      const isOurs = keys.some((key) =>
        purposes.some((purpose) => sameBytes(signature, Buffer.from(computeSignature(key, id, purpose)))),
      );
      return isOurs ? id : null;
    },
    deriveCode: (id) => codeWith(keys[0]!, id),
    isRightCode(id, code) {
      const digits = Buffer.from(normalizeCode(code));
      return keys.some((key) => sameBytes(digits, Buffer.from(codeWith(key, id))));
    },
  };
}
