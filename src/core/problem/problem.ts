import { aFieldList } from "../checking/header-fields.ts";
import { isObject, isText, optional, describeType, unknownMembers, type ValueCheck } from "../checking/members.ts";
import { shownName, suggestion } from "../checking/nearest.ts";
import { made } from "../copy.ts";
import {
  catalogue,
  resolveCode,
  type CatalogueEntry,
  type ProblemCode,
  type AnyProblem,
  type ProblemDefinition,
} from "./catalogue.ts";
import { readExtensions, type ExtensionMembers, type ExtensionsOf } from "./extensions.ts";

/**
 * The most wrong fields in one response. A body of 1 MiB can have 150,000, and listing all of them would take 10 MiB.
 */
export const MAX_ISSUES = 100;

/** One wrong field of a body or one wrong query parameter. */
export interface Issue {
  /** A JSON pointer (RFC 6901) into the body, or `?name` for a query parameter. */
  readonly pointer: string;
  /** The mistake for programs: `required`, `invalid`, `too_long`, … */
  readonly code: string;
  /** The mistake for people. */
  readonly detail: string;
}

/** True if the result of a read is a list of mistakes. */
export function isIssues(read: object): read is readonly Issue[] {
  return Array.isArray(read);
}

/** Additions of the throwing code to the catalogue's entry. `E` are the extension members of the problem. */
export interface ProblemOptions<E extends ExtensionMembers = ExtensionMembers> {
  /** One sentence for the caller. Default: the sentence of the catalogue. Never contains a secret. */
  readonly detail?: string;
  /** The wrong fields. */
  readonly issues?: readonly Issue[];
  /** The values of the extension members that `defineProblem` declares (RFC 9457 §3.2). The caller reads them. */
  readonly extensions?: [keyof E] extends [never] ? undefined : ExtensionsOf<E>;
  /** The header fields of the response: `Allow`, `Retry-After`, `WWW-Authenticate`. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** The cause, for the log and never for the caller. */
  readonly cause?: unknown;
}

/** The options of one problem. The options are required if one of the problem's extension members is required. */
type OptionsOf<Which extends AnyProblem> = [Which] extends [ProblemCode]
  ? [options?: ProblemOptions<ExtensionsInCatalogue<Which>>]
  : Exclude<Which, string> extends ProblemDefinition<infer E>
    ? ProblemArguments<E>
    : never;
type ExtensionsInCatalogue<Code extends ProblemCode> = (typeof catalogue)[Code] extends { readonly extensions: infer E }
  ? E & ExtensionMembers
  : {};
type ProblemArguments<E extends ExtensionMembers> = string extends keyof E
  ? [options?: ProblemOptions]
  : {} extends ExtensionsOf<E>
    ? [options?: ProblemOptions<E>]
    : [options: ProblemOptions<E> & { readonly extensions: ExtensionsOf<E> }];

/** The end of a request. The caller receives it as a problem document (RFC 9457). */
export class Problem extends Error {
  static {
    made(this.prototype);
  }

  /** The code, from the catalogue or of a custom problem. */
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly issues: readonly Issue[];
  /** The values of its extension members, by name. */
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly #which: AnyProblem;
  readonly #options: ProblemOptions;

  constructor(which: AnyProblem, options: ProblemOptions = {}) {
    const entry: CatalogueEntry = typeof which === "string" ? catalogue[which] : which;
    super(options.detail ?? entry.detail, { cause: options.cause });
    this.name = "Problem";
    this.code = resolveCode(which);
    this.status = entry.status;
    this.title = entry.title;
    this.detail = options.detail ?? entry.detail;
    this.issues = options.issues ?? [];
    this.extensions = readExtensions(this.code, entry.extensions, options.extensions);
    this.headers = options.headers ?? [];
    this.#which = which;
    this.#options = options;
  }

  /** Returns the same problem for a part of the body. `pointer` is added before the pointers of its issues. */
  below(pointer: string): Problem {
    return this.at((each) => pointer + each);
  }

  /** Returns the same problem with other pointers for its issues. */
  at(place: (pointer: string) => string): Problem {
    const issues = this.issues.map((issue) => ({ ...issue, pointer: place(issue.pointer) }));
    return problem(this.#which, { ...this.#options, issues });
  }
}

/**
 * Creates the problem that ends a request: `throw problem("not_found")`, or a custom one: `throw problem(outOfStock)`.
 *
 * @example
 * ```ts
 * import { problem } from "latchkey";
 *
 * export function requireEven(id: number): void {
 *   if (id % 2 !== 0) throw problem("not_found");
 * }
 * ```
 */
export function problem<Which extends AnyProblem>(which: Which, ...[options]: OptionsOf<Which>): Problem;
export function problem(which: AnyProblem, options?: ProblemOptions): Problem {
  requireKnown(which, options);
  // An expected response needs no stack trace, and collecting one costs more than the rest of the request.
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return new Problem(which, options);
  } finally {
    Error.stackTraceLimit = limit;
  }
}

/** Checks a list of issues, in the form that `check` of a resource returns. */
export const anIssueList: ValueCheck = (value) =>
  Array.isArray(value) && value.every(isIssue)
    ? null
    : "it has to be a list of { pointer, code, detail }, which may be empty";

function isIssue(value: unknown): boolean {
  return isObject(value) && isText(value["pointer"]) && isText(value["code"]) && isText(value["detail"]);
}

const optionChecks: Readonly<Record<"detail" | "issues", ValueCheck>> = {
  detail: optional((value) => (isText(value) ? null : "it has to be a text")),
  issues: optional(anIssueList),
};

const optionNames = [
  "detail",
  "issues",
  "extensions",
  "headers",
  "cause",
] as const satisfies readonly (keyof ProblemOptions)[];

/** Throws a TypeError if the problem does not exist, or if an option is unknown or not valid. */
function requireKnown(which: unknown, options: unknown): void {
  const code = typeof which === "object" && which !== null && "code" in which ? which.code : which;
  if (which === code && !(typeof code === "string" && Object.hasOwn(catalogue, code)))
    throw new TypeError(
      `problem: there is no problem ${shownName(String(code))}${suggestion(String(code), Object.keys(catalogue))}`,
    );
  if (isText(options))
    throw new TypeError(`problem(${shownName(String(code))}): it is followed by a text; write { detail: … }`);
  const [unknown] = typeof options === "object" && options !== null ? unknownMembers({ ...options }, optionNames) : [];
  if (unknown !== undefined) throw new TypeError(`problem(${shownName(String(code))}): ${unknown}`);
  for (const name in optionChecks) {
    const value = (options as Readonly<Record<string, unknown>> | undefined)?.[name];
    const wrong = optionChecks[name as keyof typeof optionChecks](value);
    if (wrong !== null)
      throw new TypeError(`problem(${shownName(String(code))}): ${name} is ${describeType(value)}; ${wrong}`);
  }
  const headers = (options as ProblemOptions | undefined)?.headers;
  const mistake = headers === undefined ? null : aFieldList(headers);
  if (mistake !== null) throw new TypeError(`problem(${shownName(String(code))}): headers: ${mistake}`);
}
