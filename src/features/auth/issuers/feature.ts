import { aCookieName } from "../../../access/scheme/checking.ts";
import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import { aFunction, anything, optional } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import type { AccountsFeature } from "../login.ts";
import { externalBearer } from "../tokens/scheme.ts";
import { IssuersError, type IssuerDeclaration } from "./declaration.ts";
import type { FetchKeys } from "./fetch.ts";
import { externalIssuers, type ExternalIssuers } from "./scheme.ts";

/** Options of `issuerLogin()`: whose tokens are taken. */
export interface IssuerLoginOptions {
  /** Whose tokens are taken, and for whom they have to be. */
  readonly issuers: readonly IssuerDeclaration[];
  /** The name of the cookie of an access token, which is `accessCookie` of `tokenLogin()`. Default: `access_token`. */
  readonly cookie?: string;
  /** The network, asked for the declared addresses and nothing else; `fetch` where it is left out. */
  readonly fetch?: FetchKeys;
}

// What is wrong with the issuers themselves, `IssuersError` says.
const checks: ChecksOf<IssuerLoginOptions> = {
  issuers: anything,
  cookie: optional(aCookieName),
  fetch: optional(aFunction),
};

/** Tokens that others have signed: `Authorization: Bearer` with the JWT of an issuer elsewhere. */
export function issuerLogin(people: AccountsFeature, options: IssuerLoginOptions): Feature<ExternalIssuers> {
  return defineFeature({
    name: "issuer-login",
    needs: [people],
    setUp(host) {
      requireOptions(options, checks);
      const { bindings, issuer: ownIssuer, takeOutsideLogins } = host.use(people);
      takeOutsideLogins();
      const { cookie, ...outside } = options;
      const issuers = declared(() => externalIssuers({ ...outside, ownIssuer, bindings, observe: host.observe }));
      return { offer: issuers, schemes: [externalBearer({ issuers, ...(cookie === undefined ? {} : { cookie }) })] };
    },
  });
}

/** What is wrong with the issuers is told with everything else that keeps the service from starting. */
function declared<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof IssuersError ? new DeclarationError(error.problems) : error;
  }
}
