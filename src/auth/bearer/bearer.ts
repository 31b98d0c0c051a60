import { after } from "../../eventually.ts";
import type { Rejection, Scheme, Verdict } from "../scheme.ts";
import type { AccessTokens } from "./access.ts";
import type { OutsideIssuers } from "./issuers.ts";

export interface BearerOptions {
  readonly access: Pick<AccessTokens, "verify">;
  /** Issuers elsewhere whose tokens are taken as well; none where it is left out. */
  readonly issuers?: OutsideIssuers;
}

/** Access tokens: `Authorization: Bearer …` (RFC 6750) or the cookie `access_token`, over TLS `__Host-access_token`. */
export function bearer({ access, issuers }: BearerOptions): Scheme {
  return {
    name: "bearer",
    carriers: [
      { in: "authorization", scheme: "bearer" },
      { in: "cookie", name: "access_token", hostPrefix: true },
    ],
    challenge: (_call, rejection) => (rejection === null ? 'Bearer realm="latchkey"' : bearerRefusal(rejection)),
    // SimpleJWT's name: its clients refresh when they read it. What another issuer signed cannot be refreshed here.
    rejectedAs: "token_not_valid",
    ...(issuers === undefined ? {} : { alsoRejectedAs: ["invalid_token"] as const }),
    authenticate(token, { now }) {
      const fromOutside = issuers?.verify(token, now) ?? null;
      return fromOutside === null ? access.verify(token, now) : after(fromOutside, toldAsOutside);
    },
  };
}

function toldAsOutside(verdict: Verdict): Verdict {
  return verdict.kind === "rejected" ? { ...verdict, code: "invalid_token" } : verdict;
}

/** The challenge that says what was wrong with a token that was there (RFC 6750 §3). */
export function bearerRefusal({ detail }: Rejection): string {
  // What may stand in error_description, and so in a quoted string without escapes.
  const description = detail.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "?");
  return `Bearer realm="latchkey", error="invalid_token", error_description="${description}"`;
}
