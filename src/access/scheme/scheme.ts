import type { Call } from "../../core/call/call.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Identity, ProofMethod } from "../../core/identity.ts";

/** Where a credential travels. `Vary`, the cross-site check, duplicates, limits and OpenAPI follow from it. */
export type Carrier =
  /** `Authorization: <scheme> <credential>` */
  | { readonly in: "authorization"; readonly scheme: string }
  /** A header of its own. */
  | { readonly in: "header"; readonly name: string }
  /** A cookie; over TLS the one with the `__Host-` prefix where `hostPrefix` is set. */
  | { readonly in: "cookie"; readonly name: string; readonly hostPrefix?: boolean }
  /** A header that only a trusted proxy may set. From anyone else it is dropped. */
  | { readonly in: "proxy"; readonly name: string }
  /** A parameter of the query, as of a signed link. No handler sees it, and no link in an answer repeats it. */
  | { readonly in: "query"; readonly name: string };

const ambientAuthorization = new Set(["basic", "digest", "negotiate", "ntlm", "kerberos"]);

/** Whether browsers send what travels there by themselves: with a request that any page has made. */
export function isAmbient({ ambient = false }: Scheme, carrier: Carrier): boolean {
  switch (carrier.in) {
    case "cookie":
    case "proxy":
      return true;
    case "authorization":
      return ambient || ambientAuthorization.has(carrier.scheme.toLowerCase());
    case "header":
    case "query":
      return ambient;
  }
}

/** What a scheme says of a credential. */
export type Verdict =
  /** Nothing of mine here. */
  | { readonly kind: "absent" }
  /** This identity. */
  | { readonly kind: "accepted"; readonly identity: Identity }
  /** Mine, and wrong. */
  | Rejection;

/** The verdict of a scheme that finds a credential of its own which is wrong: 401, or 403 where no scheme has a challenge. */
export interface Rejection {
  readonly kind: "rejected";
  /**
   * Why, for the log and for throttling: `unknown` and `forged` count as guesses; `malformed`, `expired`, `revoked` and `inactive` (no active account) do not.
   * `password` was counted already, where it was verified. `insufficient`: the credential is right, and its account needs more proofs.
   */
  readonly reason:
    | "unknown"
    | "forged"
    | "malformed"
    | "expired"
    | "revoked"
    | "inactive"
    | "password"
    | "insufficient";
  /** The problem's code, where it is not the one of the scheme. */
  readonly code?: RejectionCode;
  /** What the caller is told; the same words for reasons that must not be told apart. */
  readonly detail: string;
}

/** The problems that a rejection can be told as. */
export type RejectionCode = "invalid_credentials" | "invalid_token" | "token_not_valid" | "factor_required";

/** The verdict of a scheme that finds nothing of its own. */
export const absent: Verdict = { kind: "absent" };

/**
 * The verdict of a scheme that knows who is calling. A frozen identity is checked once; any other each time it is given.
 *
 * @example
 * ```ts
 * import { accepted } from "latchkey";
 *
 * export const ada = accepted({ id: 1, username: "ada", role: "user", scheme: "badge", scopes: null, expiresAt: null });
 * ```
 */
export function accepted(identity: Identity): Verdict {
  return { kind: "accepted", identity };
}

/**
 * The verdict of a scheme whose credential is wrong. `detail` is what the caller is told; what must not be told apart gets the same words.
 *
 * @example
 * ```ts
 * import { rejected } from "latchkey";
 *
 * export const nobody = rejected("unknown", "Nobody opens.");
 * ```
 */
export function rejected(reason: Rejection["reason"], detail = "The token is invalid, expired or revoked."): Rejection {
  return { kind: "rejected", reason, detail };
}

/**
 * One way of logging in. The chain takes the credential out of its carrier, refuses duplicates, credentials beyond
 * 8 KiB and control characters, and asks `authenticate` only where there is something to look at.
 */
export interface Scheme {
  /** Lower case with hyphens; what `GET /protected/` and the log show. */
  readonly name: string;
  readonly carriers: readonly Carrier[];
  /**
   * Browsers send the credential by themselves, so that a page of another site could use it: calls that may change something are then
   * checked for where they come from. Cookies, what a proxy says, Basic, Digest, Negotiate and NTLM always are, whatever stands here.
   */
  readonly ambient?: boolean;
  /** It looks at the body, which `call.octets()` gives: it is then read before anybody knows who sent it. False where it is left out. */
  readonly readsBody?: boolean;
  /**
   * Others of the same name may stand beside it and read the same places: parts of one scheme, as API tokens and named keys are both
   * `Authorization: Token`. What one part calls `unknown` the next is asked for, and what no part knows is rejected.
   */
  readonly shared?: boolean;
  /** Of a scheme in parts: whether the credential is this one's by its form alone, which is then asked and no other. */
  recognizes?(credential: string): boolean;
  /** The challenge for `WWW-Authenticate`; null where there is none to offer. `rejection` is this scheme's own, where it rejected. */
  challenge?(call: Call, rejection: Rejection | null): string | null;
  /** What a caller without any credential is told, where this is the only scheme. */
  readonly missingDetail?: string;
  /**
   * The proofs that an accepted credential gives: their methods, for example `["pwd"]` or `["hwk"]`; `"each"` if its identities carry `proofs`;
   * `"program"` for credentials of programs, which a user made with a complete login and which need no second factor.
   * Without it, an identity has level 1 and no proof, so it is never fresh. If a rule asks for a second factor, a scheme without it stops the start.
   */
  readonly proves?: readonly ProofMethod[] | "each" | "program";
  /** How a rejection is told that has no code of its own: `invalid_credentials` where the credential is a name and a password, else `invalid_token`. */
  readonly rejectedAs?: RejectionCode;
  /** The codes of rejections that differ from it, for the API's documentation. */
  readonly alsoRejectedAs?: readonly RejectionCode[];
  /** Looks at a credential. Throws a problem only for what ends the request whatever other schemes say. */
  authenticate(credential: string, call: Call, carrier: Carrier): Eventually<Verdict>;
}

/**
 * Decides whether an accepted credential is enough for its account. Returns the identity with its proofs and its level, or a rejection with
 * the reason `insufficient`. The chain asks it for every accepted identity.
 */
export type Standing = (scheme: Scheme, identity: Identity, call: Call) => Eventually<Identity | Rejection>;
