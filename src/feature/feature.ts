import type { Scheme, AssuranceCheck } from "../access/scheme/scheme.ts";
import type { LoginThrottle } from "../access/throttle/throttle.ts";
import type { Arrival, Call } from "../core/call/call.ts";
import type { Only } from "../core/checking/members.ts";
import { made } from "../core/copy.ts";
import type { Secret } from "../core/crypto/secret.ts";
import type { Eventually } from "../core/eventually.ts";
import type { Look } from "../core/html/look.ts";
import type { MetricFamily } from "../core/measurement.ts";
import type { Observer } from "../core/observation.ts";
import type { ProblemDefinition } from "../core/problem/catalogue.ts";
import type { Tracer } from "../core/tracer.ts";
import type { Answer } from "../http/answer/writing.ts";
import type { Endpoint } from "../http/declarations/endpoint.ts";
import type { Mount, ServedMount } from "../http/declarations/mount.ts";
import type { WholeExplanation } from "../http/explaining.ts";
import type { Alongside } from "../http/request/alongside.ts";
import type { ScopesAllow } from "../http/request/core.ts";
import type { Format } from "../http/request/format.ts";
import type { RequestLimiter } from "../http/request/limiting.ts";
import type { Change, Collection, Store } from "../store/store.ts";

/**
 * A capability of a service: a login method, an audit trail, a page. A service is a list of features, and
 * `createService` sets up each of them once. A feature has no state, so several services can share one value.
 */
export interface Feature<Offer = unknown> {
  /** Lower-case words joined by hyphens. The messages of the start use this name. */
  readonly name: string;
  /**
   * The features that this feature uses: the values, not their names. Each of them must also be in the service's list,
   * at any position.
   */
  readonly needs: readonly Feature[];
  /**
   * Makes the parts of the feature for one service, before the store is open. The first reads and writes belong into
   * `start`.
   */
  setUp(host: Host): Parts<Offer>;
}

/** The endpoints, tables and schemes of a feature, or of a service in addition to its features. */
export interface ServiceParts {
  /** The login methods, as a set: their order never changes a response. */
  readonly schemes?: readonly Scheme[];
  readonly mounts?: readonly Mount[];
  readonly endpoints?: readonly Endpoint[];
  /** The formats, in addition to JSON, which is the default, and XML. A format for `application/xml` replaces XML. */
  readonly formats?: readonly Format[];
  /** The tables that belong to no resource: sessions, tokens, accounts. */
  readonly collections?: readonly Collection[];
}

/** The parts that a feature adds to a service. */
export interface Parts<Offer = unknown> extends ServiceParts {
  /** The value that other features and custom code get from `use(feature)`. */
  readonly offer: Offer;
  /** The fields of users that the feature adds to `identity.fields`, for permissions that read them. */
  readonly identity?: readonly string[];
  /** The roles that users can have. If a permission requires another role, the service does not start. */
  readonly roles?: readonly string[];
  /** Decides what a credential with limited scopes may request at all, in the whole service. */
  readonly scopesAllow?: ScopesAllow;
  /**
   * Decides whether an accepted credential is enough for its account. At most one feature may have it, usually
   * `accounts()`.
   */
  readonly standing?: AssuranceCheck;
  /** Decides whether there are too many requests. */
  readonly limiter?: RequestLimiter;
  /**
   * Explanations of the tags of the feature's endpoints, for the API's documentation. If several features explain a
   * tag, the first one counts.
   */
  readonly tags?: Readonly<Record<string, string>>;
  /** The look of all pages, with the name of the service. If several features have a look, the first one counts. */
  readonly look?: Look;
  /** Additional login methods that the login page shows, for example one for each identity provider. */
  readonly loginLinks?: readonly LoginLink[];
  /**
   * Finds the user of a link in a mail, for the page that the link leads to. If several features find a user, the first
   * one counts.
   */
  readonly findLinkUser?: FindLinkUser;
  /**
   * The pages on which people log in and manage their accounts. If several features have such pages, those of the first
   * one count.
   */
  readonly pages?: AccountPages;
  /**
   * Returns the endpoints of invitations, for the mounts with `invitations: true`. Called once, after every feature is
   * set up, if there are such mounts. If several features have it, the service does not start.
   */
  readonly endpointsOfInvitations?: (mounts: readonly Mount[]) => readonly Endpoint[];
  /** Problems that the feature throws in any operation. The API's documentation lists them for every operation. */
  readonly problems?: readonly ProblemDefinition[];
  /**
   * Returns changes for the transaction of every write of a mounted resource. The changes and the write commit together
   * or not at all.
   */
  readonly alongside?: Alongside;
  /** Receives all observations of the service. Must not throw and must not wait. */
  readonly observe?: Observer;
  /**
   * Returns the mistakes of this feature that depend on the other parts, each with the fix: for example, a path that is
   * not served. The start reports them together with all other mistakes.
   */
  mistakes?(all: Assembled): readonly string[];
  /**
   * Returns the feature's metrics. If the function throws or returns an invalid value, the metrics are left out, and
   * the log names the feature.
   */
  readonly measure?: () => readonly MetricFamily[];
  /** The deletion of expired data, and its interval. */
  readonly upkeep?: readonly Upkeep[];
  /**
   * Runs before the first request, after the `start` of the features that this one needs. An error stops the start of
   * the service.
   */
  start?(): Eventually<void>;
  /**
   * Runs after the last request, before the `stop` of the features that this one needs. Called only if `start` has
   * succeeded.
   */
  stop?(): Eventually<void>;
}

/** A login method that begins with a link or a button of the login page. */
export interface LoginLink {
  /** The text of the button. */
  readonly title: string;
  /**
   * A path of the service, without the base path and without a query: `/api/login/company/start`. The page adds the
   * parameter `next`: the page to show after the login, with the base path.
   */
  readonly href: string;
}

/** The paths of the pages on which people log in and manage their accounts, without the base path. */
export interface AccountPages {
  /** Shows every login method. Takes the parameter `next`: the page to show after the login, with the base path. */
  readonly login: string;
  /** Asks for the second factor of a login. Takes `next` too. */
  readonly factor: string;
  readonly signup: string;
  /** Sends a mail to a user who forgot the password. */
  readonly forgot: string;
  /** Sets a new password. Takes the parameter `token`. */
  readonly reset: string;
  /** Confirms an e-mail address. Takes the parameter `token`. */
  readonly verify: string;
  /** Accepts an invitation to a group. Takes the parameter `token`. Default: `/invitation`. */
  readonly invitation?: string;
}

/**
 * Finds the user of a link that leads to a page of accounts, so that a password manager stores the new password under
 * the right name. Returns null for a link of another page, and for a link that is wrong, used or expired. It must not
 * use the link up or count a try.
 */
export type FindLinkUser = (link: MailLink) => Promise<LinkUser | null>;

/** A link in a mail that a caller opens. */
export interface MailLink {
  /** The page that the link leads to. */
  readonly page: keyof AccountPages;
  readonly token: string;
  /** The request that shows the page. */
  readonly call: Call;
}

/** The user of a valid link in a mail. */
export interface LinkUser {
  /** The name for the login. */
  readonly username: string;
  /** True if the user does not exist yet, and may choose another username with the link. */
  readonly isNew: boolean;
  /** The name of a person who signs up, for a greeting. */
  readonly name?: string;
}

/** The combined parts of all features. */
export type Assembled = Required<ServiceParts>;

/** Deletes expired data. */
export interface Upkeep {
  /** The interval in seconds: a whole number from 1. */
  readonly everySeconds: number;
  /**
   * Returns the changes that delete the data that has expired at `now` (milliseconds since the epoch). If all changes
   * are `deleteAll` or `updateAll`, each one is applied to some rows at a time until none is left, so that no other
   * write waits long. An `updateAll` must change the values that its `where` compares, or it never ends. If there is
   * any other change, all changes are one transaction.
   */
  due(now: number): readonly Change[];
}

/** The environment in which a feature is set up. */
export interface Host {
  readonly store: Store;
  /**
   * The service's secret. If there is none, reading it throws a `DeclarationError`. The start reports it with the
   * feature's name.
   */
  readonly secret: Secret;
  /** The public name of the service. */
  readonly name: string;
  /** The path prefix of the service, without a final slash. Empty for the root. */
  readonly basePath: string;
  readonly throttle: LoginThrottle;
  /** The exact origins of the service itself. */
  readonly ownOrigins: readonly string[];
  readonly observe: Observer;
  /** Traces requests and their parts. Null if there is no tracer. Calls of `store` are already traced. */
  readonly tracer: Tracer | null;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns the offer of a feature that this feature needs. */
  use<Offer>(feature: Feature<Offer>): Offer;
  /**
   * Returns the facts about the whole service. Call it in handlers, `start` and `stop`. In `setUp`, it throws a
   * `DeclarationError`.
   */
  service(): ServiceFacts;
}

/** The content of a service, for features that describe or measure it. */
export interface ServiceFacts extends Required<Omit<ServiceParts, "collections">> {
  /**
   * True if a feature decides whether an accepted credential is enough for its account: a request may then end in 401
   * `factor_required`.
   */
  readonly asksForFactors: boolean;
  /** True if the service has the built-in XML format. A custom format for `application/xml` replaces it. */
  readonly xml: boolean;
  readonly tags: Readonly<Record<string, string>>;
  /** The look of pages. Null if no feature has one. */
  readonly look: Look | null;
  /** The additional login methods, from all features. */
  readonly loginLinks: readonly LoginLink[];
  /** Finds the user of a link in a mail, from the features that send such links. */
  readonly findLinkUser: FindLinkUser;
  /** The pages of accounts. Null if no feature has them. */
  readonly pages: AccountPages | null;
  /** Returns the mounts, each linked to its parent and to the mounts that it refers to. */
  servedMounts(): readonly ServedMount[];
  /** The problems that are not in the catalogue. */
  readonly problems: readonly ProblemDefinition[];
  /** Returns the number of requests in progress. */
  inFlight(): number;
  /**
   * Returns how far the machine's clock is ahead of the database's clock, in milliseconds. The service uses the
   * database's clock. 0 if they are the same clock.
   */
  clockAheadMs(): number;
  /** Returns the metrics of the features. */
  measure(): readonly MetricFamily[];
  /** Answers a request like a binding: with limits, permissions and a line in the log. */
  respond(arrival: Arrival): Eventually<Answer>;
  /**
   * Explains the result of the schemes for a request, and the decision of its endpoint's permission. It has no other
   * effect and counts no wrong credential, so let only known callers use it.
   */
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

/** The declaration of a feature: the input of `defineFeature`. */
export interface FeatureDeclaration<P extends Parts> extends Omit<Feature, "needs" | "setUp"> {
  readonly needs?: readonly Feature[];
  /**
   * Makes the parts of the feature for one service, before the store is open. The first reads and writes belong into
   * `start`.
   */
  setUp(host: Host): Only<P, Parts>;
}
