import type { AccountsFeature, APITokens, NamedKeys, SessionLogin, TokenLogin } from "../door/auth.ts";
import type { Health, MetricsOffer } from "../door/features.ts";
import type { Feature } from "../door/index.ts";

/** What stands beside the logins. */
const besides = ["health", "metrics", "documentation", "console", "way-in", "orders", "protected"] as const;

/** The ways of logging in. */
const logins = [
  "basic-login",
  "session-login",
  "token-login",
  "api-tokens",
  "named-keys",
  "totp",
  "passkeys",
  "issuer-login",
  "remote-user-login",
  "custom-header-login",
] as const;

/** What a config file may leave out, by its name in `without`: built-in features, and XML. */
export const optionalFeatures = [...besides, ...logins, "xml"] as const;

export type OptionalFeature = (typeof optionalFeatures)[number];

/** The ways of logging in that the service always has, on or off, with what they offer to a login of one's own. */
export interface BuiltInLogins {
  readonly "session-login": Feature<SessionLogin>;
  readonly "api-tokens": Feature<APITokens>;
  readonly "token-login": Feature<TokenLogin>;
  readonly "named-keys": Feature<NamedKeys>;
  readonly totp: Feature;
}

/** What the ready-made service is a list of: for features of one's own that need some of them. */
export interface BuiltIn extends BuiltInLogins, Readonly<Record<(typeof besides)[number], Feature>> {
  /** Users and their accounts, which ways of logging in need. */
  readonly accounts: AccountsFeature;
  readonly health: Feature<Health>;
  readonly metrics: Feature<MetricsOffer>;
}
