import { isObject } from "../../../core/checking/members.ts";
import { readAuthTime } from "../issuers/declaration.ts";
import { isPossibleName } from "../records/accounts.ts";

/**
 * The claims of a user, from the ID token and the userinfo endpoint of a provider. The optional ones have no checked
 * type.
 */
export interface Claims {
  /** The name of the user at the provider. It never changes. */
  readonly sub: string;
  /** How the provider has checked the user (OpenID Connect Core §2). */
  readonly acr: string | null;
  /**
   * The time when the user logged in at the provider, in milliseconds since the epoch. Null if the provider does not
   * report it.
   */
  readonly authTime: number | null;
  readonly email?: unknown;
  readonly email_verified?: unknown;
  readonly name?: unknown;
}

/** The largest difference between the clocks of the provider and of this service. */
const LEEWAY_SECONDS = 30;

/** The longest `sub`, in characters (OpenID Connect Core §2). */
const MOST_SUBJECT_CHARACTERS = 255;

/**
 * Reads the claims of an ID token that the library has checked. Also checks what the library does not: the `azp` of a
 * token with one audience (OpenID Connect Core §3.1.3.7), that `iat` is not in the future, and the form of `sub`.
 * Returns the reason as a text if one is wrong. `now` in milliseconds.
 */
export function readClaims(input: unknown, clientId: string, now: number): Claims | string {
  if (!isObject(input)) return "it sent no ID token";
  const { sub, iat, azp, acr } = input;
  if (!isPossibleName(sub) || sub.length > MOST_SUBJECT_CHARACTERS)
    return "the claim sub of the ID token names no user";
  if (azp !== undefined && azp !== clientId)
    return `the claim azp of the ID token is ${shown(azp)}, and the client_id is ${shown(clientId)}`;
  if (typeof iat !== "number") return "the claim iat of the ID token is missing or not a time";
  if (iat > now / 1000 + LEEWAY_SECONDS)
    return `the claim iat of the ID token is ${Math.ceil(iat - now / 1000)} seconds ahead of the clock of this service`;
  const { email, email_verified, name } = input;
  const authTime = readAuthTime(input, now, LEEWAY_SECONDS * 1000);
  return { sub, acr: typeof acr === "string" ? acr : null, authTime, email, email_verified, name };
}

/** Shows a value in a reason, in at most 200 characters. */
export function shown(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 200);
}
