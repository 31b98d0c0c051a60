import { customHeader } from "../../auth/custom-header/custom-header.ts";
import type { Secret } from "../../crypto/secret.ts";
import { defineFeature, type Feature } from "../../feature/feature.ts";
import type { AccountsFeature } from "../login.ts";

export interface CustomHeaderLoginOptions {
  /** `X-Custom-Token` where it is left out. */
  readonly header?: string;
  readonly token: Secret;
  /** Whoever knows the token acts as the account of this name; while there is none, it is nobody's. */
  readonly username: string;
}

/** One shared token in a header of its own, for callers that speak no standard scheme. */
export function customHeaderLogin(
  people: AccountsFeature,
  { username, ...options }: CustomHeaderLoginOptions,
): Feature {
  return defineFeature({
    name: "custom-header-login",
    needs: [people],
    setUp(host) {
      const { accounts } = host.use(people);
      return { offer: null, schemes: [customHeader({ ...options, account: () => accounts.findByUsername(username) })] };
    },
  });
}
