import { inspect, types } from "node:util";
import { isExactNumber } from "../exact-numbers.ts";
import { shownName, suggestion } from "./nearest.ts";
import { withoutCredentials } from "./urls.ts";

/** An object with any members. */
export type Members = Readonly<Record<string, unknown>>;
/** Returns a sentence that says what the value has to be. Returns null if the value is right. */
export type ValueCheck = (value: unknown) => string | null;
/** The members that an object may have, each with its check. */
export type Checks = Readonly<Record<string, ValueCheck>>;

/** The compiler's message for an unknown name, with the known names that begin like it. No value has this type. */
export type ThereIsNo<Name, Known = never> = Name extends string
  ? [Meant<Name, Known>] extends [never]
    ? `there is no ${Name}`
    : `there is no ${Name}; did you mean ${Meant<Name, Known>}?`
  : never;

/**
 * Finds known names with the same first three letters, or else the same first one. Comparing more would slow down the
 * compiler.
 */
type Meant<Name extends string, Known> =
  Lowercase<Name> extends `${infer A}${infer B}${infer C}${string}`
    ? Beginning<Known, `${A}${B}${C}`> extends infer Like extends string
      ? [Like] extends [never]
        ? Beginning<Known, A>
        : Like
      : never
    : never;
type Beginning<Known, Letters extends string> = Known extends string
  ? Lowercase<Known> extends `${Letters}${string}`
    ? Known
    : never
  : never;

/**
 * The compiler's message for an unknown name, used where a value may be a text or a number. The plain message would be
 * misleading there. No value has this type.
 */
export interface Mistake<Said> {
  readonly [nothing]: Said;
}
declare const nothing: unique symbol;

/**
 * Options with these names and no others. For inferred types, the compiler accepts unknown names next to a known one.
 * With this type, it reports that a value is not assignable to `Mistake<"there is no uniqe; did you mean unique?">`.
 */
export type Only<O, Allowed> = Allowed &
  O & { readonly [K in Exclude<keyof O, keyof Allowed>]: Mistake<ThereIsNo<K, keyof Allowed>> } & Within<
    O,
    Allowed,
    "deprecated"
  >;

/** Does the same as `Only` for the members of one option. */
type Within<O, Allowed, Name extends string> = [O, Allowed] extends [
  { readonly [K in Name]: infer Given },
  { readonly [K in Name]?: infer Known },
]
  ? {
      readonly [K in Name]: {
        readonly [M in Exclude<keyof Given, keyof NonNullable<Known>>]: ThereIsNo<M, keyof NonNullable<Known>>;
      };
    }
  : unknown;

/**
 * Returns the mistakes in the members of an object. An unknown name is a mistake too: the service would silently ignore
 * it.
 */
export function membersMistakes(value: Members, checks: Checks): string[] {
  if (hasNoMistakes(value, checks)) return [];
  return [
    ...unknownMembers(value, Object.keys(checks)),
    ...Object.entries(checks).flatMap(([name, check]) => {
      const member = memberOf(value, name);
      const wrong = check(member);
      return wrong === null ? [] : [`${name} is ${shownTo(check, member)}; ${wrong}`];
    }),
  ];
}

const hidingChecks = new WeakSet<ValueCheck>();
const showingChecks = new WeakSet<ValueCheck>();

/**
 * Returns a copy of a check for a value that may be a secret. Its message shows the type of the value, never the
 * content.
 */
export function unseen(check: ValueCheck): ValueCheck {
  // A new function, because the same check may also be used for a value that is not secret.
  const own: ValueCheck = (value) => check(value);
  hidingChecks.add(own);
  return own;
}

/**
 * Marks the check of a word or a formatted text. Its message shows the given text, because no secret is expected there.
 */
export function seen(check: ValueCheck): ValueCheck {
  showingChecks.add(check);
  return check;
}

/** Returns a value for the message of a check. A text may be a misplaced secret, so only `seen` shows it. */
export function shownTo(check: ValueCheck, value: unknown): string {
  if (hidingChecks.has(check)) return describeType(value);
  return showingChecks.has(check) ? shown(value) : shownWithoutText(value);
}

/**
 * Formats a value for a message if no text is expected. Shows only the type of a text, which may be a misplaced secret.
 */
export function shownWithoutText(value: unknown): string {
  return isText(value) ? describeType(value) : shown(value);
}

/** Returns true if there are no mistakes. Creates no list, because it runs for every reply of a handler. */
function hasNoMistakes(value: Members, checks: Checks): boolean {
  for (const name in value) if (!Object.hasOwn(checks, name)) return false;
  for (const name in checks) if (checks[name]!(memberOf(value, name)) !== null) return false;
  return true;
}

/** Returns a member. Leaves out what every object inherits, because a name can be `constructor` too. */
function memberOf(value: Members, name: string): unknown {
  return name in Object.prototype && !Object.hasOwn(value, name) ? undefined : value[name];
}

/** Returns the unknown names of a plain object, each with the name that was probably meant. */
export function unknownMembers(value: Members, knownNames: readonly string[]): string[] {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return [];
  const unknown = Object.keys(value).filter((name) => !knownNames.includes(name));
  return unknown.map((name) => `there is no option ${shownName(name)}${suggestion(name, knownNames)}`);
}

/** Returns true for lower-case words joined by underscores, like `unit_price`. */
export function isSnakeCase(name: string): boolean {
  return /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name);
}

export const text: ValueCheck = (value) => (isText(value) && value !== "" ? null : "it has to be a text");
export const aFunction: ValueCheck = (value) => (typeof value === "function" ? null : "it has to be a function");
export const aBoolean = seen((value) => (typeof value === "boolean" ? null : "it has to be true or false"));
export const anObject: ValueCheck = (value) => (isObject(value) ? null : "it has to be an object");
/** Checks for an object with named members. A promise, a Map or a Date would look like an empty object. */
export const namedMembers: ValueCheck = (value) =>
  isObject(value) && !isStrange(value, Object.keys(value)) ? null : "it has to be a plain object, like { name: … }";
export const anything: ValueCheck = () => null;
export const aWholeNumber = seen((value) => (Number.isSafeInteger(value) ? null : "it has to be a whole number"));
/** Checks for a whole number from `least` to `most`. */
export function wholeFrom(least: number, most = Number.MAX_SAFE_INTEGER): ValueCheck {
  const range = most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`;
  return seen((value) =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
      ? null
      : `it has to be a whole number ${range}`,
  );
}

/** Checks for an object with these members. */
export function buildObjectCheck(checks: Checks, cure: string): ValueCheck {
  return (value) => (isObject(value) ? joinMistakes(membersMistakes(value, checks)) : cure);
}

/** Checks for an object with these functions, for example a plug-in. It may have other members too. */
export function objectWith(what: string, ...functions: readonly string[]): ValueCheck {
  return (value) => {
    const missing = isObject(value) ? functions.filter((name) => typeof value[name] !== "function") : functions;
    if (missing.length === 0) return null;
    return `it has to be ${what}${isObject(value) ? `; it has no function ${missing.join(", ")}` : ""}`;
  };
}

/** Returns the mistakes in one value as one sentence. Returns null if there are none. */
export function joinMistakes(mistakes: readonly string[]): string | null {
  return mistakes.length === 0 ? null : mistakes.join("; ");
}

/** Joins the mistakes to the end of a message, with a full stop or a question mark. */
export function formatMistakes(mistakes: readonly string[]): string {
  const all = mistakes.join("; ");
  return all.endsWith("?") ? all : `${all}.`;
}

export const texts = seen((value) =>
  Array.isArray(value) && value.every(isText) ? null : "it has to be a list of texts",
);

/** Checks for a whole number that is not below another option of the same object. */
export function notBelow(name: string, least: unknown): ValueCheck {
  return seen(
    (value) =>
      aWholeNumber(value) ??
      (Number.isSafeInteger(least) && Number(value) < Number(least)
        ? `it has to be ${name} (${String(least)}) or more`
        : null),
  );
}

export const aList = seen((value) => (Array.isArray(value) ? null : "it has to be a list"));

/** Checks for a list that is not empty. */
export const aFullList: ValueCheck = (value) =>
  Array.isArray(value) && value.length > 0
    ? null
    : "it has to be a list of one or more; leave the list out if it is empty";

/** Checks for a list that contains only these words. */
export function buildListCheck(...values: readonly string[]): ValueCheck {
  const each = buildChoiceCheck(...values);
  return (value) =>
    Array.isArray(value)
      ? joinMistakes(
          Array.from(value, each).flatMap((wrong, at) =>
            wrong === null ? [] : [`it contains ${shown(value[at])}; ${wrong}`],
          ),
        )
      : `it has to be a list of ${values.join(", ")}`;
}

export function buildChoiceCheck(...values: readonly string[]): ValueCheck {
  return seen((value) => {
    if (isText(value) && values.includes(value)) return null;
    return `it has to be one of ${values.join(", ")}${isText(value) ? describeSuggestion(value, values) : ""}`;
  });
}

function describeSuggestion(value: string, values: readonly string[]): string {
  const end = suggestion(value, values);
  return end.startsWith("; did you mean") ? end : "";
}

export function matching(form: RegExp, cure: string): ValueCheck {
  return seen((value) => (isText(value) && form.test(value) ? null : cure));
}

export function optional(check: ValueCheck): ValueCheck {
  const own: ValueCheck = (value) => (value === undefined ? null : check(value));
  return keepVisibility(check, own);
}

/** Returns a check that also accepts null. */
export function orNull(check: ValueCheck): ValueCheck {
  return keepVisibility(check, (value) => (value === null ? null : check(value)));
}

function keepVisibility(check: ValueCheck, own: ValueCheck): ValueCheck {
  for (const kind of [hidingChecks, showingChecks]) if (kind.has(check)) kind.add(own);
  return own;
}

/** Checks for a level of proofs: 1 or 2. */
export const aLevel: ValueCheck = (value) => (value === 1 || value === 2 ? null : "it has to be 1 or 2");

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/**
 * Formats a declared value for a message, without secrets. Shows no content of objects, and no user, password or
 * parameters of a URL.
 */
export function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  if (isObject(value)) return findClassName(value) ?? "an object";
  return inspect(isText(value) ? withoutCredentials(value) : value).slice(0, 60);
}

/** Returns the advice for a function that was given instead of its result: `csv` for `csv()`. */
export function adviseCall(value: unknown): string {
  return typeof value === "function" && value.name !== "" ? `, or call it: ${value.name}()` : "";
}

/** Returns the name of a built-in class of an object. */
function findClassName(value: object): string | null {
  if (types.isDate(value)) return "a Date";
  if (types.isMap(value)) return "a Map";
  if (types.isSet(value)) return "a Set";
  return types.isPromise(value) ? "a promise" : null;
}

/**
 * Returns true for an object of a class without the known members: a Date, a Map, a `fetch` response. It would look
 * like an empty object.
 */
export function isStrange(value: Members, knownNames: readonly string[]): boolean {
  return isOfClass(value) && !knownNames.some((name) => name in value);
}

/** Returns true for an instance of a class if a copy of it would lose members, for example accessors of the class. */
export function isStrangeToCopy(value: Members, knownNames: readonly string[]): boolean {
  if (!isOfClass(value)) return false;
  const members = knownNames.filter((name) => name in value && !(name in Object.prototype));
  return members.length === 0 || !members.every((name) => Object.hasOwn(value, name));
}

function isOfClass(value: Members): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== Object.prototype && prototype !== null;
}

/** Returns the type of a value from a caller or a column, without its content. */
export function describeType(value: unknown): string {
  if (isText(value)) return value === "" ? "an empty text" : "a text";
  if (typeof value === "number") return Number.isFinite(value) ? "a number" : String(value);
  return typeof value === "object" || typeof value === "undefined" || typeof value === "function"
    ? shown(value)
    : `a ${typeof value}`;
}
