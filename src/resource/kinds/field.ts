import { DeclarationError } from "../../core/checking/declaration-error.ts";
import { isObject, type Checks } from "../../core/checking/members.ts";
import { made } from "../../core/copy.ts";
import type { Deprecation } from "../../core/deprecation.ts";
import type { Identity } from "../../core/identity.ts";
import { Flaw } from "../../core/problem/flaw.ts";

export { Flaw, type FlawPart } from "../../core/problem/flaw.ts";

/** What a default or a generated value may be made from. */
export interface DraftContext {
  /** Who is calling; null where nobody is known. */
  readonly identity: Identity | null;
  /** Who is calling. Where nobody is known it ends the request: 401, with the challenges of the service. */
  requireIdentity(): Identity;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What every kind of field can be told. */
export interface FieldOptions<T> {
  /** May be left out or null; then it is null, or the default. */
  readonly optional?: boolean;
  /** Shown, never taken from a caller. Needs a `default` or `generated`, or somebody who writes it. */
  readonly readOnly?: boolean;
  /** Taken, never shown. */
  readonly writeOnly?: boolean;
  /** Handed to the mount's `beforeWrite` and not kept. Only together with `writeOnly`. */
  readonly transient?: boolean;
  /** Like a password: from another host it is taken over TLS alone, as at logins. Only together with `writeOnly`. */
  readonly confidential?: boolean;
  /** No two records share the value; `"case-insensitive"`: in any spelling. */
  readonly unique?: boolean | "case-insensitive";
  /** What a record gets when the caller sends none. What a function gives, at once, is read as what is sent is; where the field does not take it, that is a fault (500). */
  readonly default?: T | ((context: DraftContext) => T);
  /** In a table that was there before: the database gives it a value where the caller sends none. Together with `readOnly`, always. */
  readonly filled?: boolean;
  /** Made by the service when the record is created, and read-only. What it gives is looked at as that of `default` is. */
  readonly generated?: (context: DraftContext) => T;
  /** Made anew whenever the record is written. Only together with `generated`. */
  readonly regenerated?: boolean;
  /** What the field was called before: the values that are there go with it. */
  readonly renamedFrom?: string;
  /**
   * Gives the new value for one that is there and not null, once: where the field changes its type or its name, and for values that it would
   * take no more. A function, or an expression of the database over its old columns.
   */
  readonly convert?: ((old: unknown) => T | null) | { readonly sqlite?: string; readonly postgres?: string };
  /** What records get that are there and have no value where the field needs one: a value, or a function of the record as it was. */
  readonly backfill?: T | ((record: Readonly<Record<string, unknown>>) => T);
  /** It will go: whoever sends it, filters or sorts by it or names it in `fields=` is told in the answer's headers. */
  readonly deprecated?: Deprecation;
  /** One sentence for the API's documentation. */
  readonly description?: string;
  /** Shown in the API's documentation. */
  readonly example?: T;
}

/**
 * A ready-made `default` for the id of a user: whoever is calling. `owner` of the same column then lets nobody make a record for
 * somebody else. Ends the request where nobody is known (401, or 403 where no scheme has a challenge).
 *
 * @example
 * ```ts
 * import { caller, defineResource, integer } from "latchkey";
 *
 * export const note = defineResource({ name: "note", fields: { owner_id: integer({ default: caller }) } });
 * ```
 */
export function caller(context: Pick<DraftContext, "requireIdentity">): number {
  const given: unknown = context;
  if (isObject(given) && typeof given["requireIdentity"] === "function") return context.requireIdentity().id;
  throw new DeclarationError(["caller: it is asked for each record; write default: caller, without calling it"]);
}

/** How a value of a field is read and stored. A kind of one's own is a plain object with the same members. */
export interface Kind<T> {
  /** Lower-case words joined by hyphens; messages call it by this name. */
  readonly name: string;
  /** Reads a JSON value. */
  parse(value: unknown): T | Flaw;
  /** Reads text: a query parameter, the content of an XML element. */
  parseText(text: string): T | Flaw;
  /** JSON Schema 2020-12. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly column: {
    readonly type: "text" | "integer" | "decimal" | "double" | "boolean" | "date" | "date-time" | "json";
    readonly scale?: number;
    /** A decimal is a number in JSON, and not text. */
    readonly number?: true;
  };
  /** The most characters of a value written as JSON, where the column is `json`; 65,536 where it is left out. */
  readonly maxLength?: number;
  /** The resource that the value is an id of. */
  readonly references?: { readonly resource: string; readonly onDelete: "cascade" | "restrict" };
  /** The value is a list of ids of that resource, each of this kind, which are kept in a table of their own. */
  readonly members?: {
    readonly resource: string;
    readonly id: "integer" | "uuid";
    readonly kind: Kind<unknown>;
    /** What becomes of the list when a record goes that it names; `restrict` where it is left out. */
    readonly onDelete?: "restrict" | "remove";
  };
  /** The options of its own, besides those of every field: what each has to be, or null where it is that. */
  readonly options?: Checks;
}

/** The most characters of a value written as JSON. Every reader and writer of it takes its time. */
export function longestJSON({ maxLength = 2 ** 16 }: Pick<Kind<unknown>, "maxLength">): number {
  return maxLength;
}

/** A check for each option that a kind has besides those of every field. */
export type OwnChecks<O> = Readonly<Record<Exclude<keyof O, keyof FieldOptions<unknown>>, Checks[string]>>;

/** One field of a resource. `O` remembers the options, so that the types of records and drafts follow from them. */
export interface Field<T = unknown, O = unknown> {
  readonly kind: Kind<T>;
  readonly options: FieldOptions<T>;
  /** Makes the value of the record as callers see it, or lets the database make it; such a field has no column and is read-only. */
  readonly computed?: ((record: Readonly<Record<string, unknown>>) => unknown) | ComputedSQL;
  /** Only for the type checker. */
  readonly typed?: { readonly value: T; readonly options: O };
}

/** An expression over the fields of a record, for each database that the service may be kept in. */
export interface ComputedSQL {
  readonly sqlite?: string;
  readonly postgres?: string;
}

/**
 * Only for the type checker: the names of the options that types of records and drafts follow from, `made` where the default is a function. A
 * field shows no others, so that the type of a resource can be read: `Field<number, "optional">`. They are a member, for of a type by another name
 * editors would show what it is made of.
 */
export interface Told<O> {
  readonly names: { [K in keyof O]-?: {} extends Pick<O, K> ? never : ToldBy<K, O[K]> }[keyof O];
}

type ToldBy<K, V> = K extends "default"
  ? V extends (...context: never[]) => unknown
    ? "default" | "made"
    : V extends {} | null
      ? "default"
      : never
  : K extends "generated"
    ? K
    : K extends "optional" | "readOnly" | "writeOnly" | "transient" | "filled"
      ? V extends true
        ? K
        : never
      : never;

/**
 * A field of a kind of one's own. What is wrong with it is told by the resource that has it.
 *
 * @example
 * ```ts
 * import { defineField, Flaw, type Kind } from "latchkey/resources";
 *
 * const parse = (value: unknown) =>
 *   typeof value === "string" && /^\+[0-9]{6,15}$/.test(value) ? value : new Flaw("invalid", "A phone number is required.");
 * const kind: Kind<string> = {
 *   name: "phone",
 *   parse,
 *   parseText: parse,
 *   schema: { type: "string" },
 *   column: { type: "text" },
 * };
 * export const phone = defineField(kind, { optional: true });
 * ```
 */
export function defineField<T, const O extends FieldOptions<T>>(kind: Kind<T>, options: O): Field<T, Told<O>["names"]> {
  return Object.freeze(made({ kind, options: asRead(kind, options) }));
}

/** Values that stand in the options become what they would be if they were sent. What the kind refuses is told with the declaration. */
function asRead<T, O extends FieldOptions<T>>(kind: Kind<T>, options: O): O {
  if (typeof options !== "object" || options === null) return options;
  const given = (["default", "backfill"] as const).filter(
    (name) => options[name] !== undefined && options[name] !== null && typeof options[name] !== "function",
  );
  return given.length === 0
    ? options
    : { ...options, ...Object.fromEntries(given.map((name) => [name, readBy(kind, options[name])])) };
}

function readBy(kind: Kind<unknown>, value: unknown): unknown {
  try {
    const read = kind.parse(value);
    return read instanceof Flaw ? value : read;
  } catch {
    return value;
  }
}

/** Whether each caller may know the name of the field: no `read` or `write` rule hides it. */
export function hasOpenName({ options }: Field): boolean {
  return !("read" in options || "write" in options);
}

/** Whether a caller may send the field. */
export function isWritable({ options }: Field): boolean {
  return options.readOnly !== true && options.generated === undefined;
}

/** Whether the field stands in representations. */
export function isShown({ options }: Field): boolean {
  return options.writeOnly !== true;
}

/** Whether the field has a column. */
export function isStored({ options, computed }: Field): boolean {
  return options.transient !== true && computed === undefined;
}

/** Whether the field stands in records that callers see, whoever makes its value. */
export function isInRecords({ options }: Field): boolean {
  return options.writeOnly !== true && options.transient !== true;
}

/** Whether a caller must send the field. */
export function isRequired(field: Field): boolean {
  const { optional: isOptional, default: fallback, filled } = field.options;
  return isWritable(field) && isOptional !== true && fallback === undefined && filled !== true;
}
