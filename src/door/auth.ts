/**
 * Who is calling, how they prove it and what they may do: schemes, logins, accounts, keys.
 *
 * @module latchkey/auth
 */
import "./index.ts";

export { unlimited } from "../permission/permission.ts";
export type { Action, Decision, Permission, PermissionRequest } from "../permission/permission.ts";
export type { AccountsOptions } from "../login/accounts/accounts.ts";
export { customHeaderLogin, type CustomHeaderLoginOptions } from "../login/custom-header/custom-header.ts";
export { issuerLogin, type IssuerLoginOptions } from "../login/issuers/issuers.ts";
export { namedKeys } from "../login/keys/keys.ts";
export { remoteUserLogin, type RemoteUserLoginOptions } from "../login/remote-user/remote-user.ts";
export type { SessionLogin, SessionLoginOptions } from "../login/session/session.ts";
export type { TokenLogin, TokenLoginOptions } from "../login/tokens/tokens.ts";
export type { AccountsFeature, LoginOptions, LoginSource, NewUser, People } from "../login/login.ts";
export { callerField, callerFields, defineUsers, hasRole, sameAs, type DefinedUsers } from "../login/caller-fields.ts";
export {
  ownUserFieldsMistakes,
  type OwnUserFields,
  type ShownUser,
  type Users,
  type UsersMount,
} from "../login/users.ts";
export { absent, type Carrier, type Rejection, type Verdict } from "../scheme/scheme.ts";
export {
  accountOf,
  accountsCollection,
  firstGeneration,
  identityOf,
  storeAccounts,
  type Account,
  type Accounts,
  type UsernameOrigin,
} from "../auth/accounts.ts";
export {
  bindingsCollection,
  storeBindings,
  type Bindings,
  type BindingsOptions,
  type MakeAccount,
  type ExternalIdentity,
} from "../auth/bindings.ts";
export {
  throttleCollections,
  loginThrottle,
  type LoginThrottle,
  type Throttle,
  type LoginThrottleOptions,
  type Look,
  type Probed,
} from "../throttle/throttle.ts";
export {
  breachedPasswords,
  type BreachedPasswordsOptions,
  type FetchRange,
  type IsBreached,
} from "../auth/breached-passwords.ts";
export { checkNewPassword, makePasswords, type Passwords, type PasswordsOptions } from "../auth/passwords.ts";
export type { Explanation, SchemeExplanation } from "../scheme/explanation.ts";
export type { PermissionExplanation, WholeExplanation } from "../http/explaining.ts";
export { requireSameSite } from "../call/cross-site.ts";
export { basic, type BasicOptions } from "../auth/basic/basic.ts";
export { session, type SessionOptions } from "../auth/session/session.ts";
export { sessions, sessionsCollection, type Sessions, type SessionsOptions } from "../auth/session/sessions.ts";
export { token, type TokenOptions } from "../auth/token/token.ts";
export { storeAPITokens, apiTokensCollection, type APITokens, type ListedToken } from "../auth/token/api-tokens.ts";
export {
  storeNamedKeys,
  namedKeysCollection,
  type KeyPage,
  type ListedKey,
  type NamedKeys,
} from "../auth/token/named-keys.ts";
export { bearer, bearerRefusal, externalBearer, type BearerOptions } from "../auth/bearer/bearer.ts";
export { externalIssuers, type ExternalIssuers, type ExternalIssuersOptions } from "../auth/bearer/issuers.ts";
export {
  defineIssuers,
  IssuersError,
  type IssuerAlgorithm,
  type IssuerDeclaration,
  type TrustedIssuer,
} from "../auth/bearer/issuers-declaration.ts";
export type { FetchKeys } from "../auth/bearer/issuers-fetch.ts";
export { accessTokens, type AccessTokens, type AccessTokensOptions } from "../auth/bearer/access.ts";
export {
  tokenPairs,
  type FreshAccess,
  type TokenPair,
  type TokenPairs,
  type TokenPairsOptions,
} from "../auth/bearer/token-pairs.ts";
export { familiesCollection } from "../auth/bearer/families.ts";
export { mergeLogins, placeOf, type ListedLogin, type LoginPage } from "../auth/logins.ts";
export { deadFamiliesCollection, refreshUsesCollection } from "../auth/bearer/refresh-uses.ts";
export { makeRevocations, revocationsCollection, type Revocations } from "../auth/revocation.ts";
export {
  derivedSigningKeys,
  readSigningKeys,
  SigningKeysError,
  type PublicJWK,
  type SigningKeys,
} from "../auth/keys.ts";
export { watchSigningKeys, type WatchedKeysOptions } from "../auth/watched-keys.ts";
export { readProxyText, remoteUser, type RemoteUserOptions } from "../auth/remote-user/remote-user.ts";
export { customHeader, type CustomHeaderOptions } from "../auth/custom-header/custom-header.ts";
export type { IdentityFields, Role } from "../identity.ts";
export { opaqueTokenPattern, parseOpaqueToken } from "../crypto/opaque-token.ts";
export { isKnownFormat, parsePasswordCost, type PasswordCost } from "../crypto/password-hash.ts";
