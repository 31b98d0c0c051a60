import type { Scheme, Standing } from "../access/scheme/scheme.ts";
import type { LoginThrottle } from "../access/throttle/throttle.ts";
import type { Arrival } from "../core/call/call.ts";
import type { Only } from "../core/checking/members.ts";
import { made } from "../core/copy.ts";
import type { Secret } from "../core/crypto/secret.ts";
import type { Eventually } from "../core/eventually.ts";
import type { Look } from "../core/html/look.ts";
import type { MetricFamily } from "../core/measurement.ts";
import type { Observer } from "../core/observation.ts";
import type { ProblemDefinition } from "../core/problem/definition.ts";
import type { Tracer } from "../core/tracer.ts";
import type { Alongside } from "../http/alongside.ts";
import type { Answer } from "../http/answer/writing.ts";
import type { ScopesAllow } from "../http/core.ts";
import type { Endpoint } from "../http/endpoint/endpoint.ts";
import type { WholeExplanation } from "../http/explaining.ts";
import type { Format } from "../http/formats/format.ts";
import type { RequestLimiter } from "../http/limiting/limiting.ts";
import type { Mount } from "../http/mount/mount.ts";
import type { Change, Collection, Store } from "../store/store.ts";

/**
 * Something that a service can do: a way of logging in, an audit trail, a page. A service is a list of features, and `createService`
 * sets up each of them once. A feature keeps no state of its own, so one value may stand in several services.
 */
export interface Feature<Offer = unknown> {
  /** Lower-case words joined by hyphens; the messages of the start call it by this name. */
  readonly name: string;
  /** The features that it uses, by value. Each of them must stand in the list too, anywhere. */
  readonly needs: readonly Feature[];
  /** Makes its parts for one service. Before the store is open: what has to be read or written first belongs into `start`. */
  setUp(host: Host): Parts<Offer>;
}

/** What stands at addresses and in tables, with the ways of saying who asks: of a feature, or of a service beside its features. */
export interface ServiceParts {
  /** The ways of logging in, as a set: their order never changes an answer. */
  readonly schemes?: readonly Scheme[];
  readonly mounts?: readonly Mount[];
  readonly endpoints?: readonly Endpoint[];
  /** Besides JSON, which is the default, and XML; one for `application/xml` takes its place. */
  readonly formats?: readonly Format[];
  /** Tables that are no resource's: sessions, tokens, accounts. */
  readonly collections?: readonly Collection[];
}

/** What a feature adds to a service. */
export interface Parts<Offer = unknown> extends ServiceParts {
  /** What other features and one's own code get from `use(feature)`. */
  readonly offer: Offer;
  /** The fields of users that it puts into `identity.fields`, for permissions that look at them. */
  readonly identity?: readonly string[];
  /** The roles that its users can have: a permission that asks for another role stops the start. */
  readonly roles?: readonly string[];
  /** What a credential that is limited to scopes may ask for at all, in the whole service. */
  readonly scopesAllow?: ScopesAllow;
  /** Decides whether an accepted credential is enough for its account. At most one feature may have it: `accounts()` does. */
  readonly standing?: Standing;
  /** Says which requests are too many. */
  readonly limiter?: RequestLimiter;
  /** What the API's documentation says of the tags of its endpoints; the first who explains one counts. */
  readonly tags?: Readonly<Record<string, string>>;
  /** How pages look and what the service is called there, also on those of other features; the first who says so counts. */
  readonly look?: Look;
  /** Problems that no endpoint and no mount of it names. The API's documentation describes them at every operation. */
  readonly problems?: readonly ProblemDefinition[];
  /** Changes that belong into the transaction of every write of a mounted resource: written together, or not at all. */
  readonly alongside?: Alongside;
  /** Hears everything that happens in the service. Must not throw and must not wait. */
  readonly observe?: Observer;
  /** What is wrong with it beside all the others, each with its cure: a place that nobody serves, for one. Told with everything else that stops the start. */
  mistakes?(all: Assembled): readonly string[];
  /** What it measures of itself, for whoever tells it on. Where it throws, or gives what is no metric, that is left out and told in the log with the feature's name. */
  readonly measure?: () => readonly MetricFamily[];
  /** What has run out, and how often it is looked for. */
  readonly upkeep?: readonly Upkeep[];
  /** Before the first request, after the features that it needs. Whatever it throws stops the start. */
  start?(): Eventually<void>;
  /** After the last request, before the features that it needs. Called where `start` has succeeded. */
  stop?(): Eventually<void>;
}

/** What all features have put together. */
export type Assembled = Required<ServiceParts>;

/** Erases what has run out. */
export interface Upkeep {
  /** How often it is looked for: a whole number from 1. */
  readonly everySeconds: number;
  /**
   * The changes that erase it, for what has run out by `now` (milliseconds since the epoch). Where all of them are `deleteAll` and
   * `updateAll`, each is made some rows at a time, until none is left, so that no write waits long behind it: an `updateAll` has to change
   * what it looks for. Any others are one transaction.
   */
  due(now: number): readonly Change[];
}

/** What a feature is set up in. */
export interface Host {
  readonly store: Store;
  /** The service's own secret. Reading it where the service was given none is a mistake that stops the start and names the feature. */
  readonly secret: Secret;
  /** What callers are told that the service is called. */
  readonly name: string;
  /** The path below which everything is served, without a slash at its end; empty for the root. */
  readonly basePath: string;
  readonly throttle: LoginThrottle;
  /** Exact origins under which the service is itself known. */
  readonly ownOrigins: readonly string[];
  readonly observe: Observer;
  /** Follows requests through their parts; null where nobody does. Its view of the store is in `store` already. */
  readonly tracer: Tracer | null;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** What a feature offers that this one needs. */
  use<Offer>(feature: Feature<Offer>): Offer;
  /** The whole service, once every feature is set up: for handlers, `start` and `stop`. */
  service(): ServiceFacts;
}

/** What a service consists of, for those who describe or measure it. */
export interface ServiceFacts extends Required<Omit<ServiceParts, "collections">> {
  /** Whether it speaks XML beside these, if none of them does. */
  readonly xml: boolean;
  readonly tags: Readonly<Record<string, string>>;
  /** How pages look; null where nobody says. */
  readonly look: Look | null;
  /** Those that are not in the catalogue. */
  readonly problems: readonly ProblemDefinition[];
  /** How many requests are being answered. */
  inFlight(): number;
  /** How far the machine's clock is ahead of the database's, which is used in its place, in milliseconds; 0 where they are one. */
  clockAheadMs(): number;
  /** What the features measure of themselves. */
  measure(): readonly MetricFamily[];
  /** Answers a request, as a binding asks: with its limits, its permissions and its line in the log. */
  respond(arrival: Arrival): Eventually<Answer>;
  /** What the schemes make of a request, and what the permission of its endpoint says. Nothing else happens, and no guess is counted: for callers who are known. */
  explain(arrival: Arrival): Promise<WholeExplanation>;
}

/**
 * Declares a feature.
 *
 * @example
 * ```ts
 * import { anyone, defineFeature } from "latchkey";
 *
 * export const clock = defineFeature({
 *   name: "clock",
 *   setUp: ({ now }) => ({
 *     offer: { now },
 *     endpoints: [{ method: "GET", path: "/clock", access: anyone, handle: () => ({ status: 204 }) }],
 *   }),
 * });
 * ```
 */
export function defineFeature<P extends Parts>(feature: FeatureDeclaration<P>): Feature<P["offer"]>;
export function defineFeature(feature: FeatureDeclaration<Parts>): Feature {
  return Object.freeze(made({ needs: [], ...feature }));
}

/** A feature, as its author writes it. */
export interface FeatureDeclaration<P extends Parts> extends Omit<Feature, "needs" | "setUp"> {
  readonly needs?: readonly Feature[];
  /** Makes its parts for one service. Before the store is open: what has to be read or written first belongs into `start`. */
  setUp(host: Host): Only<P, Parts>;
}
