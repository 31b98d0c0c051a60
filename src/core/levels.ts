import type { Identity, Level, Proof, ProofMethod } from "./identity.ts";

/**
 * The kind of a proof: something that the user knows, something that the user has, a mailbox, or the report of another
 * party.
 */
type ProofKind = "knows" | "has" | "reaches" | "vouched";

const kinds: Readonly<Record<ProofMethod, ProofKind>> = {
  pwd: "knows",
  otp: "has",
  hwk: "has",
  recovery: "has",
  mail: "reaches",
  fed: "vouched",
  proxy: "vouched",
  // The operator of the machine, who uses the command or the test kit.
  operator: "vouched",
};

/**
 * Returns the level of these proofs together. Level 2 needs one of these: something that the user has together with
 * another kind of proof, a passkey that checked the person, another party that is configured to vouch for level 2, or
 * the operator. A password and a mail are level 1, because the mailbox can reset the password.
 */
export function computeLevel(proofs: readonly Proof[]): Level {
  if (proofs.length === 0) return 0;
  if (proofs.some(isEnoughAlone)) return 2;
  return proofs.some(isPossession) && !proofs.every(isPossession) ? 2 : 1;
}

/**
 * Returns the level that the proofs since a time confirm. A login of level 2 needs a recent second factor to confirm
 * level 2. Any recent proof confirms level 1. Returns 0 if there is none.
 *
 * @param since Milliseconds since the epoch.
 */
export function confirmedLevel(proofs: readonly Proof[], since: number): Level {
  const recent = proofs.filter(({ at }) => at > since);
  if (recent.length === 0) return 0;
  const isStrong = recent.some((proof) => isPossession(proof) || isEnoughAlone(proof));
  return isStrong && computeLevel(proofs) === 2 ? 2 : 1;
}

/** Returns the methods of these proofs, each once: the claim `amr` (RFC 8176). */
export function listMethods(proofs: readonly Proof[]): readonly ProofMethod[] {
  return [...new Set(proofs.map(({ method }) => method))];
}

/** Returns the time of the latest proof, in milliseconds since the epoch. Returns null if there is none. */
export function lastProvedAt(proofs: readonly Proof[]): number | null {
  return proofs.length === 0 ? null : Math.max(...proofs.map(({ at }) => at));
}

/** Returns the members of an identity that follow from its proofs. A proof with the time 0 has no known time. */
export function provedBy(proofs: readonly Proof[]): Pick<Identity, "proofs" | "level" | "authTime"> {
  const authTime = lastProvedAt(proofs);
  return { proofs, level: computeLevel(proofs), ...(authTime === null || authTime <= 0 ? {} : { authTime }) };
}

function isPossession({ method }: Proof): boolean {
  return kinds[method] === "has";
}

function isEnoughAlone({ method, vouchesFor, verifiesUser = false }: Proof): boolean {
  return method === "operator" || vouchesFor === 2 || (method === "hwk" && verifiesUser);
}

/** Returns the challenge that requests recent proofs (RFC 9470 §3). */
export function stepUpChallenge(realm: string, maxAgeSeconds: number, level: 1 | 2): string {
  return `Bearer realm="${realm}", error="insufficient_user_authentication", max_age="${maxAgeSeconds}", acr_values="${level}"`;
}
