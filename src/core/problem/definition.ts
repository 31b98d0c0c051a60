import { catalogue, type CatalogueEntry, type ProblemCode } from "./catalogue.ts";
import type { ExtensionMembers } from "./extensions.ts";

/** A problem of your own: the result of `defineProblem`, for `throw problem(outOfStock)`. */
export interface ProblemDefinition<E extends ExtensionMembers = ExtensionMembers> extends CatalogueEntry {
  /**
   * Lower-case words joined by underscores, different from every code of the catalogue. It never changes its meaning.
   */
  readonly code: string;
  /**
   * Extension members (RFC 9457 §3.2) by name: `{ balance: decimal({ scale: 2 }) }`. Pass their values to `problem`. A
   * field with `optional: true` may be left out. Names are lower-case words joined by underscores, of three characters
   * or more.
   */
  readonly extensions?: E;
}

/** A problem of the catalogue by its code, or a custom one. */
export type AnyProblem = ProblemCode | ProblemDefinition;

/** All problems of a service by code: first the problems of the catalogue, then the custom problems. */
export type Catalogue = Readonly<Record<string, CatalogueEntry>>;

/** Returns the catalogue with the custom problems at the end. */
export function catalogueWith(own: readonly ProblemDefinition[]): Catalogue {
  return { ...catalogue, ...Object.fromEntries(own.map((each) => [each.code, each])) };
}

/** Returns the code of a problem of the catalogue, or of a custom one. */
export function resolveCode(each: AnyProblem): string {
  return typeof each === "string" ? each : each.code;
}

/** Returns the custom problems, each once. */
export function ownAmong(some: readonly AnyProblem[]): readonly ProblemDefinition[] {
  return [...new Set(some.filter((each) => typeof each !== "string"))];
}
