import { types } from "node:util";
import { isObject } from "../../core/checking/members.ts";
import { isIdentityFields, type Identity, type ProofMethod } from "../../core/identity.ts";
import type { Rejection, RejectionCode, Scheme, Verdict } from "./scheme.ts";

const reasons: Readonly<Record<Rejection["reason"], true>> = {
  unknown: true,
  forged: true,
  malformed: true,
  expired: true,
  revoked: true,
  inactive: true,
  password: true,
  insufficient: true,
};

/** The possible codes of a rejection. */
export const rejectionCodes: Readonly<Record<RejectionCode, true>> = {
  invalid_credentials: true,
  invalid_token: true,
  token_not_valid: true,
  factor_required: true,
};

/** All methods that prove an identity. */
export const proofMethods: ReadonlySet<string> = new Set<ProofMethod>([
  "pwd",
  "otp",
  "hwk",
  "mail",
  "recovery",
  "fed",
  "proxy",
  "operator",
]);

/** Frozen verdicts that have been checked. A scheme with a cache returns the same object many times. */
const sound = new WeakSet();

/**
 * Returns the result of a scheme if it is a valid verdict. Otherwise throws a fault, and access is denied. The message
 * never contains the result.
 */
export function requireVerdict({ name }: Scheme, result: unknown): Verdict {
  if (typeof result === "object" && result !== null && sound.has(result)) return result as Verdict;
  const wrong =
    typeof result === "object" && result !== null
      ? wrongIn(result)
      : `it is of the type ${result === null ? "null" : typeof result}`;
  if (wrong === null) return rememberFrozen(result as Verdict);
  // A rejection of a promise without a handler would end the process.
  if (types.isPromise(result)) result.catch(() => undefined);
  throw new TypeError(`The scheme ${name} gave no verdict: ${wrong}. Use absent, accepted(identity) and rejected(…).`);
}

/** Remembers a verdict if it is frozen, because it can no longer change. */
function rememberFrozen(verdict: Verdict): Verdict {
  if (verdict.kind === "accepted" && Object.isFrozen(verdict) && isFrozenIdentity(verdict.identity)) sound.add(verdict);
  return verdict;
}

function isFrozenIdentity(identity: Identity): boolean {
  const { scopes, fields, proofs } = identity;
  return (
    Object.isFrozen(identity) &&
    (scopes === null || Object.isFrozen(scopes)) &&
    (fields === undefined || Object.isFrozen(fields)) &&
    (proofs === undefined || (Object.isFrozen(proofs) && proofs.every(Object.isFrozen)))
  );
}

function wrongIn({ kind, identity, reason, code, detail }: Partial<Record<string, unknown>>): string | null {
  switch (kind) {
    case "absent":
      return null;
    case "accepted":
      return wrongInIdentity(identity);
    case "rejected":
      if (typeof reason !== "string" || !Object.hasOwn(reasons, reason)) return "the reason is unknown";
      if (code !== undefined && !(typeof code === "string" && Object.hasOwn(rejectionCodes, code)))
        return "the code is not allowed for a rejection";
      return typeof detail === "string" ? null : "the detail is not a text";
    default:
      return "its kind is not absent, accepted or rejected";
  }
}

function wrongInIdentity(identity: unknown): string | null {
  if (typeof identity !== "object" || identity === null) return "it was accepted without an identity";
  const member = findWrongMember(identity);
  return member === null ? null : `the identity's ${member} is of the wrong type`;
}

/**
 * Returns the name of a member with a wrong value. Written without a loop, because it runs for each request of some
 * schemes.
 */
function findWrongMember(identity: Partial<Record<keyof Identity, unknown>>): keyof Identity | null {
  // The id 0 is valid. It belongs to no user: the command line and callers who are not users of the service have it.
  if (!Number.isSafeInteger(identity.id) || (identity.id as number) < 0) return "id";
  if (!isText(identity.username)) return "username";
  if (!isText(identity.role)) return "role";
  if (!isText(identity.scheme)) return "scheme";
  if (identity.scopes !== null && !isTexts(identity.scopes)) return "scopes";
  if (identity.expiresAt !== null && !Number.isFinite(identity.expiresAt)) return "expiresAt";
  if (!isTextOrUndefined(identity.sessionId)) return "sessionId";
  if (!isTextOrUndefined(identity.family)) return "family";
  if (!isTextOrUndefined(identity.keyId)) return "keyId";
  if (!isTextOrUndefined(identity.issuer)) return "issuer";
  if (identity.authTime !== undefined && !Number.isFinite(identity.authTime)) return "authTime";
  if (identity.proofs !== undefined && !isProofs(identity.proofs)) return "proofs";
  if (identity.level !== undefined && !isLevel(identity.level)) return "level";
  if (identity.needs !== undefined && !isLevel(identity.needs)) return "needs";
  if (identity.actor !== undefined && !isActor(identity.actor)) return "actor";
  if (identity.fields !== undefined && !isIdentityFields(identity.fields)) return "fields";
  return null;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isTextOrUndefined(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isProofs(value: unknown): boolean {
  return Array.isArray(value) && value.every(isProof);
}

function isProof(value: unknown): boolean {
  return isObject(value) && proofMethods.has(String(value["method"])) && Number.isFinite(value["at"]);
}

function isLevel(value: unknown): boolean {
  return value === 0 || value === 1 || value === 2;
}

function isActor(value: unknown): boolean {
  return isObject(value) && Number.isSafeInteger(value["id"]) && typeof value["username"] === "string";
}

/** Returns a challenge that is valid in a header field. Returns null if there is none. */
export function requireChallenge({ name }: Scheme, challenge: unknown): string | null {
  if (challenge === null || (typeof challenge === "string" && /^[\x21-\x7e][\x20-\x7e]*$/.test(challenge)))
    return challenge;
  throw new TypeError(`The scheme ${name} gave a challenge that a header field cannot contain.`);
}
