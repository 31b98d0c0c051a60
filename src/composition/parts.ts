import type { AssuranceCheck } from "../access/scheme/scheme.ts";
import type { LoginThrottle } from "../access/throttle/throttle.ts";
import { DeclarationError } from "../core/checking/declaration-error.ts";
import { describeType } from "../core/checking/members.ts";
import type { Observer } from "../core/observation.ts";
import { collectProblems } from "../feature/clashes.ts";
import { combineLists, type Composition } from "../feature/composition.ts";
import type { Parts, ServiceFacts, ServiceParts } from "../feature/feature.ts";
import { makeMeasuring } from "../feature/measuring.ts";
import type { NamedUpkeep } from "../feature/upkeep.ts";
import type { ScopesAllow } from "../http/request/core.ts";

/** The facts of a service that do not come from the parts of its features. */
type FactsOutsideParts = Pick<
  ServiceFacts,
  "xml" | "servedMounts" | "inFlight" | "clockAheadMs" | "respond" | "explain"
>;

/** Returns the parts of the service itself, which belong to no feature. */
export function ownParts({
  schemes = [],
  mounts = [],
  endpoints = [],
  formats = [],
  collections = [],
}: ServiceParts): Parts {
  return { offer: null, schemes, mounts, endpoints, formats, collections };
}

/** Returns the upkeep of all features and of the throttle. */
export function collectUpkeep({ inOrder }: Composition, throttle: LoginThrottle): readonly NamedUpkeep[] {
  return [
    { everySeconds: 60, due: (time) => throttle.due?.(time) ?? [] },
    ...inOrder.flatMap(({ feature: { name }, parts: { upkeep = [] } }) =>
      upkeep.map((each) => ({ ...each, feature: name })),
    ),
  ];
}

/** Returns the facts about a service. */
export function buildFacts(
  all: readonly Parts[],
  { inOrder }: Composition,
  { observe, ...otherFacts }: FactsOutsideParts & { readonly observe: Observer },
): ServiceFacts {
  const { collections: _, ...lists } = combineLists(all);
  const measuring = makeMeasuring(observe);
  return {
    ...otherFacts,
    ...lists,
    tags: Object.assign({}, ...all.map(({ tags = {} }) => tags).toReversed()) as Readonly<Record<string, string>>,
    asksForFactors: all.some(({ standing }) => standing !== undefined),
    look: all.find(({ look }) => look !== undefined)?.look ?? null,
    loginLinks: all.flatMap(({ loginLinks = [] }) => loginLinks),
    async findLinkUser(link) {
      for (const { findLinkUser } of all) {
        const user = (await findLinkUser?.(link)) ?? null;
        if (user !== null) return user;
      }
      return null;
    },
    pages: all.find(({ pages }) => pages !== undefined)?.pages ?? null,
    problems: [...new Set(all.flatMap(collectProblems))],
    measure() {
      const taken = new Set<string>();
      return inOrder.flatMap(({ feature: { name }, parts: { measure } }) =>
        measure === undefined ? [] : measuring(`feature ${name}: measure`, measure, taken),
      );
    },
  };
}

/** Returns the combination of all limits on scopes. Null if there are none. */
export function joinScopeLimits(all: readonly Pick<Parts, "scopesAllow">[]): ScopesAllow | null {
  const rules = all.flatMap((parts) => parts.scopesAllow ?? []);
  return rules.length === 0 ? null : (scopes, method) => rules.every((allow) => isYes(allow(scopes, method)));
}

/**
 * Returns the function that decides whether an accepted credential is enough for its account. Returns null if no
 * feature has one. Throws `DeclarationError` if several features have one.
 */
export function findAssuranceCheck(all: readonly Pick<Parts, "standing">[]): AssuranceCheck | null {
  const [standing, ...others] = all.flatMap((parts) => parts.standing ?? []);
  if (others.length > 0)
    throw new DeclarationError([
      "two features decide whether a credential is enough for its account; leave one of them out",
    ]);
  return standing ?? null;
}

/** Requires a boolean, because a promise of false would count as true. */
function isYes(answer: unknown): boolean {
  if (typeof answer === "boolean") return answer;
  if (answer instanceof Promise) answer.catch(() => undefined);
  throw new TypeError(`scopesAllow gave ${describeType(answer)}; it has to give true or false at once`);
}

export function requireFacts({ facts }: { readonly facts?: ServiceFacts }): ServiceFacts {
  if (facts !== undefined) return facts;
  throw new DeclarationError([
    "the service exists only after every feature is set up; read it in a handler, in start or in stop",
  ]);
}
