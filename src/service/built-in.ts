import type { Feature, Health, MetricsOffer } from "../index.ts";

/** The built-in features that a config file may leave out, by their names in `without`. */
export const optionalFeatures = ["health", "metrics", "documentation", "way-in", "orders", "protected"] as const;

export type OptionalFeature = (typeof optionalFeatures)[number];

/** What the ready-made service is a list of: for features of one's own that need some of them. */
export interface BuiltIn extends Readonly<Record<OptionalFeature, Feature>> {
  /** Users, and every way of logging in that the settings turn on. */
  readonly "logging-in": Feature;
  readonly health: Feature<Health>;
  readonly metrics: Feature<MetricsOffer>;
}
