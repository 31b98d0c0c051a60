import { DeclarationError } from "./declaration-error.ts";
import { type ValueCheck, type Checks, isObject, membersMistakes, shownTo, shownWithoutText } from "./members.ts";

/** The check of each option. */
export type ChecksOf<Options> = Readonly<Record<keyof Options, ValueCheck>>;

interface OptionsErrorContext {
  /** The name of the function. Undefined in the `setUp` of a feature, because its errors already name the feature. */
  readonly of?: string;
  /** Additional mistakes. */
  readonly more?: readonly string[];
}

/** Throws `DeclarationError` with all unknown or wrong options. */
export function requireOptions<Options extends object>(
  options: Options,
  checks: ChecksOf<Options>,
  { of, more = [] }: OptionsErrorContext = {},
): void {
  const input: unknown = options;
  const own = isObject(input)
    ? membersMistakes({ ...input }, checks)
    : [`its options are ${shownWithoutText(input)}; it takes an object with ${Object.keys(checks).join(", ")}`];
  const mistakes = [...own, ...more];
  if (mistakes.length === 0) return;
  throw new DeclarationError(of === undefined ? mistakes : mistakes.map((mistake) => `${of}: ${mistake}`));
}

/** Throws `DeclarationError` with all wrong arguments and all extra arguments, which would be ignored. */
export function requireArguments(of: string, values: ArrayLike<unknown>, checks: Checks): void {
  const names = Object.keys(checks);
  const mistakes = names.flatMap((name, at) => {
    const check = checks[name]!;
    const wrong = check(values[at]);
    return wrong === null ? [] : [`${of}: ${name} is ${shownTo(check, values[at])}; ${wrong}`];
  });
  if (values.length > names.length)
    mistakes.push(
      `${of}: it takes ${names.length === 0 ? "nothing" : names.join(", ")}; leave the other arguments out`,
    );
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
}

/** Throws `DeclarationError` if a function without options gets an argument. The argument would be ignored. */
export function requireNoOptions(options: readonly never[]): void {
  if (options.length > 0) throw new DeclarationError(["it takes no options; leave them out"]);
}
