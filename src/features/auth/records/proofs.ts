import type { Proof, ProofMethod } from "../../../core/identity.ts";
import type { JSONValue } from "../../../store/store.ts";

const methods: ReadonlySet<string> = new Set<ProofMethod>([
  "pwd",
  "otp",
  "hwk",
  "mail",
  "recovery",
  "fed",
  "proxy",
  "operator",
]);
const VERIFIES_USER = 1;
const VOUCHES_FOR_2 = 2;
const HELD = 4;

/** Formats the proofs of a login for a session, a pending login or a token: `["hwk", 1764170000000, "3", 1]`. */
export function formatProofs(proofs: readonly Proof[]): readonly (readonly (string | number)[])[] {
  return proofs.map(({ method, at, factor = "", verifiesUser = false, vouchesFor, isHeld = false }) => {
    const flags = (verifiesUser ? VERIFIES_USER : 0) | (vouchesFor === 2 ? VOUCHES_FOR_2 : 0) | (isHeld ? HELD : 0);
    if (flags > 0) return [method, at, factor, flags];
    return factor === "" ? [method, at] : [method, at, factor];
  });
}

/** Parses the proofs that `formatProofs` wrote. Returns null for any other value. */
export function parseProofs(value: unknown): readonly Proof[] | null {
  if (!Array.isArray(value)) return null;
  const proofs = value.map(parseProof);
  return proofs.every((each) => each !== null) ? Object.freeze(proofs) : null;
}

function parseProof(value: unknown): Proof | null {
  if (!Array.isArray(value)) return null;
  const [method, at, factor = "", flags = 0] = value as JSONValue[];
  if (typeof method !== "string" || !methods.has(method) || !Number.isSafeInteger(at)) return null;
  if (typeof factor !== "string" || !Number.isSafeInteger(flags)) return null;
  return Object.freeze({
    method: method as ProofMethod,
    at: at as number,
    ...(factor === "" ? {} : { factor }),
    ...(((flags as number) & VERIFIES_USER) > 0 ? { verifiesUser: true } : {}),
    ...(((flags as number) & VOUCHES_FOR_2) > 0 ? { vouchesFor: 2 as const } : {}),
    ...(((flags as number) & HELD) > 0 ? { isHeld: true } : {}),
  });
}

/** Returns the proofs of a login that is older than the storage of proofs: its password, at the time of the login. */
export function passwordAt(at: number): readonly Proof[] {
  return Object.freeze([Object.freeze({ method: "pwd" as const, at })]);
}
