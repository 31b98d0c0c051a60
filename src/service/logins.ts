import {
  accountNotices,
  customHeaderLogin,
  identityProviders,
  issuerLogin,
  mailLogin,
  namedKeys,
  passkeys,
  passwordReset,
  remoteUserLogin,
  totp,
  type AccountsFeature,
  type OwnUserFields,
} from "../door/auth.ts";
import { accounts, apiTokens, basicLogin, sessionLogin, tokenLogin, type Feature } from "../door/index.ts";
import type { BuiltIn, BuiltInLogins } from "./built-in.ts";
import type { Settings } from "./settings/settings.ts";

/** Returns the names of the service's cookies. Over TLS each starts with `__Host-` or `__Secure-`. */
export function cookieNames({ cookiePrefix: prefix }: Settings) {
  return {
    session: `${prefix}session`,
    access: `${prefix}access_token`,
    refresh: `${prefix}refresh_token`,
    login: `${prefix}login`,
    openID: `${prefix}oidc`,
  };
}

/** Returns the feature of users and their accounts. */
export function createAccounts(settings: Settings, users: OwnUserFields = {}): AccountsFeature {
  const { registration, issuer, passwordCost, breachedPasswordsURL, outsideCredentialsSeconds, secondFactor } =
    settings;
  const looked = breachedPasswordsURL === null ? {} : { breachedPasswordsURL };
  return accounts({
    ...users,
    registration,
    invitations: settings.mail !== null,
    issuer,
    tokenPrefix: "lk",
    passwordCost,
    outsideCredentialsSeconds,
    secondFactor,
    loginCookie: cookieNames(settings).login,
    ...looked,
  });
}

/**
 * Returns the logins that are always installed. `title` is the name of the service for people. A disabled login still
 * maintains its tables, so that no old credential becomes valid when it is enabled again.
 */
export function builtInLogins(settings: Settings, people: AccountsFeature, title: string): BuiltInLogins {
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
    totp: totp(people, { issuer: title }),
  };
}

/** The features that further logins need, and the name of the service for people. */
interface FurtherLoginsParts {
  readonly people: AccountsFeature;
  readonly sessions: BuiltInLogins["session-login"];
  readonly title: string;
}

/** Returns the logins that are installed only for some settings. */
export function furtherLogins(settings: Settings, { people, sessions, title }: FurtherLoginsParts): readonly Feature[] {
  const { schemes, issuers, identityProviders: providers, remoteUser, customToken } = settings;
  const { passkeyRpId, allowedOrigins } = settings;
  const cookies = cookieNames(settings);
  return [
    ...(schemes.includes("basic") ? [basicLogin(people)] : []),
    ...(issuers.length > 0 ? [issuerLogin(people, { issuers, cookie: cookies.access })] : []),
    ...(providers.length > 0 ? [identityProviders(people, { sessions, providers, cookie: cookies.openID })] : []),
    ...(schemes.includes("remote-user") ? [remoteUserLogin(people, withoutNull(remoteUser))] : []),
    ...(passkeyRpId === null ? [] : [passkeys(people, { rpId: passkeyRpId, rpName: title, origins: allowedOrigins })]),
    ...(customToken === null ? [] : [customHeaderLogin(people, customToken)]),
  ];
}

function withoutNull({ secret, ...rest }: Settings["remoteUser"]) {
  return { ...rest, ...(secret === null ? {} : { secret }) };
}

/** Returns the features of logins that need mail. There are none if mail is off. */
export function mailedLogins(
  { loginCodes }: Settings,
  { accounts: people, mail, mailbox }: BuiltIn,
): readonly Feature[] {
  if (mail === null || mailbox === null) return [];
  return [
    accountNotices(people, mail),
    passwordReset(people, mailbox),
    ...(loginCodes === "on" ? [mailLogin(people, mailbox)] : []),
  ];
}
