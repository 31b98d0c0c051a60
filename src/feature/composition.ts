import { types } from "node:util";
import { atOnce } from "../core/checking/at-once.ts";
import {
  aFunction,
  isObject,
  isText,
  matching,
  membersMistakes,
  shown,
  adviseCall,
  type ValueCheck,
} from "../core/checking/members.ts";
import { isThrown } from "../core/checking/thrown.ts";
import { otherCopiesWithin } from "../core/copy.ts";
import { aFeatureList } from "../http/declarations/checking.ts";
import { declarationMistakes } from "../http/declarations/declared.ts";
import { misplacedMounts } from "../http/mount/placing.ts";
import type { Offering } from "../http/request/core.ts";
import { DeclarationError } from "../resource/resource.ts";
import { describeClashes, missingReferences, unreadTypes, type NamedParts } from "./clashes.ts";
import { describeFault } from "./failure.ts";
import type { Assembled, Feature, Host, Parts, ServiceParts } from "./feature.ts";
import { invitationFeatures, withInvitations } from "./inviting.ts";
import { partsMembers } from "./parts-checks.ts";
import { permissionMistakes } from "./permitted.ts";
import { revealMistakes } from "./revealed.ts";
import { upkeepMistakes } from "./upkeep.ts";

/** A feature and the parts that it adds to one service. */
export interface SetUp {
  readonly feature: Feature;
  readonly parts: Parts;
}

/** The features of one service, each after those that it needs. */
export interface Composition {
  readonly inOrder: readonly SetUp[];
  /** Returns the offer of a feature of the service. Throws a TypeError if the service does not have the feature. */
  use<Offer>(feature: Offering<Offer>): Offer;
}

/** The common data for every feature. `secret` is null if the service has none. */
export type Surroundings = Omit<Host, "use" | "secret"> & {
  readonly secret: Host["secret"] | null;
  /** True if the service has the built-in XML format. A custom format for `application/xml` replaces it. */
  readonly xml: boolean;
  /** The mistakes in other options of the service, to be reported with the rest. */
  readonly mistakes: readonly string[];
};

/**
 * Sets up every feature. `own` are the parts of the service in addition to its features. Throws `DeclarationError` with
 * everything that is missing, wrong or duplicate.
 */
export function compose(features: readonly Feature[], own: Parts, surroundings: Surroundings): Composition {
  const shapeless = features.flatMap(shapeMistakes);
  // Stops here, because a value that is not a feature has no known needs.
  if (shapeless.length > 0) throw new DeclarationError([...surroundings.mistakes, ...shapeless]);
  const mistakes = [...surroundings.mistakes, ...mistakesOfList(features)];
  const done = new Map<Feature, SetUp>();
  const failed = new Set<Feature>();
  const faults: unknown[] = [];

  const setUp = (feature: Feature): void => {
    if (done.has(feature) || failed.has(feature)) return;
    // A second feature with the same name clashes with the first one in many ways. Only its name is reported.
    if (features.find(({ name }) => name === feature.name) !== feature) return void failed.add(feature);
    // A feature counts as failed until it is set up. Otherwise, features that need each other would cause endless
    // recursion.
    failed.add(feature);
    for (const needed of feature.needs) if (features.includes(needed)) setUp(needed);
    if (feature.needs.some((needed) => !done.has(needed))) return;
    try {
      const parts: unknown = feature.setUp(createHost(feature, surroundings, done));
      if (!isParts(parts))
        throw new DeclarationError([
          `setUp gave ${givenBy(parts)}; it has to give { offer: … } at once; do asynchronous work in start`,
        ]);
      done.set(feature, { feature, parts });
      failed.delete(feature);
    } catch (error) {
      const isDeclarationError = isThrown(error, DeclarationError);
      if (!isDeclarationError) faults.push(error);
      const sentences = isDeclarationError ? error.mistakes : [`setUp threw ${describeFault(error)}`];
      mistakes.push(...sentences.map((each) => `feature ${feature.name}: ${each}`));
    }
  };
  for (const feature of features) setUp(feature);

  const plain = [...done].map(([feature, { parts }]) => ({ name: feature.name, parts, feature }));
  const all = withInvitations<NamedParts & { readonly feature?: Feature }>([...plain, { name: null, parts: own }]);
  const inOrder = all.flatMap(({ feature, parts }) => (feature === undefined ? [] : [{ feature, parts }]));
  const malformed = all.flatMap(({ name, parts }) =>
    [
      ...otherCopiesWithin({ ...parts, offer: null }, "parts"),
      ...membersMistakes({ ...parts }, partsMembers),
      ...upkeepMistakes(parts.upkeep),
      ...declarationMistakes(parts),
    ].map((each) => (name === null ? each : `feature ${name}: ${each}`)),
  );
  // Malformed parts cannot be checked for duplicates.
  mistakes.push(
    ...(malformed.length > 0
      ? malformed
      : [
          ...describeClashes(withoutNamesakes(all), surroundings.xml),
          ...missingReferences(all),
          ...permissionMistakes(all),
          ...invitationFeatures(all),
          ...unreadTypes(all, surroundings.xml),
          ...mistakesTogether(all),
          ...(surroundings.secret === null ? secretsNeeded(all) : []),
          ...all.flatMap(({ parts }) => collectNeeds(parts).flatMap((each) => unmetNeeds(each, features))),
        ]),
  );
  if (mistakes.length > 0) throw new DeclarationError(mistakes, { cause: faults[0] });
  return { inOrder, use: (feature) => requireOffer(feature, done) };
}

/**
 * Leaves out features with a duplicate name. This name is already reported, and all of their parts would also be
 * duplicates.
 */
function withoutNamesakes(all: readonly NamedParts[]): readonly NamedParts[] {
  return all.filter(({ name }, at) => name === null || all.findIndex((each) => each.name === name) === at);
}

/**
 * Returns the mistakes in all parts together: mounts without a parent, and the mistakes that features find in the whole
 * service.
 */
function mistakesTogether(all: readonly NamedParts[]): readonly string[] {
  const assembled: Assembled = combineLists(all.map(({ parts }) => parts));
  return [
    ...misplacedMounts(assembled.mounts),
    ...revealMistakes(assembled),
    ...all.flatMap(({ name, parts }) => findMistakes(parts, assembled).map((each) => `feature ${name}: ${each}`)),
  ];
}

/** Returns a mistake for each mount that shows a value once, because the digests need a secret that stays the same. */
function secretsNeeded(all: readonly NamedParts[]): readonly string[] {
  return combineLists(all.map(({ parts }) => parts)).mounts.flatMap(({ resource: { path }, once }) =>
    once === null ? [] : [`${path} shows ${once.field} once, and its digest needs a secret: createService({ secret })`],
  );
}

/**
 * Returns the mistakes that a feature finds in the assembled service. If the feature's check throws, returns the error
 * as a mistake.
 */
function findMistakes(parts: Parts, assembled: Assembled): readonly string[] {
  try {
    const result: unknown = atOnce(parts.mistakes?.(assembled) ?? [], "mistakes");
    return Array.isArray(result)
      ? result.map(String)
      : [`mistakes gave ${shown(result)}; it has to give a list of sentences`];
  } catch (error) {
    return [`mistakes threw ${describeFault(error)}`];
  }
}

/** Combines the lists of all parts. */
export function combineLists(all: readonly ServiceParts[]): Required<ServiceParts> {
  return {
    schemes: all.flatMap(({ schemes = [] }) => schemes),
    mounts: all.flatMap(({ mounts = [] }) => mounts),
    endpoints: all.flatMap(({ endpoints = [] }) => endpoints),
    formats: all.flatMap(({ formats = [] }) => formats),
    collections: all.flatMap(({ collections = [] }) => collections),
  };
}

const featureMembers: Readonly<Record<keyof Feature, ValueCheck>> = {
  name: matching(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, "it has to be lower-case words joined by hyphens, like audit-trail"),
  needs: aFeatureList,
  setUp: aFunction,
};

/**
 * Returns true for an object that is not a promise. Its members are checked later, with those of the other features.
 */
function isParts(parts: unknown): parts is Parts {
  return isObject(parts) && !types.isPromise(parts);
}

function givenBy(parts: unknown): string {
  if (types.isPromise(parts)) {
    // No code awaits the promise. Without this handler, its rejection would stop the process.
    parts.catch(() => undefined);
    return "a promise";
  }
  return parts === undefined ? "nothing" : shown(parts);
}

function shapeMistakes(feature: unknown, at: number): readonly string[] {
  if (!isObject(feature))
    return [`features[${at}] is ${shown(feature)}; make one with defineFeature${adviseCall(feature)}`];
  const place = isText(feature["name"]) ? `feature ${feature["name"]}` : `features[${at}]`;
  return membersMistakes(feature, featureMembers).map((mistake) => `${place}: ${mistake}`);
}

function createHost(feature: Feature, surroundings: Surroundings, done: ReadonlyMap<Feature, SetUp>): Host {
  const { secret, mistakes: _, xml: __, ...rest } = surroundings;
  return {
    ...rest,
    get secret() {
      if (secret !== null) return secret;
      throw new DeclarationError(["it needs the service's secret; give createService one: secret: new Secret(…)"]);
    },
    use(needed) {
      if (!feature.needs.includes(needed))
        throw new DeclarationError([`it uses ${needed.name}, which is not in its needs; add it there`]);
      return requireOffer(needed, done);
    },
  };
}

function requireOffer<Offer>(feature: Offering<Offer>, done: ReadonlyMap<unknown, SetUp>): Offer {
  const found = done.get(feature);
  if (found === undefined)
    throw new TypeError(
      `${feature.name} is not a feature of this service. Add it to features, and to the needs of the feature that uses it, so that the start reports it.`,
    );
  return found.parts.offer as Offer;
}

/** Finds mistakes in the list before any feature is set up. */
function* mistakesOfList(features: readonly Feature[]): Generator<string> {
  for (const [at, feature] of features.entries()) {
    const first = features.findIndex(({ name }) => name === feature.name);
    if (first < at)
      yield features[first] === feature
        ? `feature ${feature.name} is in the list twice; leave one out`
        : `two features are called ${feature.name}; leave one out, or give it another name`;
    yield* unmetNeeds({ who: `feature ${feature.name}`, needs: feature.needs }, features);
  }
}

/** The name of a part, and the features that it needs. */
interface Needing {
  readonly who: string;
  readonly needs: readonly Offering<unknown>[];
}

function collectNeeds({ mounts = [], endpoints = [] }: ServiceParts): readonly Needing[] {
  return [
    ...mounts.map(({ resource: { path }, needs }) => ({ who: `mount(${path})`, needs })),
    ...endpoints.map(({ method, path, needs = [] }) => ({ who: `${method} ${path}`, needs })),
  ];
}

function unmetNeeds({ who, needs }: Needing, features: readonly Offering<unknown>[]): readonly string[] {
  return needs
    .filter((needed) => !features.includes(needed))
    .map(({ name }) =>
      features.some((each) => each.name === name)
        ? `${who} needs ${name}, but the list has another instance of it; make one instance and use it in both places`
        : `${who} needs ${name}, which is not in the list; add it`,
    );
}
