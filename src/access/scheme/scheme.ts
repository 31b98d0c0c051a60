import type { Call } from "../../core/call/call.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Identity, ProofMethod } from "../../core/identity.ts";
import type { ProblemCode } from "../../core/problem/catalogue.ts";

/**
 * The place of a credential. `Vary`, the cross-site check, the check for duplicate credentials, the limits and the
 * OpenAPI document are derived from it.
 */
export type Carrier =
  /** `Authorization: <scheme> <credential>` */
  | { readonly in: "authorization"; readonly scheme: string }
  /** A custom header field. */
  | { readonly in: "header"; readonly name: string }
  /** A cookie. Over TLS, it has the `__Host-` prefix if `hostPrefix` is set. */
  | { readonly in: "cookie"; readonly name: string; readonly hostPrefix?: boolean }
  /** A header field that only a trusted proxy may set. It is dropped if it comes from any other peer. */
  | { readonly in: "proxy"; readonly name: string }
  /**
   * A query parameter, for example of a signed link. Handlers do not see it, and links in responses do not contain it.
   */
  | { readonly in: "query"; readonly name: string };

const ambientAuthorization = new Set(["basic", "digest", "negotiate", "ntlm", "kerberos"]);

/** Returns true if browsers send the credential automatically, with a request from any page. */
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

/** The result of a scheme for a credential. */
export type Verdict =
  /** The request has no credential for this scheme. */
  | { readonly kind: "absent" }
  /** The credential belongs to this identity. */
  | { readonly kind: "accepted"; readonly identity: Identity }
  /** The credential is for this scheme, but wrong. */
  | Rejection;

/** The verdict for a wrong credential: 401, or 403 if no scheme has a challenge. */
export interface Rejection {
  readonly kind: "rejected";
  /**
   * The reason, for the log and for the throttle. `unknown` and `forged` count as guesses. `malformed`, `expired`,
   * `revoked` and `inactive` (no active account) do not. `password` is a wrong password, which was already counted when
   * it was verified. `insufficient`: the credential is right, but its account needs more proofs.
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
  /** The code of the problem. Default: `rejectedAs` of the scheme. */
  readonly code?: RejectionCode;
  /** The message for the caller. Reasons that must not be distinguished have the same message. */
  readonly detail: string;
}

/** The possible codes of the problem for a rejection. */
export type RejectionCode = "invalid_credentials" | "invalid_token" | "token_not_valid" | "factor_required";

/** The verdict of a scheme that finds no credential of its kind. */
export const absent: Verdict = { kind: "absent" };

/**
 * Returns the verdict for a known caller. The service checks the identity each time. It checks a frozen verdict with a
 * frozen identity only once.
 *
 * @example
 * ```ts
 * import { accepted } from "latchkey";
 *
 * const user = { id: 1, username: "ada", role: "user" };
 * export const ada = accepted({ ...user, scheme: "badge", scopes: null, expiresAt: null });
 * ```
 */
export function accepted(identity: Identity): Verdict {
  return { kind: "accepted", identity };
}

/**
 * Returns the verdict for a wrong credential. `detail` is the message for the caller. Reasons that must not be
 * distinguished need the same message.
 *
 * @example
 * ```ts
 * import { rejected } from "latchkey";
 *
 * export const nobody = rejected("unknown", "No user has this badge.");
 * ```
 */
export function rejected(reason: Rejection["reason"], detail = "The token is invalid, expired or revoked."): Rejection {
  return { kind: "rejected", reason, detail };
}

/**
 * One login method. The service reads the credential from its carrier. It refuses duplicates, credentials beyond 8 KiB
 * and control characters. It calls `authenticate` only if there is a credential.
 */
export interface Scheme {
  /** Lower case with hyphens. `GET /protected/` and the log show it. */
  readonly name: string;
  readonly carriers: readonly Carrier[];
  /**
   * True if browsers send the credential automatically, so that a page of another site could use it. The service then
   * checks the origin of requests that may change something. Default: false. Always true for cookies, identities from a
   * proxy, Basic, Digest, Negotiate and NTLM.
   */
  readonly ambient?: boolean;
  /**
   * True if the scheme reads the body with `call.octets()`. The body is then read before the sender is known. Default:
   * false.
   */
  readonly readsBody?: boolean;
  /**
   * True if other schemes have the same name and read the same places. Together they are then one scheme. For example,
   * API tokens and named keys are both `Authorization: Token`. If one of these schemes returns `unknown`, the service
   * asks the next scheme. A credential that none of them knows is rejected. Default: false.
   */
  readonly shared?: boolean;
  /**
   * For a `shared` scheme: returns true if the credential has the form of this scheme. No other scheme of the same name
   * is then asked.
   */
  recognizes?(credential: string): boolean;
  /**
   * Returns the challenge for `WWW-Authenticate`. Returns null if there is none. `rejection` is the rejection by this
   * scheme. Null if this scheme rejected nothing.
   */
  challenge?(call: Call, rejection: Rejection | null): string | null;
  /** The message for a caller without any credential, if this is the only scheme. */
  readonly missingDetail?: string;
  /**
   * The proofs of an accepted credential. A list contains their methods, for example `["pwd"]` or `["hwk"]`. `"each"`:
   * every identity has its own `proofs`. `"program"`: credentials of programs, which a user created with a complete
   * login and which need no second factor. Default: no proofs. The identity then has `level` 1, as with one kind of
   * proof, but its login never counts as fresh. If a rule requires a second factor, every scheme must declare `proves`.
   * Otherwise the service does not start.
   */
  readonly proves?: readonly ProofMethod[] | "each" | "program";
  /**
   * The code for rejections that name no `code`. Set `invalid_credentials` if the credential is a name and a password.
   * Default: `invalid_token`.
   */
  readonly rejectedAs?: RejectionCode;
  /** The other codes of its rejections, for the API's documentation. */
  readonly alsoRejectedAs?: readonly RejectionCode[];
  /** The codes of the problems that `authenticate` throws, for the API's documentation. */
  readonly problems?: readonly ProblemCode[];
  /** Checks a credential. A thrown problem ends the request, regardless of the verdicts of other schemes. */
  authenticate(credential: string, call: Call, carrier: Carrier): Eventually<Verdict>;
}

/**
 * Decides whether an accepted credential is enough for its account. Returns the identity with its proofs and its level,
 * or a rejection with the reason `insufficient`. The service calls it for every accepted identity.
 */
export type AssuranceCheck = (scheme: Scheme, identity: Identity, call: Call) => Eventually<Identity | Rejection>;
