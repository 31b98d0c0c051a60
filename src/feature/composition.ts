import {
  aFunction,
  isObject,
  isText,
  membersMistakes,
  shown,
  text,
  unknownMembers,
  type Check,
} from "../checking/members.ts";
import type { Offering } from "../http/core.ts";
import { declarationMistakes } from "../http/endpoint/declared.ts";
import { DeclarationError } from "../resource/resource.ts";
import { clashesOf, missingIdentity, missingReferences, unreadTypes } from "./clashes.ts";
import type { Feature, Host, Parts } from "./feature.ts";
import { upkeepMistakes } from "./upkeep.ts";

/** A feature and what it adds to one service. */
export interface SetUp {
  readonly feature: Feature;
  readonly parts: Parts;
}

/** The features of one service, each after those that it needs. */
export interface Composition {
  readonly inOrder: readonly SetUp[];
  /** What a feature of the service offers. Throws a TypeError where it is none. */
  use<Offer>(feature: Offering<Offer>): Offer;
}

/** What every feature is given alike. `secret` is null where the service has none. */
export type Surroundings = Omit<Host, "use" | "secret"> & {
  readonly secret: Host["secret"] | null;
  /** What is wrong with what the service was given besides, to be told with the rest. */
  readonly mistakes: readonly string[];
};

/**
 * Sets up every feature. `own` are the parts that the service was given beside its features. Throws `DeclarationError` with
 * everything that is missing or there twice.
 */
export function compose(features: readonly Feature[], own: Parts, surroundings: Surroundings): Composition {
  const shapeless = features.flatMap(shapeMistakes);
  // Of what is no feature nobody can say what it needs.
  if (shapeless.length > 0) throw new DeclarationError([...surroundings.mistakes, ...shapeless]);
  const mistakes = [...surroundings.mistakes, ...mistakesOfList(features)];
  const done = new Map<Feature, SetUp>();
  const failed = new Set<Feature>();

  const setUp = (feature: Feature): void => {
    if (done.has(feature) || failed.has(feature)) return;
    // Found failed by whoever needs it until it is done, so that features that need each other do not go round for ever.
    failed.add(feature);
    for (const needed of feature.needs) if (features.includes(needed)) setUp(needed);
    if (feature.needs.some((needed) => !done.has(needed))) return;
    try {
      const parts: unknown = feature.setUp(hostOf(feature, surroundings, done));
      if (!isParts(parts))
        throw new DeclarationError([
          `setUp gave ${parts === undefined ? "nothing" : shown(parts)}; it has to give { offer: … }`,
        ]);
      done.set(feature, { feature, parts });
      failed.delete(feature);
    } catch (error) {
      if (!(error instanceof DeclarationError)) throw error;
      mistakes.push(...error.mistakes.map((each) => `feature ${feature.name}: ${each}`));
    }
  };
  for (const feature of features) setUp(feature);

  const inOrder = [...done.values()];
  const all = [...inOrder.map(({ feature, parts }) => ({ name: feature.name, parts })), { name: null, parts: own }];
  const malformed = all.flatMap(({ name, parts }) =>
    [
      ...unknownMembers({ ...parts }, Object.keys(partsMembers)),
      ...upkeepMistakes(parts.upkeep),
      ...declarationMistakes(parts),
    ].map((each) => (name === null ? each : `feature ${name}: ${each}`)),
  );
  // Of what is malformed nobody can say whether it is there twice.
  mistakes.push(
    ...(malformed.length > 0
      ? malformed
      : [...clashesOf(all), ...missingReferences(all), ...missingIdentity(all), ...unreadTypes(all)]),
  );
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
  return { inOrder, use: (feature) => offerOf(feature, done) };
}

const partsMembers: Readonly<Record<keyof Parts, true>> = {
  offer: true,
  schemes: true,
  mounts: true,
  endpoints: true,
  formats: true,
  scopesAllow: true,
  limiter: true,
  identity: true,
  collections: true,
  tags: true,
  observe: true,
  alongside: true,
  problems: true,
  measure: true,
  upkeep: true,
  start: true,
  stop: true,
};
const featureMembers: Readonly<Record<keyof Feature, Check>> = {
  name: text,
  needs: (value) => {
    if (!Array.isArray(value)) return "it has to be a list of features; defineFeature fills it in";
    const at = Array.from(value).findIndex((each) => !isFeature(each));
    if (at === -1) return null;
    return `what stands there is ${shown(value[at])} and no feature; make it once and hand it over: const people = accounts(); tokenLogin(people)`;
  },
  setUp: aFunction,
};

function isFeature(value: unknown): boolean {
  return isObject(value) && isText(value["name"]) && typeof value["setUp"] === "function";
}

/** Its own parts are looked at with those of the others. */
function isParts(parts: unknown): parts is Parts {
  return isObject(parts);
}

function shapeMistakes(feature: unknown, at: number): readonly string[] {
  if (!isObject(feature)) return [`features[${at}] is ${shown(feature)}; make one with defineFeature`];
  const place = isText(feature["name"]) ? `feature ${feature["name"]}` : `features[${at}]`;
  return membersMistakes(feature, featureMembers).map((mistake) => `${place}: ${mistake}`);
}

function hostOf(feature: Feature, surroundings: Surroundings, done: ReadonlyMap<Feature, SetUp>): Host {
  const { secret, mistakes: _, ...rest } = surroundings;
  return {
    ...rest,
    get secret() {
      if (secret !== null) return secret;
      throw new DeclarationError(["it needs the service's secret; give createService one: secret: new Secret(…)"]);
    },
    use(needed) {
      if (!feature.needs.includes(needed))
        throw new DeclarationError([`it uses ${needed.name} without saying so; add it to its needs`]);
      return offerOf(needed, done);
    },
  };
}

function offerOf<Offer>(feature: Offering<Offer>, done: ReadonlyMap<unknown, SetUp>): Offer {
  const found = done.get(feature);
  if (found === undefined) throw new TypeError(`${feature.name} is no feature of this service.`);
  return found.parts.offer as Offer;
}

/** What is wrong with the list before any of it is set up. */
function* mistakesOfList(features: readonly Feature[]): Generator<string> {
  for (const [at, feature] of features.entries()) {
    const first = features.findIndex(({ name }) => name === feature.name);
    if (first < at)
      yield features[first] === feature
        ? `feature ${feature.name} stands in the list twice; leave one out`
        : `two features are called ${feature.name}; leave one out, or give it another name`;
    for (const needed of feature.needs) {
      if (features.includes(needed)) continue;
      const namesake = features.some(({ name }) => name === needed.name);
      yield namesake
        ? `feature ${feature.name} needs another ${needed.name} than the one in the list; make it once and give it to both`
        : `feature ${feature.name} needs ${needed.name}, which is not in the list; add it`;
    }
  }
}
