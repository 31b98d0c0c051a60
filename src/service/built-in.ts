import type { AccountsFeature, APITokens, Mailbox, NamedKeys, SessionLogin, TokenLogin } from "../door/auth.ts";
import type { Health, Mailer, MetricsOffer, Outbox } from "../door/features.ts";
import type { Feature } from "../door/index.ts";

/** The features in addition to the logins. */
const besides = ["health", "metrics", "documentation", "console", "way-in", "orders", "protected"] as const;

/** The login methods. */
const logins = [
  "basic-login",
  "session-login",
  "token-login",
  "api-tokens",
  "named-keys",
  "totp",
  "passkeys",
  "password-reset",
  "mail-login",
  "issuer-login",
  "identity-providers",
  "remote-user-login",
  "custom-header-login",
] as const;

/** The parts that a config file may disable by name in `without`: built-in features, and XML. */
export const optionalFeatures = [...besides, ...logins, "xml"] as const;

export type OptionalFeature = (typeof optionalFeatures)[number];

/** The built-in logins that are always installed, enabled or not. A custom login can use their parts. */
export interface BuiltInLogins {
  readonly "session-login": Feature<SessionLogin>;
  readonly "api-tokens": Feature<APITokens>;
  readonly "token-login": Feature<TokenLogin>;
  readonly "named-keys": Feature<NamedKeys>;
  readonly totp: Feature;
}

/** The features of the ready-made service, for custom features that need some of them. */
export interface BuiltIn extends BuiltInLogins, Readonly<Record<(typeof besides)[number], Feature>> {
  /** Users and their accounts. All login methods need them. */
  readonly accounts: AccountsFeature;
  readonly health: Feature<Health>;
  readonly metrics: Feature<MetricsOffer>;
  /** The one outbox of the service. It is installed if a feature needs it. */
  readonly outbox: Feature<Outbox>;
  /** Sends mails. Null if mail is off. */
  readonly mail: Feature<Mailer> | null;
  /** Proves mailboxes by links and codes. Null if mail is off. */
  readonly mailbox: Feature<Mailbox> | null;
  /** Sign-ups with a verified address, invitations and changed addresses. Null if mail is off. */
  readonly "verified-email": Feature | null;
  /** Invitations to groups (`mount(…, { invitations: true })`). Null if mail is off. */
  readonly "group-invitations": Feature | null;
}
