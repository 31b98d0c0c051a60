import {
  customHeaderLogin,
  issuerLogin,
  namedKeys,
  passkeys,
  remoteUserLogin,
  totp,
  type AccountsFeature,
  type OwnUserFields,
} from "../door/auth.ts";
import { accounts, apiTokens, basicLogin, sessionLogin, tokenLogin, type Feature } from "../door/index.ts";
import type { BuiltInLogins } from "./built-in.ts";
import type { Settings } from "./settings/settings.ts";

/** Users and their accounts. */
export function accountsOf(settings: Settings, users: OwnUserFields = {}): AccountsFeature {
  const { registration, issuer, passwordCost, breachedPasswordsURL, outsideCredentialsSeconds, secondFactor } =
    settings;
  const looked = breachedPasswordsURL === null ? {} : { breachedPasswordsURL };
  return accounts({
    ...users,
    registration,
    issuer,
    tokenPrefix: "lk",
    passwordCost,
    outsideCredentialsSeconds,
    secondFactor,
    ...looked,
  });
}

/** The logins that are always there. What is turned off keeps its tables in order, so that nothing comes back to life with it. */
export function builtInLogins(settings: Settings, people: AccountsFeature): BuiltInLogins {
  const { schemes, signingKeysFile } = settings;
  const isOn = (scheme: Settings["schemes"][number]): { readonly enabled: boolean } => ({
    enabled: schemes.includes(scheme),
  });
  return {
    "session-login": sessionLogin(people, {
      ...isOn("session"),
      idleSeconds: settings.sessionIdleSeconds,
      lifetimeSeconds: settings.sessionSeconds,
    }),
    "api-tokens": apiTokens(people, isOn("token")),
    "token-login": tokenLogin(people, {
      ...isOn("bearer"),
      accessSeconds: settings.accessSeconds,
      refreshSeconds: settings.refreshSeconds,
      familySeconds: settings.refreshFamilySeconds,
      graceSeconds: settings.refreshGraceSeconds,
      rotates: settings.rotatesRefreshTokens,
      ...(signingKeysFile === null ? {} : { signingKeysFile }),
    }),
    "named-keys": namedKeys(people, isOn("token")),
    totp: totp(people),
  };
}

/** The logins that only some settings ask for. */
export function furtherLogins(
  { schemes, issuers, remoteUser, customToken, passkeyRpId, allowedOrigins }: Settings,
  people: AccountsFeature,
): readonly Feature[] {
  return [
    ...(schemes.includes("basic") ? [basicLogin(people)] : []),
    ...(issuers.length > 0 ? [issuerLogin(people, { issuers })] : []),
    ...(schemes.includes("remote-user") ? [remoteUserLogin(people, withoutNull(remoteUser))] : []),
    ...(passkeyRpId === null
      ? []
      : [passkeys(people, { rpId: passkeyRpId, rpName: "Latchkey", origins: allowedOrigins })]),
    ...(customToken === null ? [] : [customHeaderLogin(people, customToken)]),
  ];
}

function withoutNull({ header, secret, create, level }: Settings["remoteUser"]) {
  return { header, create, level, ...(secret === null ? {} : { secret }) };
}
