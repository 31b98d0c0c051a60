import { joinSchemes } from "../access/scheme/joining.ts";
import { claimedTwice } from "../access/scheme/presented.ts";
import type { Scheme } from "../access/scheme/scheme.ts";
import { suggestion } from "../core/checking/nearest.ts";
import { ownAmong, type ProblemDefinition } from "../core/problem/catalogue.ts";
import { isReadBy } from "../http/body/readable.ts";
import type { Mount } from "../http/declarations/mount.ts";
import { formType } from "../http/formats/form.ts";
import { withBuiltIn } from "../http/formats/negotiate.ts";
import { buildServedEndpoints } from "../http/mount/endpoints.ts";
import { collectCollections } from "../http/mount/placing.ts";
import { problemsNamedBy } from "../http/mount/writes/outcome.ts";
import type { Format } from "../http/request/format.ts";
import { pathShape } from "../http/request/path.ts";
import type { Parts } from "./feature.ts";

/** The parts of a feature with its name. The name is null for the service's own parts. */
export interface NamedParts {
  readonly name: string | null;
  readonly parts: Parts;
}

/** Returns a sentence for each duplicate among all parts, with the features and the fix. */
export function describeClashes(namedParts: readonly NamedParts[], speaksXML: boolean): readonly string[] {
  const all = withoutRepeatedMounts(namedParts);
  // Several `shared` schemes may have the same name. If a scheme that is not shared has this name too, the name is a
  // duplicate.
  const alone = new Set(
    all.flatMap(({ parts: { schemes = [] } }) =>
      schemes.filter(({ shared }) => shared !== true).map(({ name }) => name),
    ),
  );
  return [
    ...mountedTwice(namedParts),
    ...reportDuplicates(all, "scheme", ({ schemes = [] }) =>
      schemes.filter(({ name, shared }) => shared !== true || alone.has(name)).map(({ name }) => name),
    ),
    ...claimedTwice(distinctSchemes(all)),
    ...reportDuplicates(all, "endpoint", (parts) =>
      buildServedEndpoints(parts).map(({ method, path }) => `${method} ${pathShape(path)}`),
    ),
    ...describeNamesakes(all.flatMap(({ parts: { mounts = [] } }) => mounts)),
    ...reportDuplicates(all, "format", ({ formats = [] }) => formats.map(({ mediaType }) => mediaType)),
    ...reportDuplicates(
      [...all, { name: null, parts: { offer: null, formats: remainingBuiltInFormats(all, speaksXML) } }],
      "tag suffix",
      ({ formats = [] }) => formats.map(({ tagSuffix }) => tagSuffix),
    ),
    ...reportDuplicates(all, "collection", ({ collections = [], mounts = [] }) =>
      [...collections, ...collectCollections(mounts)].map(({ name }) => name),
    ),
    ...problemsTwice(all),
    ...parametersTwice(all),
  ];
}

/**
 * Reports a resource that is mounted twice in one sentence. Its endpoints and its table are not reported as duplicates
 * too.
 */
function mountedTwice(all: readonly NamedParts[]): readonly string[] {
  const owners = Map.groupBy(
    all.flatMap(({ name, parts: { mounts = [] } }) => mounts.map(({ resource: { path } }) => ({ name, path }))),
    ({ path }) => path,
  );
  return [...owners].flatMap(([path, found]) => {
    if (found.length === 1) return [];
    const names = found.map(({ name }) => name);
    const places = names.every((name) => name === null) ? " in mounts" : `: ${describePlaces(names)}`;
    return [`${path} is mounted ${times(found.length)}${places}; keep one`];
  });
}

function withoutRepeatedMounts(all: readonly NamedParts[]): readonly NamedParts[] {
  const seen = new Set<string>();
  return all.map(({ name, parts }) => ({
    name,
    parts: {
      ...parts,
      mounts: (parts.mounts ?? []).filter(({ resource: { path } }) => !seen.has(path) && seen.add(path)),
    },
  }));
}

/**
 * Returns one scheme for each name. Two schemes with one name are already reported, so their equal carriers are not
 * reported too.
 */
function distinctSchemes(all: readonly NamedParts[]): readonly Scheme[] {
  const schemes = joinSchemes(all.flatMap(({ parts }) => parts.schemes ?? []));
  return schemes.filter(({ name }, at) => schemes.findIndex((each) => each.name === name) === at);
}

/** Returns the built-in formats that no custom format replaces. */
function remainingBuiltInFormats(all: readonly NamedParts[], speaksXML: boolean): readonly Format[] {
  const own = ownFormats(all);
  return withBuiltIn(own, speaksXML).filter((each) => !own.includes(each));
}

function ownFormats(all: readonly NamedParts[]): readonly Format[] {
  return all.flatMap(({ parts: { formats = [] } }) => formats);
}

/** Returns all custom problems that the parts name. */
export function collectProblems({ problems = [], endpoints = [], mounts = [] }: Parts): readonly ProblemDefinition[] {
  return ownAmong([
    ...problems,
    ...endpoints.flatMap(({ documentation }) => documentation?.problems ?? []),
    ...mounts.flatMap(problemsNamedBy),
  ]);
}

/** Reports different problems with the same code. One problem may be named many times. */
function problemsTwice(all: readonly NamedParts[]): string[] {
  const distinct = [...new Set(all.flatMap(({ parts }) => collectProblems(parts)))];
  const again = distinct.filter(({ code }, at) => distinct.findIndex((each) => each.code === code) < at);
  return [...new Set(again.map(({ code }) => code))].map((code) => {
    const names = all.filter(({ parts }) => collectProblems(parts).some((each) => each.code === code));
    return `the problem ${code} is defined twice: ${describePlaces(names.map(({ name }) => name))}; define it once and give it to both`;
  });
}

/** Finds filters with the name of a credential parameter. They would never receive a value. */
function parametersTwice(all: readonly NamedParts[]): readonly string[] {
  const carriers = all.flatMap(({ parts: { schemes = [] } }) => schemes.flatMap((scheme) => scheme.carriers));
  const names = new Set(carriers.flatMap((carrier) => (carrier.in === "query" ? [carrier.name] : [])));
  return all
    .flatMap(({ parts: { mounts = [] } }) => mounts)
    .flatMap(({ resource: { path, filters } }) =>
      [...filters.keys()]
        .filter((name) => names.has(name))
        .map((name) => `the parameter ${name} is a credential, and a filter of ${path}; give one of them another name`),
    );
}

/** Returns a sentence with the fix for each reference to a missing resource, or to one with ids of another type. */
export function missingReferences(all: readonly NamedParts[]): readonly string[] {
  const mounted = all.flatMap(({ parts: { mounts = [] } }) => mounts);
  const collections = [
    ...mounted.map(({ collection }) => collection),
    ...all.flatMap(({ parts }) => parts.collections ?? []),
  ];
  const keyTypes = new Map(collections.map(({ name, key }) => [name, key]));
  const mountedNames = mounted.map(({ collection }) => collection.name);
  return mounted.flatMap(({ resource, collection }) =>
    collection.columns.flatMap(({ name, type, references }) => {
      // The parent of a resource is checked when mounts are placed.
      if (references === undefined || name === resource.parentColumn) return [];
      const { collection: to } = references;
      const place = `mount(${resource.path}): the field ${name} refers to ${to}`;
      const key = keyTypes.get(to);
      if (key === undefined) {
        const meant = suggestion(to, mountedNames);
        return [`${place}, which is not mounted${meant.endsWith("?") ? meant : `; mount ${to} too${meant}`}`];
      }
      if (key === type) return [];
      return [
        `${place}, whose ids are ${chooseIdKind(key)}s; write reference("${to}", { id: "${chooseIdKind(key)}" }), or give it the declaration`,
      ];
    }),
  );
}

function chooseIdKind(key: "integer" | "text"): "integer" | "uuid" {
  return key === "text" ? "uuid" : "integer";
}

/** Finds media types that an endpoint claims to read but no format can read. Every such call would get 415. */
export function unreadTypes(all: readonly NamedParts[], speaksXML: boolean): readonly string[] {
  const formats = withBuiltIn(ownFormats(all), speaksXML);
  const isRead = isReadBy(formats);
  const mediaTypes = [...formats.flatMap((each) => (each.read ? [each.mediaType] : [])), formType];
  return all.flatMap(({ parts: { endpoints = [] } }) =>
    endpoints.flatMap(({ method, path, consumes = [] }) =>
      consumes
        // XML is not reported if the endpoint also reads another type. In a service without XML, it then reads only the
        // other type.
        .filter((type) => !isRead(type) && !(type === XML && consumes.some(isRead)))
        .map((type) => `${method} ${path} consumes ${type}, which no format reads${suggestion(type, mediaTypes)}`),
    ),
  );
}

const XML = "application/xml";

/** Finds actions with the same path as a nested resource of the same parent. */
function describeNamesakes(mounts: readonly Mount[]): readonly string[] {
  return mounts.flatMap(({ resource, actions }) =>
    actions
      .filter(({ name, on }) => on === "record" && mounts.some((each) => isAt(each, resource, name)))
      .map(
        ({ name }) => `the action ${name} of ${resource.path} and a resource within it have the same path; rename one`,
      ),
  );
}

function isAt({ resource: { within, plural } }: Mount, outer: Mount["resource"], name: string): boolean {
  return within === outer && plural === name;
}

function reportDuplicates(
  all: readonly NamedParts[],
  kind: string,
  listNames: (parts: Parts) => readonly string[],
): string[] {
  const owners = new Map<string, (string | null)[]>();
  for (const { name, parts } of all)
    for (const each of listNames(parts)) owners.set(each, [...(owners.get(each) ?? []), name]);
  const again = [...owners].filter(([, { length }]) => length > 1);
  // Duplicates in the same features have one cause and one fix.
  const bySentence = Map.groupBy(
    again,
    ([, names]) => `there ${times(names.length)}: ${describePlaces(names)}; keep one`,
  );
  return [...bySentence].map(([sentence, found]) => {
    const names = found.map(([name]) => name).join(", ");
    return found.length === 1 ? `the ${kind} ${names} is ${sentence}` : `the ${kind}s ${names} are ${sentence} of each`;
  });
}

function times(count: number): string {
  return count === 2 ? "twice" : `${count} times`;
}

function describePlaces(names: readonly (string | null)[]): string {
  const places = new Set(names.map((name) => (name === null ? "among the service's own" : `in the feature ${name}`)));
  return [...places].join(" and ");
}
