import {
  customHeaderLogin,
  issuerLogin,
  namedKeys,
  remoteUserLogin,
  type AccountsFeature,
  type OwnUserFields,
} from "../door/auth.ts";
import { accounts, apiTokens, basicLogin, sessionLogin, tokenLogin, type Feature } from "../door/index.ts";
import type { Settings } from "./settings/settings.ts";

/** Users and their accounts. */
export function accountsOf(settings: Settings, users: OwnUserFields = {}): AccountsFeature {
  const { registration, issuer, passwordCost, breachedPasswordsURL, outsideCredentialsSeconds } = settings;
  const looked = breachedPasswordsURL === null ? {} : { breachedPasswordsURL };
  return accounts({
    ...users,
    registration,
    issuer,
    tokenPrefix: "lk",
    passwordCost,
    outsideCredentialsSeconds,
    ...looked,
  });
}

/** The ways of logging in. What is turned off keeps its tables in order, so that nothing comes back to life with it. */
export function loginsOf(settings: Settings, people: AccountsFeature): readonly Feature[] {
  const { schemes, issuers, remoteUser, customToken, signingKeysFile } = settings;
  const isOn = (scheme: Settings["schemes"][number]): { readonly enabled: boolean } => ({
    enabled: schemes.includes(scheme),
  });
  return [
    sessionLogin(people, {
      ...isOn("session"),
      idleSeconds: settings.sessionIdleSeconds,
      lifetimeSeconds: settings.sessionSeconds,
    }),
    apiTokens(people, isOn("token")),
    tokenLogin(people, {
      ...isOn("bearer"),
      accessSeconds: settings.accessSeconds,
      refreshSeconds: settings.refreshSeconds,
      familySeconds: settings.refreshFamilySeconds,
      graceSeconds: settings.refreshGraceSeconds,
      rotates: settings.rotatesRefreshTokens,
      ...(signingKeysFile === null ? {} : { signingKeysFile }),
    }),
    namedKeys(people, isOn("token")),
    ...(schemes.includes("basic") ? [basicLogin(people)] : []),
    ...(issuers.length > 0 ? [issuerLogin(people, { issuers })] : []),
    ...(schemes.includes("remote-user") ? [remoteUserLogin(people, withoutNull(remoteUser))] : []),
    ...(customToken === null ? [] : [customHeaderLogin(people, customToken)]),
  ];
}

function withoutNull({ header, secret, create }: Settings["remoteUser"]) {
  return { header, create, ...(secret === null ? {} : { secret }) };
}
