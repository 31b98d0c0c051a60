import { optional, text } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { aSecret, type Secret } from "../../../core/crypto/secret.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import type { AccountsFeature } from "../login.ts";
import { customHeader } from "./scheme.ts";

/** Options of `customHeaderLogin()`: the header, its token and whom it stands for. */
export interface CustomHeaderLoginOptions {
  /** `X-Custom-Token` where it is left out. */
  readonly header?: string;
  readonly token: Secret;
  /** Whoever knows the token acts as the account of this name; while there is none, it is nobody's. */
  readonly username: string;
}

const checks: ChecksOf<CustomHeaderLoginOptions> = { header: optional(text), token: aSecret, username: text };

/** One shared token in a header of its own, for callers that speak no standard scheme. */
export function customHeaderLogin(people: AccountsFeature, options: CustomHeaderLoginOptions): Feature {
  return defineFeature({
    name: "custom-header-login",
    needs: [people],
    setUp(host) {
      requireOptions(options, checks);
      const { username, ...more } = options;
      const { accounts } = host.use(people);
      return { offer: null, schemes: [customHeader({ ...more, account: () => accounts.findByUsername(username) })] };
    },
  });
}
