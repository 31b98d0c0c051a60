import { isObject } from "../../../core/checking/members.ts";
import { isPossibleName } from "../accounts/stored-accounts.ts";

/** The claims of a user, from the ID token and the userinfo endpoint of a provider. Only `sub` and `acr` have a checked type. */
export interface Claims {
  /** The name of the user at the provider. It never changes. */
  readonly sub: string;
  /** How the provider has checked the user (OpenID Connect Core §2). */
  readonly acr: string | null;
  readonly email?: unknown;
  readonly email_verified?: unknown;
  readonly name?: unknown;
}

/** The largest difference between the clocks of the provider and of this service. */
const LEEWAY_SECONDS = 30;

/** The longest `sub`, in characters (OpenID Connect Core §2). */
const MOST_SUBJECT_CHARACTERS = 255;

/**
 * Reads the claims of an ID token that the library has checked. Also checks what the library does not: the `azp` of a token with one
 * audience (OpenID Connect Core §3.1.3.7), that `iat` is not in the future, and the form of `sub`. Returns null if one is wrong. `now` in
 * milliseconds.
 */
export function readClaims(input: unknown, clientId: string, now: number): Claims | null {
  if (!isObject(input)) return null;
  const { sub, iat, azp, acr } = input;
  if (!isPossibleName(sub) || sub.length > MOST_SUBJECT_CHARACTERS) return null;
  if (azp !== undefined && azp !== clientId) return null;
  if (typeof iat !== "number" || iat > now / 1000 + LEEWAY_SECONDS) return null;
  const { email, email_verified, name } = input;
  return { sub, acr: typeof acr === "string" ? acr : null, email, email_verified, name };
}
