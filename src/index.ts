// The public door. The service in src/service uses nothing else.
import "./node-version.ts";

export { createService, type Service, type ServiceOptions } from "./create-service.ts";
export type { ExplainedList } from "./http/mount/explaining.ts";
export {
  defineFeature,
  type Feature,
  type Host,
  type Parts,
  type ServiceFacts,
  type Upkeep,
} from "./feature/feature.ts";

export { nearest, shownName } from "./checking/nearest.ts";
export { boolean, dateTime, decimal, email, enumeration, integer, json, reference, text } from "./resource/fields.ts";
export type { DecimalOptions, IntegerOptions, ReferenceOptions, TextOptions } from "./resource/fields.ts";
export { standard, type StandardOptions, type StandardSchema } from "./resource/standard.ts";
export {
  caller,
  defineField,
  Flaw,
  type FlawPart,
  type DraftContext,
  type Field,
  type FieldOptions,
  type Kind,
} from "./resource/field.ts";
export {
  DeclarationError,
  defineResource,
  type ColumnOf,
  type DraftOf,
  type Fields,
  type RecordOf,
  type Resource,
  type ResourceDeclaration,
  type StoredOf,
} from "./resource/resource.ts";
export type { Draft } from "./resource/draft.ts";

export {
  mount,
  type Mount,
  type MountInPlace,
  type MountOptions,
  type PermissionsOf,
  type Prepared,
  type ResourceAction,
  type Write,
  type Written,
} from "./http/mount/mount.ts";
export type { ActionResult, CollectionAction, CollectionCall, RecordAction, RecordCall } from "./http/mount/action.ts";
export { requireDraft, type Target } from "./http/mount/drafting.ts";
export { repeatCountsCollection } from "./http/mount/idempotency.ts";
export { readRecord, updateRecord } from "./http/mount/endpoints.ts";
export { declarationMistakes, type Declared } from "./http/declared.ts";
export { defineEndpoint, type Endpoint, type EndpointDocumentation } from "./http/endpoint.ts";
export { invalid, type Context } from "./http/exchange.ts";
export type { EndpointFacts, Method, ReceivedBody, Refusal } from "./http/facts.ts";
export { Call, type Arrival, type Body, type Cacheability, type Client, type Reply } from "./http/call.ts";
export type { Answer } from "./http/writing.ts";
export { formType } from "./http/formats/form.ts";
export { prefersRedirect } from "./http/pipeline.ts";
export type { DataBody, Format, ProblemDocument, ReadBody } from "./http/formats/format.ts";

export {
  administrator,
  allOf,
  anyOf,
  anyone,
  authenticated,
  nobody,
  not,
  owner,
  readOnly,
  scope,
  self,
  unlimited,
} from "./permission/permission.ts";
export type { Action, Decision, Permission, PermissionRequest } from "./permission/permission.ts";

export { accounts, type AccountsOptions } from "./login/accounts/accounts.ts";
export { apiTokens } from "./login/api-tokens/api-tokens.ts";
export { basicLogin } from "./login/basic/basic.ts";
export { customHeaderLogin, type CustomHeaderLoginOptions } from "./login/custom-header/custom-header.ts";
export { issuerLogin, type IssuerLoginOptions } from "./login/issuers/issuers.ts";
export { namedKeys } from "./login/keys/keys.ts";
export { remoteUserLogin, type RemoteUserLoginOptions } from "./login/remote-user/remote-user.ts";
export { sessionLogin, type SessionLogin, type SessionLoginOptions } from "./login/session/session.ts";
export { tokenLogin, type TokenLogin, type TokenLoginOptions } from "./login/tokens/tokens.ts";
export type { AccountsFeature, LoginOptions, LoginSource, NewUser, People } from "./login/login.ts";
export {
  ownUserFieldsMistakes,
  type OwnUserFields,
  type ShownUser,
  type Users,
  type UsersMount,
} from "./login/users.ts";

export { absent, accepted, rejected, type Carrier, type Rejection, type Scheme, type Verdict } from "./auth/scheme.ts";
export {
  accountOf,
  accountsCollection,
  firstGeneration,
  identityOf,
  storeAccounts,
  type Account,
  type Accounts,
  type UsernameOrigin,
} from "./auth/accounts.ts";
export {
  bindingsCollection,
  storeBindings,
  type Bindings,
  type BindingsOptions,
  type MakeAccount,
  type OutsideIdentity,
} from "./auth/bindings.ts";
export {
  guessingCollections,
  makeGuessing,
  type AccountGuessing,
  type Guessing,
  type GuessingOptions,
  type Look,
  type Probed,
} from "./auth/guessing.ts";
export {
  breachedPasswords,
  type BreachedPasswordsOptions,
  type FetchRange,
  type IsBreached,
} from "./auth/breached-passwords.ts";
export { checkNewPassword, makePasswords, type Passwords, type PasswordsOptions } from "./auth/passwords.ts";
export type { Explanation, SchemeExplanation } from "./auth/explanation.ts";
export { isUnsafe, requireSameSite } from "./auth/cross-site.ts";
export {
  isTrusted,
  parseTrustedProxies,
  requireTrustedProxies,
  type TrustedProxies,
  type TrustedProxySetting,
} from "./auth/trusted-proxies.ts";
export { basic, type BasicOptions } from "./auth/basic/basic.ts";
export { session, type SessionOptions } from "./auth/session/session.ts";
export { sessions, sessionsCollection, type Sessions, type SessionsOptions } from "./auth/session/sessions.ts";
export { token, type TokenOptions } from "./auth/token/token.ts";
export { storeAPITokens, apiTokensCollection, type APITokens, type ListedToken } from "./auth/token/api-tokens.ts";
export { storeNamedKeys, namedKeysCollection, type ListedKey, type NamedKeys } from "./auth/token/named-keys.ts";
export { bearer, bearerRefusal, outsideBearer, type BearerOptions } from "./auth/bearer/bearer.ts";
export { outsideIssuers, type OutsideIssuers, type OutsideIssuersOptions } from "./auth/bearer/issuers.ts";
export {
  defineIssuers,
  IssuersError,
  type IssuerAlgorithm,
  type IssuerDeclaration,
  type TrustedIssuer,
} from "./auth/bearer/issuers-declaration.ts";
export type { FetchKeys } from "./auth/bearer/issuers-fetch.ts";
export { accessTokens, type AccessTokens, type AccessTokensOptions } from "./auth/bearer/access.ts";
export {
  tokenPairs,
  type FreshAccess,
  type TokenPair,
  type TokenPairs,
  type TokenPairsOptions,
} from "./auth/bearer/token-pairs.ts";
export { familiesCollection } from "./auth/bearer/families.ts";
export { mergeLogins, placeOf, type ListedLogin, type LoginPage } from "./auth/logins.ts";
export { readPage, type Listing, type PageQuery, type ReadPage } from "./http/paging.ts";
export { deadFamiliesCollection, refreshUsesCollection } from "./auth/bearer/refresh-uses.ts";
export { makeRevocations, revocationsCollection, type Revocations } from "./auth/revocation.ts";
export {
  derivedSigningKeys,
  readSigningKeys,
  SigningKeysError,
  type PublicJWK,
  type SigningKeys,
} from "./auth/keys.ts";
export { watchSigningKeys, type WatchedKeysOptions } from "./auth/watched-keys.ts";
export { readProxyText, remoteUser, type RemoteUserOptions } from "./auth/remote-user/remote-user.ts";
export { customHeader, type CustomHeaderOptions } from "./auth/custom-header/custom-header.ts";
export type { Identity, Role } from "./identity.ts";

export {
  keyOf,
  MigrationNeeded,
  OVERTAKEN,
  StoreFull,
  StoreOverdue,
  StoreSetupError,
  StoreUnavailable,
} from "./store/store.ts";
export type * from "./store/store.ts";
export { isPostgresURL, serversInPlainText } from "./store/postgres/address.ts";
export { postgresStore, type PostgresStoreOptions } from "./store/postgres/postgres.ts";
export { sqliteStore, type SQLiteStoreOptions } from "./store/sqlite/sqlite.ts";
export { copyStore, CopyError, type Checked, type CopiedCount, type TellCopied } from "./store/copy.ts";
export type { Content, StoreSource, StoreTarget } from "./store/copy.ts";
export { checkPostgres, postgresCollections, postgresSource, postgresTarget } from "./store/postgres/on-demand.ts";
export {
  backupSQLite,
  checkSQLite,
  restoreSQLite,
  sqliteCollections,
  sqliteSource,
  sqliteTarget,
} from "./store/sqlite/on-demand.ts";

export { catalogue, type CatalogueEntry, type ProblemCode } from "./problem/catalogue.ts";
export { defineProblem, type AnyProblem, type ProblemDefinition } from "./problem/definition.ts";
export { Problem, problem, type Issue, type ProblemOptions } from "./problem/problem.ts";
export type { TraceContext } from "./headers/traceparent.ts";
export { formatClearedCookie, formatSetCookie, type CookieToSet } from "./headers/set-cookie.ts";
export { opaqueTokenPattern, parseOpaqueToken } from "./crypto/opaque-token.ts";
export { isKnownFormat, parsePasswordCost, type PasswordCost } from "./crypto/password-hash.ts";
export { Secret } from "./crypto/secret.ts";
export { after, type Eventually } from "./eventually.ts";
export type { Observation, Observer } from "./observation.ts";

export { listen, requestListener, type Listener, type ListenOptions } from "./bindings/node/node.ts";
export { type FetchInfo } from "./bindings/web/web.ts";
export { watchEventLoop, type EventLoopWatch } from "./ops/event-loop.ts";
export { gauge, seriesOf, type Family } from "./measurement.ts";
export { countersOf, expositionType, formatFamilies, mergeFamilies } from "./ops/exposition.ts";
export { outbox, type Outbox, type OutboxOptions } from "./outbox/outbox.ts";
export type { RecordEvent, Subscriber } from "./outbox/delivery.ts";
export type { Alongside, RecordWrite } from "./http/alongside.ts";
export { health, type Health } from "./ops/health.ts";
export { openTelemetry } from "./ops/tracing.ts";
export type { Traced, Tracer } from "./tracer.ts";
export { metrics, type MetricsOffer, type MetricsOptions } from "./ops/prometheus.ts";
export { makeMetrics, type Metrics } from "./ops/metrics.ts";
export { processFamilies } from "./ops/process.ts";
export { logSink, type LogSink } from "./ops/log-sink.ts";
export { makeLog, type Log, type LogLevel } from "./ops/log.ts";
export { parseBasePath } from "./http/base-path.ts";
export { documentation, type DocumentationOptions } from "./openapi/documentation.ts";
export {
  ifNoneMatch,
  notModified,
  objectSchema,
  orNull,
  textSchema,
  timeSchema,
  type JSONSchema,
} from "./http/documentation.ts";
export { docsPage, openapiDocument } from "./openapi/on-demand.ts";
export type { OpenAPIOptions } from "./openapi/openapi.ts";
