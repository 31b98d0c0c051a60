import { requireOptions } from "../../../core/checking/options.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import { token } from "../api-tokens/scheme.ts";
import type { AccountsFeature, LoginOptions } from "../login.ts";
import { loginChecks } from "../options.ts";
import { keyEndpoints } from "./endpoints.ts";
import { namedKeysCollection, storeNamedKeys, type NamedKeys } from "./named-keys.ts";
import { scopesAllow } from "./scopes.ts";

/**
 * Keys for programs, one for each program of a user, each with its scopes and its expiry: `/users/{id}/keys`, and `Authorization: Token`.
 * If they are not `enabled`, they can still be managed. Needs the service's secret.
 */
export function namedKeys(people: AccountsFeature, options: LoginOptions = {}): Feature<NamedKeys> {
  return defineFeature({
    name: "named-keys",
    needs: [people],
    setUp(host) {
      requireOptions(options, loginChecks);
      const { enabled = true } = options;
      const { store, secret, observe } = host;
      const offered = host.use(people);
      const { accounts, tokenPrefix: prefix } = offered;
      const parts = { people: offered, keys: storeNamedKeys({ store, secret, observe, prefix }) };
      parts.people.endsWith("account", namedKeysCollection);
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
