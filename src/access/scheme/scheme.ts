import type { Call } from "../../core/call/call.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Identity, ProofMethod } from "../../core/identity.ts";
import type { ProblemCode } from "../../core/problem/catalogue.ts";

/** The place of a credential. `Vary`, the cross-site check, duplicates, limits and OpenAPI are derived from it. */
export type Carrier =
  /** `Authorization: <scheme> <credential>` */
  | { readonly in: "authorization"; readonly scheme: string }
  /** A custom header field. */
  | { readonly in: "header"; readonly name: string }
  /** A cookie. Over TLS, it has the `__Host-` prefix if `hostPrefix` is set. */
  | { readonly in: "cookie"; readonly name: string; readonly hostPrefix?: boolean }
  /** A header field that only a trusted proxy may set. It is dropped if it comes from any other peer. */
  | { readonly in: "proxy"; readonly name: string }
  /** A query parameter, for example of a signed link. Handlers do not see it, and links in responses do not contain it. */
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
   * The reason, for the log and for throttling. `unknown` and `forged` count as guesses. `malformed`, `expired`, `revoked` and `inactive`
   * (no active account) do not. `password` was already counted when it was verified. `insufficient`: the credential is right, but its
   * account needs more proofs.
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
  /** The code of the problem, if it differs from that of the scheme. */
  readonly code?: RejectionCode;
  /** The message for the caller. Reasons that must not be distinguished have the same message. */
  readonly detail: string;
}

/** The possible codes of the problem for a rejection. */
export type RejectionCode = "invalid_credentials" | "invalid_token" | "token_not_valid" | "factor_required";

/** The verdict of a scheme that finds no credential of its kind. */
export const absent: Verdict = { kind: "absent" };

/**
 * Returns the verdict for a known caller. A frozen identity is checked once, any other one each time.
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
 * Returns the verdict for a wrong credential. `detail` is the message for the caller. Reasons that must not be distinguished need the same
 * message.
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
 * One way to log in. The chain reads the credential from its carrier, refuses duplicates, credentials beyond 8 KiB and control characters,
 * and calls `authenticate` only if there is a credential.
 */
export interface Scheme {
  /** Lower case with hyphens. `GET /protected/` and the log show it. */
  readonly name: string;
  readonly carriers: readonly Carrier[];
  /**
   * True if browsers send the credential automatically, so that a page of another site could use it. The origin of requests that may change
   * something is then checked. Always true for cookies, identities from a proxy, Basic, Digest, Negotiate and NTLM.
   */
  readonly ambient?: boolean;
  /** True if it reads the body with `call.octets()`. The body is then read before the sender is known. Default: false. */
  readonly readsBody?: boolean;
  /**
   * True if other schemes with the same name read the same places, so that together they are one scheme. For example, API tokens and named
   * keys are both `Authorization: Token`. If one of them returns `unknown`, the next one is asked. A credential that none of them knows is
   * rejected.
   */
  readonly shared?: boolean;
  /** For a scheme that shares its name: returns true if the credential has the form of this scheme. Then no other one is asked. */
  recognizes?(credential: string): boolean;
  /** Returns the challenge for `WWW-Authenticate`. Returns null if there is none. `rejection` is this scheme's own, if it rejected. */
  challenge?(call: Call, rejection: Rejection | null): string | null;
  /** The message for a caller without any credential, if this is the only scheme. */
  readonly missingDetail?: string;
  /**
   * The proofs of an accepted credential: their methods, for example `["pwd"]` or `["hwk"]`; `"each"` if its identities have `proofs`;
   * `"program"` for credentials of programs, which a user created with a complete login and which need no second factor. Without it, an
   * identity has level 1 and no proof, so it is never fresh. If a rule requires a second factor, a scheme without it stops the start.
   */
  readonly proves?: readonly ProofMethod[] | "each" | "program";
  /**
   * The code of a rejection without a code: `invalid_credentials` if the credential is a name and a password, otherwise `invalid_token`.
   */
  readonly rejectedAs?: RejectionCode;
  /** The other codes of its rejections, for the API's documentation. */
  readonly alsoRejectedAs?: readonly RejectionCode[];
  /** The codes of the problems that `authenticate` throws, for the API's documentation. */
  readonly problems?: readonly ProblemCode[];
  /** Checks a credential. Throws a problem only to end the request independent of other schemes. */
  authenticate(credential: string, call: Call, carrier: Carrier): Eventually<Verdict>;
}

/**
 * Decides whether an accepted credential is enough for its account. Returns the identity with its proofs and its level, or a rejection with
 * the reason `insufficient`. The chain calls it for every accepted identity.
 */
export type Standing = (scheme: Scheme, identity: Identity, call: Call) => Eventually<Identity | Rejection>;
