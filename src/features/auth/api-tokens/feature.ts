import { requireOptions } from "../../../core/checking/options.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import type { Beginning } from "../gate/contract.ts";
import { loginChecks } from "../people/options.ts";
import type { AccountsFeature, LoginOptions } from "../people/people.ts";
import { apiTokenEndpoints, startAPIToken } from "./endpoints.ts";
import { token } from "./scheme.ts";
import { apiTokensCollection, storeAPITokens, type APITokens } from "./tokens.ts";

/**
 * The API token of a user, which is valid until it is revoked: `/users/{id}/token`, `POST /api-token-auth/`, and
 * `Authorization: Token`. Each user has at most one. Needs the service's secret.
 *
 * @example
 * ```ts
 * import { accounts, apiTokens } from "latchkey";
 *
 * const people = accounts();
 * export const features = [people, apiTokens(people)];
 * ```
 */
export function apiTokens(people: AccountsFeature, options: LoginOptions = {}): Feature<APITokens> {
  return defineFeature({
    name: "api-tokens",
    needs: [people],
    setUp(host) {
      requireOptions(options, loginChecks);
      const { enabled = true } = options;
      const { store, secret, observe } = host;
      const { accounts, logins, endings } = host.use(people);
      const { tokenPrefix: prefix } = accounts.declared;
      const tokens = storeAPITokens({ store, secret, observe, prefix });
      const beginning: Beginning<{}> = {
        name: "api-token",
        carriedIn: () => "text",
        start: (context, admission) => startAPIToken({ accounts, tokens }, context, admission),
      };
      // If API tokens are turned off, a login that still waits for a second factor cannot be completed. It expires.
      const begin = enabled ? logins.registerLogin(beginning) : beginning;
      endings.registerTable("account", apiTokensCollection);
      return {
        offer: tokens,
        schemes: enabled ? [token({ tokens, accounts, prefix })] : [],
        endpoints: enabled ? apiTokenEndpoints({ accounts, logins, endings, tokens, begin }) : [],
        collections: [apiTokensCollection],
      };
    },
  });
}
