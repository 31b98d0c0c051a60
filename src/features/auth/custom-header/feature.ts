import { optional, text } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { aSecret, type Secret } from "../../../core/crypto/secret.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import type { AccountsFeature } from "../people/people.ts";
import { customHeader } from "./scheme.ts";

/** Options of `customHeaderLogin()`: the header, its token and its account. */
export interface CustomHeaderLoginOptions {
  /** The name of the header. Default: `X-Custom-Token`. */
  readonly header?: string;
  readonly token: Secret;
  /** Callers with the token act as the account of this name. If there is no such account, the token is refused. */
  readonly username: string;
}

const checks: ChecksOf<CustomHeaderLoginOptions> = { header: optional(text), token: aSecret, username: text };

/** Logs callers in with one shared token in a custom header, for clients that support no standard scheme. */
export function customHeaderLogin(people: AccountsFeature, options: CustomHeaderLoginOptions): Feature {
  return defineFeature({
    name: "custom-header-login",
    needs: [people],
    setUp(host) {
      requireOptions(options, checks);
      const { username, ...more } = options;
      const { accounts } = host.use(people);
      const account = () => accounts.findByConfiguredName(username);
      return { offer: null, schemes: [customHeader({ ...more, account })] };
    },
  });
}
