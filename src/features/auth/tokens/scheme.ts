import { aCookieName } from "../../../access/scheme/checking.ts";
import {
  absent,
  rejected,
  type Carrier,
  type Rejection,
  type Scheme,
  type Verdict,
} from "../../../access/scheme/scheme.ts";
import type { Call } from "../../../core/call/call.ts";
import { anObject, optional } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import type { Eventually } from "../../../core/eventually.ts";
import { builtInScheme } from "../gate/built-in-schemes.ts";
import type { AccessTokens } from "./access.ts";

/** Options of `bearer()`. */
export interface BearerOptions {
  /** Verifies the access tokens. */
  readonly access: Pick<AccessTokens, "verify"> & Partial<Pick<AccessTokens, "recognizes">>;
  /** The name of the cookie. Default: `access_token`. Over TLS, it begins with `__Host-`. */
  readonly cookie?: string;
}

const checks: ChecksOf<BearerOptions> = { access: anObject, cookie: optional(aCookieName) };

/** Access tokens: `Authorization: Bearer …` (RFC 6750) or the cookie `access_token`, over TLS `__Host-access_token`. */
export function bearer(options: BearerOptions): Scheme {
  requireOptions(options, checks, { of: "bearer" });
  const { access, cookie = "access_token" } = options;
  return builtInScheme({
    ...common,
    carriers: listCarriers(cookie),
    // The same code as SimpleJWT. Clients of SimpleJWT refresh the token when they receive this code.
    rejectedAs: "token_not_valid",
    proves: "each",
    // If the cookie contains no token of this service, another program on this host has set it. The scheme ignores this
    // cookie.
    authenticate: (token, { now }, { in: place }) =>
      place === "cookie" && access.recognizes?.(token) === false ? absent : access.verify(token, now),
  });
}

/** Finds the user of a token of an outside issuer. */
export interface ExternalIssuers {
  /** Returns true if the token names one of these issuers. */
  recognizes(token: string): boolean;
  /**
   * Returns the verdict on a token. Returns null if the token does not name one of these issuers. Answers without
   * waiting if the token was verified before and the store allows it. Throws 503 if there are no usable keys. `now` in
   * milliseconds.
   */
  verify(token: string, now: number): Eventually<Verdict> | null;
}

/** Options of `externalBearer()`. */
export interface ExternalBearerOptions {
  readonly issuers: ExternalIssuers;
  /**
   * The name of the cookie, the same as for `bearer()`. Default: `access_token`. Over TLS, it begins with `__Host-`.
   */
  readonly cookie?: string;
}

const externalChecks: ChecksOf<ExternalBearerOptions> = { issuers: anObject, cookie: optional(aCookieName) };

/** Tokens of external issuers, in the same header and cookie as for `bearer()`. This service cannot refresh them. */
export function externalBearer(options: ExternalBearerOptions): Scheme {
  requireOptions(options, externalChecks, { of: "externalBearer" });
  const { issuers, cookie = "access_token" } = options;
  return builtInScheme({
    ...common,
    carriers: listCarriers(cookie),
    rejectedAs: "invalid_token",
    problems: ["identity_not_bound"],
    proves: "each",
    recognizes: (token) => issuers.recognizes(token),
    authenticate: (token, { now }) => issuers.verify(token, now) ?? rejected("unknown"),
  });
}

const common = {
  name: "bearer",
  shared: true,
  challenge: (call, rejection) =>
    rejection === null ? `Bearer realm="${call.realm}"` : bearerRefusal(call, rejection),
} as const satisfies Omit<Scheme, "authenticate" | "carriers">;

function listCarriers(cookie: string): readonly Carrier[] {
  return [
    { in: "authorization", scheme: "bearer" },
    { in: "cookie", name: cookie, hostPrefix: true },
  ];
}

/** Returns the challenge that says why a token was rejected (RFC 6750 §3). */
export function bearerRefusal({ realm }: Pick<Call, "realm">, { detail }: Rejection): string {
  // Replaces each character that `error_description` does not allow. The rest needs no escapes in a quoted string.
  const description = detail.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "?");
  return `Bearer realm="${realm}", error="invalid_token", error_description="${description}"`;
}
