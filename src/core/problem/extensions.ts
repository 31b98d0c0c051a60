import { isObject, describeType } from "../checking/members.ts";
import { shownName, suggestion } from "../checking/nearest.ts";
import { Flaw } from "./flaw.ts";

/** One extension member of a problem (RFC 9457 §3.2). Every field of a resource can be used as an extension member. */
export interface ExtensionMember<T = unknown, O = unknown> {
  readonly kind: {
    readonly name?: string;
    /** JSON Schema 2020-12. */
    readonly schema: Readonly<Record<string, unknown>>;
    /** A value for the API's documentation. */
    readonly example?: T;
    /** Returns the value in its written form. Returns a `Flaw` if the value is not valid. */
    parse(value: unknown): T | Flaw;
  };
  readonly options: { readonly optional?: boolean; readonly description?: string; readonly example?: T };
  /** For the type checker only. */
  readonly typed?: { readonly value: T; readonly options: O };
}

/** Extension members by name. */
export type ExtensionMembers = Readonly<Record<string, ExtensionMember>>;

type ExtensionValue<M> = M extends ExtensionMember<infer T, infer _> ? T : never;
type IsOptional<M> =
  M extends ExtensionMember<infer _, infer O>
    ? unknown extends O
      ? false
      : ["optional"] extends [O]
        ? true
        : false
    : false;
type OptionalName<E> = keyof { [K in keyof E as IsOptional<E[K]> extends true ? K : never]: K };

/** The values of extension members. A member with `optional: true` may be missing. */
export type ExtensionsOf<E extends ExtensionMembers> = string extends keyof E
  ? Readonly<Record<string, unknown>>
  : { readonly [K in Exclude<keyof E, OptionalName<E>>]: ExtensionValue<E[K]> } & {
        readonly [K in OptionalName<E> & keyof E]?: ExtensionValue<E[K]> | undefined;
      } extends infer Values
    ? { readonly [K in keyof Values]: Values[K] } // One object, so that an editor shows its members.
    : never;

/** The members of every problem, and `instance` of RFC 9457. No extension member has one of these names. */
export const standardMembers: ReadonlySet<string> = new Set([
  "type",
  "title",
  "status",
  "detail",
  "instance",
  "code",
  "request_id",
  "errors",
]);

const NONE: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * Reads the extension members of one problem. Throws a TypeError if one is unknown, missing or does not fit its field.
 * The message does not contain the value, because it may be a secret.
 */
export function readExtensions(
  code: string,
  members: ExtensionMembers | undefined,
  input: unknown,
): Readonly<Record<string, unknown>> {
  if (input === undefined && members === undefined) return NONE;
  if (input !== undefined && !isObject(input))
    throw new TypeError(`problem(${shownName(code)}): extensions is ${describeType(input)}; it has to be an object`);
  const declared = members ?? {};
  for (const name of Object.keys(input ?? {}))
    if (!Object.hasOwn(declared, name) || standardMembers.has(name))
      throw new TypeError(
        `problem(${shownName(code)}): there is no extension ${shownName(name)}${suggestion(name, Object.keys(declared))}`,
      );
  const read: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(declared)) {
    const value = readExtension(code, name, member, input?.[name]);
    if (value !== undefined) read[name] = value;
  }
  return read;
}

function readExtension(code: string, name: string, { kind, options }: ExtensionMember, value: unknown): unknown {
  const place = `problem(${shownName(code)}): the extension ${name}`;
  if (value === undefined) {
    if (options.optional === true) return undefined;
    throw new TypeError(`${place} is missing; write { extensions: { ${name}: … } }, or declare the field optional`);
  }
  const read = kind.parse(value);
  if (!(read instanceof Flaw)) return read;
  const flaws = read.parts.length === 0 ? [{ pointer: "", code: read.code }] : read.parts;
  const where = flaws.map((flaw) => (flaw.pointer === "" ? flaw.code : `${flaw.code} at ${flaw.pointer}`));
  throw new TypeError(`${place} is ${describeType(value)} that its field does not take: ${where.join(", ")}`);
}
