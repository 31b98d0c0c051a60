import { aCookieName } from "../../../access/scheme/checking.ts";
import { rejected, type Rejection, type Scheme } from "../../../access/scheme/scheme.ts";
import type { Call } from "../../../core/call/call.ts";
import { anObject, optional } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { made } from "../../../core/copy.ts";
import type { ExternalIssuers } from "../issuers/scheme.ts";
import type { AccessTokens } from "./access.ts";

/** What `bearer()` is made of: who verifies access tokens. */
export interface BearerOptions {
  readonly access: Pick<AccessTokens, "verify">;
  /** The name of the cookie; `access_token` where it is left out. Over TLS it begins with `__Host-`. */
  readonly cookie?: string;
}

const checks: ChecksOf<BearerOptions> = { access: anObject, cookie: optional(aCookieName) };

/** Access tokens: `Authorization: Bearer …` (RFC 6750) or the cookie `access_token`, over TLS `__Host-access_token`. */
export function bearer(options: BearerOptions): Scheme {
  requireOptions(options, checks, { of: "bearer" });
  const { access, cookie = "access_token" } = options;
  return made({
    ...common,
    carriers: [common.carriers[0], { in: "cookie", name: cookie, hostPrefix: true }],
    // SimpleJWT's name: its clients refresh when they read it.
    rejectedAs: "token_not_valid",
    proves: "each",
    authenticate: (token, { now }) => access.verify(token, now),
  });
}

/** Tokens of issuers elsewhere, in the same places. They cannot be refreshed here. */
export function externalBearer(options: { readonly issuers: ExternalIssuers }): Scheme {
  requireOptions(options, { issuers: anObject }, { of: "externalBearer" });
  const { issuers } = options;
  return made({
    ...common,
    rejectedAs: "invalid_token",
    proves: "each",
    recognizes: (token) => issuers.recognizes(token),
    authenticate: (token, { now }) => issuers.verify(token, now) ?? rejected("unknown"),
  });
}

const common = {
  name: "bearer",
  shared: true,
  carriers: [
    { in: "authorization", scheme: "bearer" },
    { in: "cookie", name: "access_token", hostPrefix: true },
  ],
  challenge: (call, rejection) =>
    rejection === null ? `Bearer realm="${call.realm}"` : bearerRefusal(call, rejection),
} as const satisfies Omit<Scheme, "authenticate">;

/** The challenge that says what was wrong with a token that was there (RFC 6750 §3). */
export function bearerRefusal({ realm }: Pick<Call, "realm">, { detail }: Rejection): string {
  // What may stand in error_description, and so in a quoted string without escapes.
  const description = detail.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "?");
  return `Bearer realm="${realm}", error="invalid_token", error_description="${description}"`;
}
