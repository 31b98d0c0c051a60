import type { AccountsFeature, Feature, Health, MetricsOffer } from "../index.ts";

/** The built-in features that a config file may leave out, by their names in `without`. */
export const optionalFeatures = ["health", "metrics", "documentation", "way-in", "orders", "protected"] as const;

export type OptionalFeature = (typeof optionalFeatures)[number];

/** What the ready-made service is a list of: for features of one's own that need some of them. */
export interface BuiltIn extends Readonly<Record<OptionalFeature, Feature>> {
  /** Users and their accounts, which ways of logging in need. */
  readonly accounts: AccountsFeature;
  readonly health: Feature<Health>;
  readonly metrics: Feature<MetricsOffer>;
}
