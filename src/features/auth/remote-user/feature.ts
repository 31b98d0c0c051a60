import { aBoolean, aLevel, optional, text } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { aSecret, type Secret } from "../../../core/crypto/secret.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import type { AccountsFeature } from "../login.ts";
import { createRemoteUser } from "./newcomers.ts";
import { remoteUser } from "./scheme.ts";

/** Options of `remoteUserLogin()`: what the proxy says, and how it proves that it is the proxy. */
export interface RemoteUserLoginOptions {
  /** The header with the name, from a trusted proxy; `X-Remote-User` where it is left out. */
  readonly header?: string;
  /** What the proxy has to send in `X-Remote-User-Secret`; nothing where it is left out. */
  readonly secret?: Secret;
  /** 2: the proxy has checked a second factor, which satisfies accounts that need one. Default: 1. */
  readonly level?: 1 | 2;
  /** Users whom only the proxy knows are made, with the e-mail that it sends. */
  readonly create?: boolean;
}

const checks: ChecksOf<RemoteUserLoginOptions> = {
  header: optional(text),
  secret: optional(aSecret),
  create: optional(aBoolean),
  level: optional(aLevel),
};

/** The user that a trusted proxy has already identified. The service's `trustedProxies` say which those are. */
export function remoteUserLogin(people: AccountsFeature, options: RemoteUserLoginOptions = {}): Feature {
  return defineFeature({
    name: "remote-user-login",
    needs: [people],
    setUp(host) {
      requireOptions(options, checks);
      const { create = false, ...more } = options;
      const offered = host.use(people);
      offered.takeOutsideLogins();
      const making = create ? { create: createRemoteUser(offered) } : {};
      return { offer: null, schemes: [remoteUser({ ...more, ...making, bindings: offered.bindings })] };
    },
  });
}
