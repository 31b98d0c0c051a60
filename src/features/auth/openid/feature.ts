import { aCookieName } from "../../../access/scheme/checking.ts";
import { makeSideBySide } from "../../../access/throttle/side-by-side.ts";
import { aFunction, anObject, anything, isObject, optional } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { defineFeature, type Feature, type Host } from "../../../feature/feature.ts";
import type { Beginning } from "../gate/contract.ts";
import { PRUNE_SECONDS } from "../people/options.ts";
import type { AccountsFeature } from "../people/people.ts";
import { loadLibrary, makeProviderClient, type ProviderClient } from "./client.ts";
import { findProviderConfirmations } from "./confirming.ts";
import { completeProvider, providersMistakes, type IdentityProviderDeclaration } from "./declaration.ts";
import { makeFlows, usedFlowsCollection } from "./flows.ts";
import { identitiesCollection, makeIdentities } from "./identities.ts";
import { identityEndpoints } from "./identity-endpoints.ts";
import { providerLoginEndpoints } from "./login-endpoints.ts";
import type { ProviderFetch } from "./network.ts";
import type { ProviderLoginParts } from "./parts.ts";

/** Options of `identityProviders()`: the providers, and the login that starts. */
export interface IdentityProvidersOptions {
  readonly providers: readonly IdentityProviderDeclaration[];
  /** The login that starts after the provider has confirmed its user: `sessionLogin(people)`. */
  readonly sessions: Feature<{ readonly begin: Beginning<{}> }>;
  /** The name of the cookie of started logins. Default: `oidc`. Over TLS, it begins with `__Host-`. */
  readonly cookie?: string;
  /** Makes the network requests, only to the providers. Default: `fetch`. */
  readonly fetch?: ProviderFetch;
}

const checks: ChecksOf<IdentityProvidersOptions> = {
  providers: anything,
  sessions: anObject,
  cookie: optional(aCookieName),
  fetch: optional(aFunction),
};

/**
 * Logs users in at identity providers (OpenID Connect): code flow with PKCE, and a session afterwards. Identities are
 * linked to accounts by issuer and `sub`. Needs the package `openid-client`, the service's secret and its public origin
 * (`ownOrigins`).
 *
 * @example
 * ```ts
 * import { accounts, Secret, sessionLogin } from "latchkey";
 * import { identityProviders } from "latchkey/auth";
 *
 * const people = accounts();
 * const sessions = sessionLogin(people);
 * const company = {
 *   id: "company",
 *   title: "Log in with your company",
 *   issuer: "https://login.example.com/realms/main",
 *   clientId: "shop",
 *   clientSecret: new Secret("from the provider"),
 * };
 * export const features = [people, sessions, identityProviders(people, { sessions, providers: [company] })];
 * ```
 */
export function identityProviders(people: AccountsFeature, options: IdentityProvidersOptions): Feature {
  return defineFeature({
    name: "identity-providers",
    needs: [people, ...findSessionsFeature(options)],
    setUp(host) {
      const { providers: declared }: Partial<IdentityProvidersOptions> = options ?? {};
      requireOptions(options, checks, { more: [...providersMistakes(declared), ...originMistakes(host)] });
      const { parts, start } = assemble(host, people, options);
      const { providers } = options;
      host
        .use(people)
        .confirming.registerOutsideConfirmation((context, account) =>
          findProviderConfirmations(parts, context, account),
        );
      return {
        offer: null,
        endpoints: [...providerLoginEndpoints(parts), ...identityEndpoints(parts)],
        collections: [identitiesCollection, usedFlowsCollection],
        upkeep: [{ everySeconds: PRUNE_SECONDS, due: parts.flows.due }],
        loginLinks: providers.map(({ id, title }) => ({ title, href: `/api/login/${id}/start` })),
        tags: { providers: "Logins at identity providers (OpenID Connect)." },
        start,
      };
    },
  });
}

/**
 * Returns the feature of the option `sessions`. Returns no feature if the option is missing or wrong, because `setUp`
 * reports that.
 */
function findSessionsFeature(options: Partial<IdentityProvidersOptions> | null | undefined): readonly Feature[] {
  const sessions = options?.sessions;
  return isObject(sessions) ? [sessions] : [];
}

/**
 * Returns a mistake if the public origin is unknown. The address of the callback contains it, and must not depend on a
 * request.
 */
function originMistakes({ ownOrigins }: Host): readonly string[] {
  return ownOrigins.length === 0
    ? ["the public origin of the service is unknown, and providers send their users back to it; give it in ownOrigins"]
    : [];
}

function assemble(
  host: Host,
  feature: AccountsFeature,
  options: IdentityProvidersOptions,
): { readonly parts: ProviderLoginParts; readonly start: () => Promise<void> } {
  const { store, secret, observe, throttle, ownOrigins, basePath } = host;
  const { cookie = "oidc", fetch = globalThis.fetch } = options;
  const providers = options.providers.map(completeProvider);
  const { accounts, logins, confirming } = host.use(feature);
  confirming.registerOutsideLogin({
    collection: identitiesCollection,
    where: { column: "issuer", operator: "in", value: providers.map(({ issuer }) => issuer) },
  });
  const clients = new Map<string, ProviderClient>();
  const parts: ProviderLoginParts = {
    store,
    accounts,
    logins,
    confirming,
    throttle,
    identities: makeIdentities(store),
    observe,
    clients,
    sideBySide: makeSideBySide(),
    flows: makeFlows(store, secret, cookie),
    begin: host.use(options.sessions).begin,
    factorPage: () => host.service().pages?.factor ?? null,
  };
  return {
    parts,
    async start() {
      const library = await loadLibrary();
      for (const provider of providers) {
        const redirectURI = `${ownOrigins[0]}${basePath}/api/login/${provider.id}/callback`;
        clients.set(provider.id, makeProviderClient({ library, provider, redirectURI, fetch }));
      }
    },
  };
}
