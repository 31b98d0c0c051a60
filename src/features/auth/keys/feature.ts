import { requireOptions } from "../../../core/checking/options.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import { token } from "../api-tokens/scheme.ts";
import { loginChecks } from "../people/options.ts";
import type { AccountsFeature, LoginOptions } from "../people/people.ts";
import { keyEndpoints } from "./endpoints.ts";
import { namedKeysCollection, storeNamedKeys, type NamedKeys } from "./named-keys.ts";
import { scopesAllow } from "./scopes.ts";

/**
 * Keys for the programs of a user, with scopes and an expiry: `/users/{id}/keys`, and `Authorization: Token`. If
 * `enabled` is false, keys can be managed but not used. Needs the service's secret.
 */
export function namedKeys(people: AccountsFeature, options: LoginOptions = {}): Feature<NamedKeys> {
  return defineFeature({
    name: "named-keys",
    needs: [people],
    setUp(host) {
      requireOptions(options, loginChecks);
      const { enabled = true } = options;
      const { store, secret, observe } = host;
      const { accounts, logins, endings } = host.use(people);
      const { tokenPrefix: prefix } = accounts.declared;
      const parts = { accounts, logins, endings, keys: storeNamedKeys({ store, secret, observe, prefix }) };
      endings.registerTable("account", namedKeysCollection);
      return {
        offer: parts.keys,
        schemes: enabled ? [token({ tokens: parts.keys, accounts, prefix })] : [],
        endpoints: keyEndpoints(parts),
        collections: [namedKeysCollection],
        scopesAllow,
      };
    },
  });
}
