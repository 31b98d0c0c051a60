import { outsideBearer } from "../../auth/bearer/bearer.ts";
import type { IssuerDeclaration } from "../../auth/bearer/issuers-declaration.ts";
import type { FetchKeys } from "../../auth/bearer/issuers-fetch.ts";
import { outsideIssuers, type OutsideIssuers } from "../../auth/bearer/issuers.ts";
import { aFunction, anything, optional } from "../../checking/members.ts";
import { defineFeature, type Feature } from "../../feature/feature.ts";
import type { AccountsFeature } from "../login.ts";
import { requireOptions, type ChecksOf } from "../options.ts";

export interface IssuerLoginOptions {
  /** Whose tokens are taken, and for whom they have to be. */
  readonly issuers: readonly IssuerDeclaration[];
  /** The network, asked for the declared addresses and nothing else; `fetch` where it is left out. */
  readonly fetch?: FetchKeys;
}

// What is wrong with the issuers themselves, `IssuersError` says.
const checks: ChecksOf<IssuerLoginOptions> = { issuers: anything, fetch: optional(aFunction) };

/** Tokens that others have signed: `Authorization: Bearer` with the JWT of an issuer elsewhere. */
export function issuerLogin(people: AccountsFeature, options: IssuerLoginOptions): Feature<OutsideIssuers> {
  return defineFeature({
    name: "issuer-login",
    needs: [people],
    setUp(host) {
      requireOptions(options, checks);
      const { bindings, issuer: ownIssuer, takeOutsideLogins } = host.use(people);
      takeOutsideLogins();
      const issuers = outsideIssuers({ ...options, ownIssuer, bindings, observe: host.observe });
      return { offer: issuers, schemes: [outsideBearer({ issuers })] };
    },
  });
}
