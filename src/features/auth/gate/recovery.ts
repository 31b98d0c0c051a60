import { randomBytes } from "node:crypto";
import { isText } from "../../../core/checking/members.ts";
import { hmac, sameBytes, type Secret } from "../../../core/crypto/secret.ts";
import type { JSONValue } from "../../../store/store.ts";
import { normalizeCode } from "../requests/codes.ts";

/** The number of recovery codes of an account. */
const CODES = 10;

/** Letters and digits that are hard to confuse on paper: without 0, 1, i, l and o. */
const ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
/** 17 characters from an alphabet of 31 have more than 80 bits. */
const LETTERS = 17;

/** Recovery codes: shown once, stored as HMACs. */
export interface RecoveryCodes {
  /** Makes ten new codes. `data` is the part that is stored. */
  make(userId: number): { readonly codes: readonly string[]; readonly data: JSONValue };
  /** Returns the stored data without the code. Returns null if the code is not one of them. */
  use(userId: number, data: JSONValue, code: string): JSONValue | null;
  /** Returns how many codes are left. */
  count(data: JSONValue): number;
}

/** Makes the recovery codes of a service, under its secret. */
export function makeRecoveryCodes(secret: Secret): RecoveryCodes {
  const keys = secret.deriveEach("recovery-code");
  const computeDigest = (key: Uint8Array, userId: number, code: string): string =>
    hmac(key, `${userId}|${code}`).toString("base64url");
  return {
    make(userId) {
      const codes = Array.from({ length: CODES }, drawCode);
      return { codes, data: codes.map((code) => computeDigest(keys[0]!, userId, normalize(code))) };
    },
    use(userId, data, code) {
      const stored = readDigests(data);
      const presented = keys.map((key) => Buffer.from(computeDigest(key, userId, normalize(code))));
      const used = stored.findIndex((each) => presented.some((one) => sameBytes(one, Buffer.from(each))));
      return used === -1 ? null : stored.toSpliced(used, 1);
    },
    count: (data) => readDigests(data).length,
  };
}

function readDigests(data: JSONValue): readonly string[] {
  return Array.isArray(data) ? data.filter(isText) : [];
}

/** Draws a code in four groups, like `7kq2h-m4xwp-9vtc8-zn`. */
function drawCode(): string {
  let letters = "";
  while (letters.length < LETTERS) {
    // Skips bytes above the largest multiple of the alphabet's length, because they would make some letters more
    // frequent.
    for (const byte of randomBytes(LETTERS))
      if (byte < 248 && letters.length < LETTERS) letters += ALPHABET[byte % ALPHABET.length];
  }
  return letters.replace(/(.{5})(?=.)/g, "$1-");
}

/** Ignores capitals, and everything that `normalizeCode` ignores. */
function normalize(code: string): string {
  return normalizeCode(code).toLowerCase();
}
