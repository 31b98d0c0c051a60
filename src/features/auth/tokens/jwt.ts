import type { KeyObject } from "node:crypto";
// Imports `jose` by separate paths, because the whole package takes several times as long to load.
import { decodeProtectedHeader } from "jose/decode/protected_header";
import * as errors from "jose/errors";
import { compactVerify } from "jose/jws/compact/verify";
import { rejected, type Rejection } from "../../../access/scheme/scheme.ts";
import { isObject } from "../../../core/checking/members.ts";
import { parseJSON } from "../../../core/exact-numbers.ts";

/** A key and the one algorithm it is for (RFC 8725 §3.1). */
export interface KeyWithAlgorithm {
  readonly alg: string;
  readonly key: KeyObject | Uint8Array;
}

export interface SignatureRules {
  /** The accepted values of `typ`, so that no kind of token can be used as another (RFC 8725 §3.11). Null: no `typ`. */
  readonly types: readonly (string | null)[];
  /**
   * Returns the key that the token names, or null if it is unknown. Keys come only from this function, never from the
   * token.
   */
  findKey(kid: string | undefined): KeyWithAlgorithm | null;
}

export interface JWTRules extends SignatureRules {
  /** The only accepted `iss` and `aud`. */
  readonly issuer: string;
  /** True if a token is valid before its `iat`: the clock of this server was ahead when it made the token. */
  readonly isValidBefore?: true;
}

/** The content of a token before it is verified. */
export interface UnverifiedJWT {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Claims with a valid signature of a known key. */
interface SignedClaims {
  readonly kind: "signed";
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A token that this server signed. The caller of `verifyJWT` checks its expiry. */
export interface VerifiedJWT {
  readonly kind: "verified";
  readonly userId: number;
  readonly jti: string;
  /** Seconds since the epoch, like all times of a JWT. */
  readonly iat: number;
  readonly exp: number;
  /** The time when it becomes valid, in milliseconds since the epoch, with the leeway. */
  readonly startsAt: number;
  /** All claims. The caller of `verifyJWT` checks those that only this type of token has. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The longest accepted token, in characters. */
const maxLength = 8192;
const leewaySeconds = 60;
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Verifies a JWT by RFC 7519 and RFC 8725, except its expiry. `now` in milliseconds. */
export async function verifyJWT(token: string, rules: JWTRules, now: number): Promise<VerifiedJWT | Rejection> {
  const signed = await verifySignature(token, rules);
  if (signed === null) return forged;
  return signed.kind === "signed" ? readClaims(signed.claims, rules, now) : signed;
}

/** Reads a JWT without verifying it. Returns null if it is not a JWT. Use the content only to choose the verifier. */
export function readUnverified(token: string): UnverifiedJWT | null {
  if (!isCompact(token)) return null;
  const [header, claims] = token.split(".", 2).map((part) => parseObject(Buffer.from(part, "base64url")));
  return header && claims ? { header, claims } : null;
}

/** Returns the claimed `typ` of a text, unverified. Returns null if it has none. */
export function readType(token: string): string | null {
  if (token.length > maxLength) return null;
  try {
    return normalizeType(decodeProtectedHeader(token));
  } catch {
    return null;
  }
}

/**
 * Returns the `typ` in lower case and without `application/`. Media types ignore case, and the prefix is optional (RFC
 * 7515 §4.1.9).
 */
export function normalizeType({ typ }: { readonly typ?: unknown }): string | null {
  if (typ === undefined) return null;
  return typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : "";
}

/** Returns the signed content, or null if the signature is invalid. */
export async function verifySignature(
  token: string,
  { types, findKey }: SignatureRules,
): Promise<SignedClaims | Rejection | null> {
  if (!isCompact(token)) return malformed;
  try {
    const { payload, protectedHeader } = await compactVerify(token, ({ alg, kid, crit }) => {
      if (crit !== undefined) throw new errors.JOSENotSupported("crit");
      const knownKey = findKey(kid);
      // The algorithm belongs to the key. The token cannot choose it, especially not "none".
      if (knownKey === null || knownKey.alg !== alg) throw new errors.JWKSNoMatchingKey();
      return knownKey.key;
    });
    if (!isCanonical(token.slice(token.lastIndexOf(".") + 1))) return null;
    const claims = types.includes(normalizeType(protectedHeader)) ? parseObject(payload) : null;
    return claims === null ? malformed : { kind: "signed", claims };
  } catch (error) {
    if (error instanceof errors.JWSInvalid) return malformed;
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

function isCompact(token: string): boolean {
  return token.length <= maxLength && compactForm.test(token);
}

/**
 * Returns true if the signature has its canonical spelling. The last character of Base64 has unused bits, so several
 * spellings decode to the same signature. Only one of them is accepted.
 */
function isCanonical(base64url: string): boolean {
  return Buffer.from(base64url, "base64url").toString("base64url") === base64url;
}

function readClaims(
  claims: Readonly<Record<string, unknown>>,
  { issuer, isValidBefore }: JWTRules,
  now: number,
): VerifiedJWT | Rejection {
  const { iss, aud, sub, jti, iat, nbf, exp } = claims;
  const userId = parseSubject(sub);
  if (iss !== issuer || aud !== issuer || userId === null || typeof jti !== "string") return malformed;
  if (!isTime(iat) || !isTime(exp) || (nbf !== undefined && !isTime(nbf))) return malformed;
  const startsAt = (Math.max(iat, nbf ?? iat) - leewaySeconds) * 1000;
  return now < startsAt && isValidBefore !== true
    ? notYet
    : { kind: "verified", userId, jti, iat, exp, startsAt, claims };
}

function parseObject(json: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = parseJSON(new TextDecoder("utf-8", { fatal: true }).decode(json));
    return isObject(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

function parseSubject(sub: unknown): number | null {
  if (typeof sub !== "string" || !/^[1-9]\d{0,15}$/.test(sub)) return null;
  const id = Number(sub);
  return Number.isSafeInteger(id) ? id : null;
}

/** Returns true if the value can be a NumericDate: seconds since the epoch. */
export function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

const malformed = rejected("malformed");
const forged = rejected("forged");
/** The rejection of a token that is not valid yet. */
export const notYet = rejected("expired", "The token is not valid yet.");
