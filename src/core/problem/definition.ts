import { DeclarationError } from "../checking/declaration-error.ts";
import { isObject, isSnakeCase, isText, shown, unknownMembers } from "../checking/members.ts";
import { catalogue, type CatalogueEntry, type ProblemCode } from "./catalogue.ts";

/** A problem of one's own: what `defineProblem` gives, to be thrown as `throw problem(outOfStock)`. */
export interface ProblemDefinition extends CatalogueEntry {
  /** Lower-case words joined by underscores, unlike every code of the catalogue. It never changes its meaning. */
  readonly code: string;
}

/** A problem of the catalogue by its code, or one of one's own. */
export type AnyProblem = ProblemCode | ProblemDefinition;

/** Every problem of a service by its code: the catalogue's, then its own. */
export type Catalogue = Readonly<Record<string, CatalogueEntry>>;

/**
 * Declares a problem of one's own (RFC 9457): its status (400 to 599), the title that is the same each time, the sentence that callers read, and for
 * its page why it happens and what to do. Throws `DeclarationError` where one of these is missing, where there is another, or where the catalogue has the code.
 *
 * @example
 * ```ts
 * import { defineProblem, problem } from "latchkey";
 *
 * const outOfStock = defineProblem({
 *   code: "out_of_stock",
 *   status: 409,
 *   title: "Out of stock",
 *   detail: "There is not enough of it.",
 *   why: "Others have ordered it.",
 *   cure: "Order less, or later.",
 * });
 * export const refuse = (): never => {
 *   throw problem(outOfStock);
 * };
 * ```
 */
export function defineProblem(definition: ProblemDefinition): ProblemDefinition {
  const given: unknown = definition;
  if (!isObject(given))
    throw new DeclarationError([`defineProblem: it is ${shown(given)}; it takes an object with ${MEMBERS.join(", ")}`]);
  const mistakes = mistakesOf(definition);
  if (mistakes.length > 0)
    throw new DeclarationError(mistakes.map((mistake) => `problem ${shownCode(definition)}: ${mistake}`));
  return Object.freeze({ ...definition });
}

const MEMBERS: readonly string[] = ["code", "status", "title", "detail", "why", "cure"];

function mistakesOf(definition: ProblemDefinition): readonly string[] {
  const { code, status, title, detail, why, cure } = definition;
  const texts = Object.entries({ title, detail, why, cure });
  return [
    ...unknownMembers({ ...definition }, MEMBERS),
    ...(isText(code) && isSnakeCase(code) && code.length <= 80
      ? []
      : ["the code has to be lower-case words joined by underscores, like out_of_stock"]),
    ...(Object.hasOwn(catalogue, code) ? ["the catalogue has this code; choose another, or throw that one"] : []),
    ...(Number.isInteger(status) && status >= 400 && status <= 599 ? [] : ["the status has to be from 400 to 599"]),
    ...texts.filter(([, text]) => typeof text !== "string" || text === "").map(([name]) => `${name} is missing`),
  ];
}

function shownCode({ code }: { readonly code: unknown }): string {
  return typeof code === "string" && code !== "" ? code.slice(0, 80) : "(no code)";
}

/** The catalogue with problems of one's own behind it. */
export function catalogueWith(own: readonly ProblemDefinition[]): Catalogue {
  return { ...catalogue, ...Object.fromEntries(own.map((each) => [each.code, each])) };
}

/** The code of either kind. */
export function codeOf(each: AnyProblem): string {
  return typeof each === "string" ? each : each.code;
}

/** Those of one's own, each once. */
export function ownAmong(some: readonly AnyProblem[]): readonly ProblemDefinition[] {
  return [...new Set(some.filter((each) => typeof each !== "string"))];
}
