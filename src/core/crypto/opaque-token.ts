import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** A parsed opaque token: the id of its row, and the secret that proves it. */
export interface OpaqueToken {
  /** The id of the token in the store and in lists. It is not secret. */
  readonly lookup: string;
  /** The secret part, which proves that the caller has the token. */
  readonly secret: string;
}

/**
 * The pattern of an opaque token with any prefix, for secret scanners: a prefix and `_`, 14 characters of lookup id, 42
 * of secret and 6 of checksum (CRC-32 of all characters before it), all in base 62.
 */
export const opaqueTokenPattern = /\b[a-z][a-z0-9]{0,15}_[0-9A-Za-z]{62}\b/;

const usualPrefix = "key";
const lookupLength = 14;
const checksumLength = 6;
const length = 62;
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const restPattern = new RegExp(`^[0-9A-Za-z]{${length}}$`);

/**
 * Parses an opaque token that begins with `prefix` and `_`. Returns null if its form or its checksum is wrong. Does not
 * read the database.
 */
export function parseOpaqueToken(text: string, prefix = usualPrefix): OpaqueToken | null {
  const start = prefix.length + 1;
  if (text.length !== start + length || !text.startsWith(`${prefix}_`) || !restPattern.test(text.slice(start)))
    return null;
  const lookupEnd = start + lookupLength;
  const secretEnd = start + length - checksumLength;
  if (checksum(text.slice(0, secretEnd)) !== text.slice(secretEnd)) return null;
  return { lookup: text.slice(start, lookupEnd), secret: text.slice(lookupEnd, secretEnd) };
}

/** Formats an opaque token. */
export function formatOpaqueToken({ lookup, secret }: OpaqueToken, prefix = usualPrefix): string {
  const body = `${prefix}_${lookup}${secret}`;
  return body + checksum(body);
}

/**
 * Returns the part of a token that may be shown, so that a user can recognize the token. It does not contain the
 * secret.
 */
export function opaqueTokenPrefix(lookup: string, prefix = usualPrefix): string {
  return `${prefix}_${lookup}`;
}

/** Makes a new lookup id of 80 random bits. */
export function makeLookup(): string {
  return base62(randomBytes(10));
}

/**
 * Returns the secret part of a token: the first 240 bits of a key of 32 bytes, or the given number of bytes (a multiple
 * of 5).
 */
export function secretPart(key: Buffer, bytes = 30): string {
  return base62(key.subarray(0, bytes));
}

function checksum(body: string): string {
  return digits(crc32(body), checksumLength);
}

/** Formats each 5 bytes as 7 digits. Their 40 bits fit into seven digits of base 62, and into a number without loss. */
function base62(bytes: Buffer): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 5) text += digits(bytes.readUIntBE(at, 5), 7);
  return text;
}

function digits(value: number, count: number): string {
  let text = "";
  for (let rest = value; text.length < count; rest = Math.floor(rest / 62)) text = alphabet[rest % 62]! + text;
  return text;
}
