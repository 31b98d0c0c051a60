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

/** The codes that a rejection can have. */
export const rejectionCodes: Readonly<Record<RejectionCode, true>> = {
  invalid_credentials: true,
  invalid_token: true,
  token_not_valid: true,
  factor_required: true,
};

/** What every member of an identity has to be. */
const identityMembers: Readonly<Record<keyof Identity, (value: unknown) => boolean>> = {
  // 0 is nobody's: the command acts under it, and whoever else is no user of the service.
  id: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  username: (value) => typeof value === "string" && value !== "",
  role: (value) => typeof value === "string" && value !== "",
  scheme: (value) => typeof value === "string" && value !== "",
  scopes: (value) => value === null || (Array.isArray(value) && value.every((scope) => typeof scope === "string")),
  expiresAt: (value) => value === null || Number.isFinite(value),
  sessionId: (value) => value === undefined || typeof value === "string",
  family: (value) => value === undefined || typeof value === "string",
  keyId: (value) => value === undefined || typeof value === "string",
  authTime: (value) => value === undefined || Number.isFinite(value),
  issuer: (value) => value === undefined || typeof value === "string",
  proofs: (value) => value === undefined || (Array.isArray(value) && value.every(isProof)),
  level: (value) => value === undefined || isLevel(value),
  needs: (value) => value === undefined || isLevel(value),
  actor: (value) => value === undefined || isActor(value),
  fields: (value) => value === undefined || isIdentityFields(value),
};

/** Every method that proves an identity. */
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

function isProof(value: unknown): boolean {
  return isObject(value) && proofMethods.has(String(value["method"])) && Number.isFinite(value["at"]);
}

function isLevel(value: unknown): boolean {
  return value === 0 || value === 1 || value === 2;
}

function isActor(value: unknown): boolean {
  return isObject(value) && Number.isSafeInteger(value["id"]) && typeof value["username"] === "string";
}

const checks = Object.entries(identityMembers) as readonly [keyof Identity, (value: unknown) => boolean][];

/** Accepted before, and frozen: a scheme that remembers what it has verified gives the same one again and again. */
const sound = new WeakSet();

/** What a scheme gave, if it is a verdict. Anything else is a fault: it throws, and nobody is let in. It never repeats what it was given. */
export function requireVerdict({ name }: Scheme, given: unknown): Verdict {
  if (typeof given === "object" && given !== null && sound.has(given)) return given as Verdict;
  const wrong =
    typeof given === "object" && given !== null
      ? wrongIn(given)
      : `it is of the type ${given === null ? "null" : typeof given}`;
  if (wrong === null) return kept(given as Verdict);
  // Of a promise that nobody waits for, a rejection would end the process.
  if (types.isPromise(given)) given.catch(() => undefined);
  throw new TypeError(`The scheme ${name} gave no verdict: ${wrong}. Use absent, accepted(identity) and rejected(…).`);
}

/** Looked at once where nobody can make something else of it any more. */
function kept(verdict: Verdict): Verdict {
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
      if (typeof reason !== "string" || !Object.hasOwn(reasons, reason)) return "the reason is none that there is";
      if (code !== undefined && !(typeof code === "string" && Object.hasOwn(rejectionCodes, code)))
        return "the code is none that a rejection can have";
      return typeof detail === "string" ? null : "the detail is no text";
    default:
      return "its kind is none of absent, accepted and rejected";
  }
}

function wrongInIdentity(identity: unknown): string | null {
  if (typeof identity !== "object" || identity === null) return "it was accepted without an identity";
  for (const [member, isRight] of checks)
    if (!isRight((identity as Partial<Identity>)[member])) return `the identity's ${member} is of the wrong type`;
  return null;
}

/** A challenge as it may stand in a header field; null where there is none. */
export function requireChallenge({ name }: Scheme, given: unknown): string | null {
  if (given === null || (typeof given === "string" && /^[\x21-\x7e][\x20-\x7e]*$/.test(given))) return given;
  throw new TypeError(`The scheme ${name} gave a challenge that is no text for a header field.`);
}
