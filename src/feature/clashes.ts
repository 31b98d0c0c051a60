import { suggestion } from "../checking/nearest.ts";
import { endpointsOf } from "../http/mount/endpoints.ts";
import type { Mount } from "../http/mount/mount.ts";
import { problemsNamedBy } from "../http/mount/outcome.ts";
import { ownAmong, type ProblemDefinition } from "../problem/definition.ts";
import type { Parts } from "./feature.ts";

/** The parts of a feature; those that stand in no feature have no name. */
export interface NamedParts {
  readonly name: string | null;
  readonly parts: Parts;
}

/** What is there twice over all parts: one sentence each, with the features and the cure. */
export function clashesOf(all: readonly NamedParts[]): readonly string[] {
  // Schemes that are `shared` stand beside each other under one name, and beside no other.
  const alone = new Set(
    all.flatMap(({ parts: { schemes = [] } }) =>
      schemes.filter(({ shared }) => shared !== true).map(({ name }) => name),
    ),
  );
  return [
    ...twice(all, "scheme", ({ schemes = [] }) =>
      schemes.filter(({ name, shared }) => shared !== true || alone.has(name)).map(({ name }) => name),
    ),
    ...twice(all, "endpoint", ({ endpoints = [], mounts = [] }) =>
      [...endpoints, ...mounts.flatMap((each) => endpointsOf({ ...each, parent: null }))].map(
        ({ method, path }) => `${method} ${shapeOf(path)}`,
      ),
    ),
    ...namesakesOf(all.flatMap(({ parts: { mounts = [] } }) => mounts)),
    ...twice(all, "format", ({ formats = [] }) => formats.map(({ mediaType }) => mediaType)),
    ...twice(all, "collection", ({ collections = [], mounts = [] }) =>
      [...collections, ...mounts.map(({ collection }) => collection)].map(({ name }) => name),
    ),
    ...problemsTwice(all),
  ];
}

/** The problems of one's own that some parts name, wherever they do. */
export function problemsOf({ problems = [], endpoints = [], mounts = [] }: Parts): readonly ProblemDefinition[] {
  return ownAmong([
    ...problems,
    ...endpoints.flatMap(({ documentation }) => documentation?.problems ?? []),
    ...mounts.flatMap(problemsNamedBy),
  ]);
}

/** One problem may be named by many; two may not have one code. */
function problemsTwice(all: readonly NamedParts[]): string[] {
  const distinct = [...new Set(all.flatMap(({ parts }) => problemsOf(parts)))];
  const again = distinct.filter(({ code }, at) => distinct.findIndex((each) => each.code === code) < at);
  return [...new Set(again.map(({ code }) => code))].map((code) => {
    const names = all.filter(({ parts }) => problemsOf(parts).some((each) => each.code === code));
    return `the problem ${code} is defined twice: ${placesOf(names.map(({ name }) => name))}; define it once and give it to both`;
  });
}

/** References to what is not there: one sentence each, with the name that was probably meant. */
export function missingReferences(all: readonly NamedParts[]): readonly string[] {
  const mounted = all.flatMap(({ parts: { mounts = [] } }) => mounts);
  const known = [
    ...mounted.map(({ collection }) => collection.name),
    ...all.flatMap(({ parts: { collections = [] } }) => collections.map(({ name }) => name)),
  ];
  return mounted.flatMap(({ resource, collection }) =>
    collection.columns.flatMap(({ name, references }) =>
      // What a resource stands within is looked for when it is given its place.
      references === undefined || name === resource.parentColumn || known.includes(references.collection)
        ? []
        : [
            `mount(${resource.path}): the field ${name} refers to ${references.collection}, which is not mounted${suggestion(references.collection, known)}`,
          ],
    ),
  );
}

/** Actions that stand where a resource within the same one does. */
function namesakesOf(mounts: readonly Mount[]): readonly string[] {
  return mounts.flatMap(({ resource, actions }) =>
    actions
      .filter(({ name, on }) => on === "record" && mounts.some((each) => isAt(each, resource, name)))
      .map(
        ({ name }) => `the action ${name} of ${resource.path} and a resource within it stand at one path; rename one`,
      ),
  );
}

function isAt({ resource: { within, plural } }: Mount, outer: Mount["resource"], name: string): boolean {
  return within === outer && plural === name;
}

function twice(all: readonly NamedParts[], kind: string, namesOf: (parts: Parts) => readonly string[]): string[] {
  const owners = new Map<string, (string | null)[]>();
  for (const { name, parts } of all)
    for (const each of namesOf(parts)) owners.set(each, [...(owners.get(each) ?? []), name]);
  return [...owners]
    .filter(([, { length }]) => length > 1)
    .map(([each, names]) => `the ${kind} ${each} is there ${times(names.length)}: ${placesOf(names)}; keep one`);
}

function times(count: number): string {
  return count === 2 ? "twice" : `${count} times`;
}

function placesOf(names: readonly (string | null)[]): string {
  const places = new Set(names.map((name) => (name === null ? "among the service's own" : `in the feature ${name}`)));
  return [...places].join(" and ");
}

/** Paths that differ in the names of their parameters or a final slash alone are one path. */
function shapeOf(path: string): string {
  return path.replaceAll(/\{[^{}]*\}/g, "{…}").replace(/(?<=.)\/$/, "");
}
