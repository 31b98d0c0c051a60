import { DeclarationError } from "./declaration-error.ts";
import { type Check, type Checks, isObject, membersMistakes, shownTo, shownWithoutText } from "./members.ts";

/** How each of some options is checked. */
export type ChecksOf<Options> = Readonly<Record<keyof Options, Check>>;

interface Told {
  /** What was called; left out in the `setUp` of a feature, which is named with whatever it throws. */
  readonly of?: string;
  /** What was found besides. */
  readonly more?: readonly string[];
}

/** Throws `DeclarationError` with every option that does not exist, or is wrong. */
export function requireOptions<Options extends object>(
  options: Options,
  checks: ChecksOf<Options>,
  { of, more = [] }: Told = {},
): void {
  const given: unknown = options;
  const own = isObject(given)
    ? membersMistakes({ ...given }, checks)
    : [`its options are ${shownWithoutText(given)}; it takes an object with ${Object.keys(checks).join(", ")}`];
  const mistakes = [...own, ...more];
  if (mistakes.length === 0) return;
  throw new DeclarationError(of === undefined ? mistakes : mistakes.map((mistake) => `${of}: ${mistake}`));
}

/** Throws `DeclarationError` with every argument that is wrong, and what stands behind the last: it would be passed over. */
export function requireArguments(of: string, given: ArrayLike<unknown>, checks: Checks): void {
  const names = Object.keys(checks);
  const mistakes = names.flatMap((name, at) => {
    const check = checks[name]!;
    const wrong = check(given[at]);
    return wrong === null ? [] : [`${of}: ${name} is ${shownTo(check, given[at])}; ${wrong}`];
  });
  if (given.length > names.length)
    mistakes.push(`${of}: it takes ${names.length === 0 ? "nothing" : names.join(", ")}; leave out what stands behind`);
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
}

/** The same for what takes no options: a name that stands there would be passed over. */
export function requireNoOptions(options: readonly never[]): void {
  if (options.length > 0) throw new DeclarationError(["it takes no options; leave them out"]);
}
