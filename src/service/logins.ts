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

/** Returns the names of the service's cookies. Over TLS each begins with `__Host-` or `__Secure-`. */
export function cookieNames({ cookiePrefix: prefix }: Settings) {
  return {
    session: `${prefix}session`,
    access: `${prefix}access_token`,
    refresh: `${prefix}refresh_token`,
    login: `${prefix}login`,
  };
}

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
    loginCookie: cookieNames(settings).login,
    ...looked,
  });
}

/** The logins that are always there. What is turned off keeps its tables in order, so that nothing comes back to life with it. */
export function builtInLogins(settings: Settings, people: AccountsFeature): BuiltInLogins {
  const { schemes, signingKeysFile } = settings;
  const cookies = cookieNames(settings);
  const isOn = (scheme: Settings["schemes"][number]): { readonly enabled: boolean } => ({
    enabled: schemes.includes(scheme),
  });
  return {
    "session-login": sessionLogin(people, {
      ...isOn("session"),
      idleSeconds: settings.sessionIdleSeconds,
      lifetimeSeconds: settings.sessionSeconds,
      cookie: cookies.session,
    }),
    "api-tokens": apiTokens(people, isOn("token")),
    "token-login": tokenLogin(people, {
      ...isOn("bearer"),
      accessSeconds: settings.accessSeconds,
      refreshSeconds: settings.refreshSeconds,
      familySeconds: settings.refreshFamilySeconds,
      graceSeconds: settings.refreshGraceSeconds,
      rotates: settings.rotatesRefreshTokens,
      accessCookie: cookies.access,
      refreshCookie: cookies.refresh,
      ...(signingKeysFile === null ? {} : { signingKeysFile }),
    }),
    "named-keys": namedKeys(people, isOn("token")),
    totp: totp(people),
  };
}

/** The logins that only some settings ask for. */
export function furtherLogins(settings: Settings, people: AccountsFeature): readonly Feature[] {
  const { schemes, issuers, remoteUser, customToken, passkeyRpId, allowedOrigins } = settings;
  return [
    ...(schemes.includes("basic") ? [basicLogin(people)] : []),
    ...(issuers.length > 0 ? [issuerLogin(people, { issuers, cookie: cookieNames(settings).access })] : []),
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
