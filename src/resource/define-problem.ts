import { DeclarationError } from "../core/checking/declaration-error.ts";
import {
  isObject,
  isSnakeCase,
  isText,
  namedMembers,
  shown,
  shownWithoutText,
  unknownMembers,
} from "../core/checking/members.ts";
import { made } from "../core/copy.ts";
import { catalogue, type ProblemDefinition } from "../core/problem/catalogue.ts";
import { standardMembers } from "../core/problem/extensions.ts";
import type { Fields } from "./declaration/declaration.ts";
import type { Field } from "./declaration/field.ts";
import { fieldOptions, ownValueMistakes, shapeMistakes } from "./kinds/field-mistakes.ts";

/**
 * Declares a problem of your own (RFC 9457): its status (400 to 599), its constant title, the sentence that callers
 * read (`detail`), and the reason and the fix for the page of the problem (`why`, `cure`). `extensions` declares
 * further members with their types. Throws `DeclarationError` if a member is missing, not valid or unknown, or if
 * Latchkey already has a problem with this code.
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
export function defineProblem<const E extends Fields = {}>(definition: ProblemDefinition<E>): ProblemDefinition<E> {
  const input: unknown = definition;
  if (!isObject(input))
    throw new DeclarationError([
      `defineProblem: it is ${shownWithoutText(input)}; it takes an object with ${MEMBERS.join(", ")}`,
    ]);
  const mistakes = collectMistakes(definition);
  if (mistakes.length > 0)
    throw new DeclarationError(mistakes.map((mistake) => `problem ${shownCode(definition)}: ${mistake}`));
  return Object.freeze(made({ ...definition }));
}

const MEMBERS: readonly string[] = ["code", "status", "title", "detail", "why", "cure", "extensions"];

function collectMistakes(definition: ProblemDefinition): readonly string[] {
  const { code, status, title, detail, why, cure, extensions } = definition;
  const texts = Object.entries({ title, detail, why, cure });
  return [
    ...unknownMembers({ ...definition }, MEMBERS),
    ...(isText(code) && isSnakeCase(code) && code.length <= 80
      ? []
      : ["the code has to be lower-case words joined by underscores, like out_of_stock"]),
    ...(Object.hasOwn(catalogue, code) ? ["the catalogue has this code; choose another, or throw that one"] : []),
    ...(Number.isInteger(status) && status >= 400 && status <= 599 ? [] : ["the status has to be from 400 to 599"]),
    ...texts.filter(([, text]) => typeof text !== "string" || text === "").map(([name]) => `${name} is missing`),
    ...(extensions === undefined ? [] : extensionMistakes(extensions)),
  ];
}

const ALLOWED_OPTIONS: readonly string[] = ["optional", "description", "example"];

/**
 * Checks the extension members. They are declared like the fields of a resource. They have fewer options, because a
 * problem is neither stored nor sent by callers.
 */
function extensionMistakes(extensions: unknown): readonly string[] {
  const wrong = namedMembers(extensions);
  if (!isObject(extensions) || wrong !== null) return [`extensions is ${shown(extensions)}; ${wrong}`];
  return Object.entries(extensions).flatMap(([name, field]) =>
    [...nameMistakes(name), ...describingMistakes(field, "problem")].map(
      (mistake) => `extension ${name.slice(0, 80)}: ${mistake}`,
    ),
  );
}

function nameMistakes(name: string): readonly string[] {
  if (standardMembers.has(name))
    return ["every problem has this member, or RFC 9457 gives it another meaning; rename it"];
  return isSnakeCase(name) && name.length >= 3 && name.length <= 80
    ? []
    : ["the name has to be lower-case words joined by underscores, of 3 to 80 characters, like account_id"];
}

/**
 * Returns the mistakes in a field that only describes a member of a problem or a response, which is neither stored nor
 * sent by callers. Includes the mistakes of the field itself.
 */
export function describingMistakes(field: unknown, of: "problem" | "response"): readonly string[] {
  const malformed = shapeMistakes(field);
  if (malformed.length > 0) return malformed;
  const { kind, options, computed } = field as Field;
  const entries = Object.entries(options).filter(([, value]) => value !== undefined && value !== false);
  const names = entries
    .map(([name]) => name)
    .filter((name) => Object.hasOwn(fieldOptions, name) && !ALLOWED_OPTIONS.includes(name));
  return [
    ...names.map((name) => `${kind.name}: ${name} has no meaning in a ${of}; leave it out`),
    ...(computed === undefined ? [] : [`a ${of} has no record, so this field cannot be computed`]),
    ...ownValueMistakes("example", { kind, options }, options.example),
  ];
}

function shownCode({ code }: { readonly code: unknown }): string {
  return typeof code === "string" && code !== "" ? code.slice(0, 80) : "(no code)";
}
