/**
 * Authentication and permissions: schemes, logins, accounts, keys.
 *
 * @module latchkey/auth
 */
import "./index.ts";

export { unlimited } from "../access/permission/permission.ts";
export type {
  Action,
  AllowedRows,
  Confirmation,
  Decision,
  MemberRows,
  Permission,
  PermissionRequest,
  SettledDecision,
} from "../access/permission/permission.ts";
export type { AccountsOptions } from "../features/auth/accounts/accounts.ts";
export type { AddressVerifier, Newcomer, Registration } from "../features/auth/records/verifying.ts";
export { customHeaderLogin, type CustomHeaderLoginOptions } from "../features/auth/custom-header/feature.ts";
export { issuerLogin, type IssuerLoginOptions } from "../features/auth/issuers/feature.ts";
export { identityProviders, type IdentityProvidersOptions } from "../features/auth/openid/feature.ts";
export { providersMistakes, type IdentityProviderDeclaration } from "../features/auth/openid/declaration.ts";
export type { ProviderFetch } from "../features/auth/openid/network.ts";
export { groupInvitations } from "../features/auth/invitations/feature.ts";
export { verifiedEmail } from "../features/auth/verified-email/feature.ts";
export { mountCredentials, type Admitted, type CredentialOptions } from "../features/auth/credentials/credentials.ts";
export { namedKeys } from "../features/auth/keys/feature.ts";
export { remoteUserLogin, type RemoteUserLoginOptions } from "../features/auth/remote-user/feature.ts";
export { mailbox, type MailboxOptions } from "../features/auth/mailbox/feature.ts";
export {
  MAIL_PROOF_USED,
  type GivenProof,
  type Mailbox,
  type MailRequest,
  type Purpose,
  type PurposeDeclaration,
  type RedeemedProof,
} from "../features/auth/mailbox/contract.ts";
export { requireUnused } from "../features/auth/mailbox/proofs.ts";
export { mailLogin } from "../features/auth/mail-login/feature.ts";
export { passwordReset } from "../features/auth/password-reset/feature.ts";
export { passkeys, type PasskeyOptions } from "../features/auth/passkeys/feature.ts";
export { totp, type TOTPOptions } from "../features/auth/totp/feature.ts";
export type { SessionLogin, SessionLoginOptions } from "../features/auth/session/feature.ts";
export type { TokenLogin, TokenLoginOptions } from "../features/auth/tokens/feature.ts";
export type { AccountsFeature, LoginOptions, People } from "../features/auth/people/people.ts";
export type { AccountsContract, DeclaredNames, NewUser } from "../features/auth/people/contracts/accounts.ts";
export type { ChangingContract, NewPassword } from "../features/auth/people/contracts/changing.ts";
export type { ConfirmingContract } from "../features/auth/people/contracts/confirming.ts";
export type { EndingsContract, LoginSource } from "../features/auth/people/contracts/endings.ts";
export type { FactorsContract } from "../features/auth/people/contracts/factors.ts";
export type { LoginBody, LoginsContract } from "../features/auth/people/contracts/logins.ts";
export {
  callerField,
  callerFields,
  defineUsers,
  hasRole,
  sameAs,
  type DefinedUsers,
} from "../features/auth/records/caller-fields.ts";
export {
  ownUserFieldsMistakes,
  type OwnUserFields,
  type ShownUser,
  type Users,
  type UsersMount,
} from "../features/auth/records/users.ts";
export { sharesGroup, type SharesGroupOptions } from "../features/auth/teams/shares-group.ts";
export { memberOf, type MemberOfOptions, type MembershipValues } from "../features/auth/teams/member-of.ts";
export type { Admission } from "../features/auth/gate/admission.ts";
export type {
  Beginning,
  BeginningOptions,
  Current,
  Enrolment,
  FactorAnswer,
  FactorKind,
  FactorSuccess,
  FindOutsideConfirmations,
  FirstProof,
  FirstProofBody,
  FirstStep,
  HeldLogin,
  RemovedLoginMethod,
  LoginAttempt,
  MailStep,
  Notice,
  Notify,
  OtherLogin,
  OutsideLogin,
  OutsideConfirmation,
  SecondFactorRule,
  StoredFactor,
  WaitingConfirmation,
} from "../features/auth/gate/contract.ts";
export type { Actor, Level, Proof, ProofMethod } from "../core/identity.ts";
export { absent, type Carrier, type Rejection, type Verdict } from "../access/scheme/scheme.ts";
export {
  accountOf,
  accountsCollection,
  firstGeneration,
  identityOf,
  storeAccounts,
  type Account,
  type Accounts,
  type ServiceAccounts,
  type UsernameOrigin,
} from "../features/auth/records/accounts.ts";
export {
  bindingsCollection,
  storeBindings,
  type Bindings,
  type BindingsOptions,
  type MakeAccount,
  type ExternalIdentity,
} from "../features/auth/records/bindings.ts";
export {
  throttleCollections,
  loginThrottle,
  type LoginThrottle,
  type Throttle,
  type LoginThrottleOptions,
  type Probed,
} from "../access/throttle/throttle.ts";
export type { Room } from "../access/throttle/window.ts";
export {
  breachedPasswords,
  type BreachedPasswordsOptions,
  type FetchRange,
  type IsBreached,
} from "../features/auth/passwords/breached-passwords.ts";
export {
  checkNewPassword,
  makePasswords,
  type ProvedPassword,
  type Passwords,
  type PasswordsOptions,
} from "../features/auth/passwords/passwords.ts";
export type { Explanation, SchemeExplanation } from "../access/scheme/explanation.ts";
export type { PermissionExplanation, WholeExplanation } from "../http/explaining.ts";
export { requireSameSite } from "../core/call/cross-site.ts";
export { basic, type BasicOptions } from "../features/auth/basic/scheme.ts";
export { session, type SessionOptions } from "../features/auth/session/scheme.ts";
export {
  sessions,
  sessionsCollection,
  type Sessions,
  type SessionsOptions,
} from "../features/auth/session/sessions.ts";
export { token, type TokenOptions } from "../features/auth/api-tokens/scheme.ts";
export {
  storeAPITokens,
  apiTokensCollection,
  type APITokens,
  type ListedToken,
} from "../features/auth/api-tokens/tokens.ts";
export {
  storeNamedKeys,
  namedKeysCollection,
  type KeyPage,
  type ListedKey,
  type NamedKeys,
} from "../features/auth/keys/named-keys.ts";
export {
  bearer,
  bearerRefusal,
  externalBearer,
  type BearerOptions,
  type ExternalBearerOptions,
  type ExternalIssuers,
} from "../features/auth/tokens/scheme.ts";
export { externalIssuers, type ExternalIssuersOptions } from "../features/auth/issuers/scheme.ts";
export {
  defineIssuers,
  IssuersError,
  type IssuerAlgorithm,
  type IssuerDeclaration,
  type TrustedIssuer,
} from "../features/auth/issuers/declaration.ts";
export type { FetchKeys } from "../features/auth/issuers/fetch.ts";
export { accessTokens, type AccessTokens, type AccessTokensOptions } from "../features/auth/tokens/access.ts";
export {
  tokenPairs,
  type FreshAccess,
  type TokenPair,
  type TokenPairs,
  type TokenPairsOptions,
} from "../features/auth/tokens/token-pairs.ts";
export { familiesCollection } from "../features/auth/tokens/families.ts";
export { accountNotices } from "../features/auth/notices/feature.ts";
export { mergeLogins, placeOf, type ListedLogin, type LoginPage } from "../features/auth/records/logins.ts";
export { deadFamiliesCollection, refreshUsesCollection } from "../features/auth/tokens/refresh-uses.ts";
export { makeRevocations, type Revocations } from "../features/auth/records/revocation.ts";
export { revocationsCollection } from "../features/auth/records/revoked.ts";
export {
  derivedSigningKeys,
  readSigningKeys,
  SigningKeysError,
  type PublicJWK,
  type SigningKeys,
} from "../features/auth/tokens/signing-keys.ts";
export { watchSigningKeys, type WatchedKeysOptions } from "../features/auth/tokens/signing-watched-keys.ts";
export { readProxyText, remoteUser, type RemoteUserOptions } from "../features/auth/remote-user/scheme.ts";
export { customHeader, type CustomHeaderOptions } from "../features/auth/custom-header/scheme.ts";
export type { IdentityFields, Role } from "../core/identity.ts";
export { opaqueTokenPattern, parseOpaqueToken, type OpaqueToken } from "../core/crypto/opaque-token.ts";
export { isKnownFormat, parsePasswordCost, type PasswordCost } from "../core/crypto/password-hash.ts";
