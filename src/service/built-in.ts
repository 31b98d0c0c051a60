import type { AccountsFeature } from "../door/auth.ts";
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
  "issuer-login",
  "remote-user-login",
  "custom-header-login",
] as const;

/** What a config file may leave out, by its name in `without`: built-in features, and XML. */
export const optionalFeatures = [...besides, ...logins, "xml"] as const;

export type OptionalFeature = (typeof optionalFeatures)[number];

/** What the ready-made service is a list of: for features of one's own that need some of them. */
export interface BuiltIn extends Readonly<Record<(typeof besides)[number], Feature>> {
  /** Users and their accounts, which ways of logging in need. */
  readonly accounts: AccountsFeature;
  readonly health: Feature<Health>;
  readonly metrics: Feature<MetricsOffer>;
}
