import { aCookieName } from "../../../access/scheme/checking.ts";
import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import { aFunction, anything, optional } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import type { AccountsFeature } from "../people/people.ts";
import { externalBearer, type ExternalIssuers } from "../tokens/scheme.ts";
import { IssuersError, type IssuerDeclaration } from "./declaration.ts";
import type { FetchKeys } from "./fetch.ts";
import { externalIssuers } from "./scheme.ts";

/** Options of `issuerLogin()`: the trusted issuers. */
export interface IssuerLoginOptions {
  /** The issuers whose tokens the service accepts, each with its audience. */
  readonly issuers: readonly IssuerDeclaration[];
  /** The name of the cookie of an access token, which is `accessCookie` of `tokenLogin()`. Default: `access_token`. */
  readonly cookie?: string;
  /** Makes the network requests, only to the declared addresses. Default: `fetch`. */
  readonly fetch?: FetchKeys;
}

// `IssuersError` reports the mistakes in the issuers themselves.
const checks: ChecksOf<IssuerLoginOptions> = {
  issuers: anything,
  cookie: optional(aCookieName),
  fetch: optional(aFunction),
};

/** Accepts tokens of outside issuers: `Authorization: Bearer` with a JWT. */
export function issuerLogin(people: AccountsFeature, options: IssuerLoginOptions): Feature<ExternalIssuers> {
  return defineFeature({
    name: "issuer-login",
    needs: [people],
    setUp(host) {
      requireOptions(options, checks);
      const { bindings, declared: names, announceOutsideLogins } = host.use(people).accounts;
      announceOutsideLogins();
      const { cookie, ...outside } = options;
      const issuers = declared(() =>
        externalIssuers({ ...outside, ownIssuer: names.issuer, bindings, observe: host.observe }),
      );
      return { offer: issuers, schemes: [externalBearer({ issuers, ...(cookie === undefined ? {} : { cookie }) })] };
    },
  });
}

/** Turns an `IssuersError` into a declaration error, so that the start reports it together with all other mistakes. */
function declared<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof IssuersError ? new DeclarationError(error.problems) : error;
  }
}
