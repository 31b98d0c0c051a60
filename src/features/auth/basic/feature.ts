import { requireNoOptions } from "../../../core/checking/options.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import type { AccountsFeature } from "../people/people.ts";
import { basic } from "./scheme.ts";

/**
 * Username and password with every request (RFC 7617), over TLS or from this machine.
 *
 * @example
 * ```ts
 * import { accounts, basicLogin } from "latchkey";
 *
 * const people = accounts();
 * export const features = [people, basicLogin(people)];
 * ```
 */
export function basicLogin(people: AccountsFeature, ...options: []): Feature {
  return defineFeature({
    name: "basic-login",
    needs: [people],
    setUp(host) {
      requireNoOptions(options);
      const { accounts, logins } = host.use(people);
      return { offer: null, schemes: [basic({ accounts, passwords: logins.passwords })] };
    },
  });
}
