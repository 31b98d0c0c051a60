import { DeclarationError } from "../../core/checking/declaration-error.ts";
import { buildChoiceCheck, isObject, type Checks } from "../../core/checking/members.ts";
import { made } from "../../core/copy.ts";
import type { Deprecation } from "../../core/deprecation.ts";
import type { Identity } from "../../core/identity.ts";
import { Flaw } from "../../core/problem/flaw.ts";

export { Flaw, type FlawPart } from "../../core/problem/flaw.ts";

/** The data that a default or a generated value may use. */
export interface DraftContext {
  /** The caller's identity. Null if the caller is unknown. */
  readonly identity: Identity | null;
  /**
   * Returns the caller's identity. If the caller is unknown, ends the request with 401 and the challenges of the
   * service.
   */
  requireIdentity(): Identity;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * A permission that decides by the caller alone: by role, scope or identity fields. A permission that narrows to rows
 * does not compile here, and the service does not start with one.
 */
export interface FieldRule {
  readonly name: string;
  readonly narrows?: readonly string[];
  readonly columns?: readonly never[];
  readonly identity?: readonly string[];
  readonly roles?: readonly string[];
  decide(request: never): unknown;
}

/** The options of every kind of field. */
export interface FieldOptions<T> {
  /** True if callers may leave the field out or send null. The field is then null, or has its default. */
  readonly optional?: boolean;
  /**
   * True if the field is shown, but callers cannot set it. Needs a `default`, `generated` or other code that writes it.
   */
  readonly readOnly?: boolean;
  /** True if callers can set the field, but it is never shown. */
  readonly writeOnly?: boolean;
  /** True if the field is passed to the mount's `beforeWrite` and not stored. Only together with `writeOnly`. */
  readonly transient?: boolean;
  /**
   * True for a field like a password. A caller on another host must send it over TLS, as at logins. Only together with
   * `writeOnly`.
   */
  readonly confidential?: boolean;
  /** True if no two records may have the same value. `"case-insensitive"` also compares without case. */
  readonly unique?: boolean | "case-insensitive";
  /**
   * The value of a record if the caller sends none: a value, or a function that returns one synchronously. The result
   * of the function is checked like a sent value. An invalid result is a fault (500).
   */
  readonly default?: T | ((context: DraftContext) => T);
  /**
   * For an existing table: true if the database sets a value when the caller sends none. Together with `readOnly`, the
   * database always sets the value.
   */
  readonly filled?: boolean;
  /**
   * Makes the value when the record is created. The field is read-only. The result is checked like the result of
   * `default`.
   */
  readonly generated?: (context: DraftContext) => T;
  /** True to generate the value again at each write of the record. Only together with `generated`. */
  readonly regenerated?: boolean;
  /** The previous name of the field. Its stored values become values of this field. */
  readonly renamedFrom?: string;
  /**
   * Converts existing values that are not null, once: a function, or for each database an SQL expression over the old
   * columns. Used if the field changes its type or its name. A function is also called for existing values that the
   * field no longer accepts.
   */
  readonly convert?: ((old: unknown) => T | null) | { readonly sqlite?: string; readonly postgres?: string };
  /**
   * The value for existing records without a value, if the field requires it: a value, or a function of the old record.
   */
  readonly backfill?: T | ((record: Readonly<Record<string, unknown>>) => T);
  /**
   * The permission to read the field, for example `hasRole("hr")`. It decides by the caller alone. For other callers
   * the field is missing: in every format, filter, sort and message. Default: every caller who may read the record.
   */
  readonly read?: FieldRule;
  /**
   * The permission to send the field. It decides by the caller alone. Default: every caller who may write the record. A
   * caller who may read the field but not send it gets 400 `read_only`.
   */
  readonly write?: FieldRule;
  /**
   * Announces the removal of the field. Response headers warn a caller who sends the field, filters or sorts by it, or
   * names it in `fields=`.
   */
  readonly deprecated?: Deprecation;
  /**
   * The name of the field for people, in at most 60 characters: `"Due at"`. The API's documentation has it as `title`.
   * JSON does not contain it.
   */
  readonly label?: string;
  /** One sentence for pages and for the API's documentation. */
  readonly description?: string;
  /** Shown in the API's documentation. */
  readonly example?: T;
}

/**
 * A ready-made `default` for the id of a user: the caller's id. With `owner` of the same column, callers cannot create
 * records for other users. Ends the request if the caller is unknown (401, or 403 if no scheme has a challenge).
 *
 * @example
 * ```ts
 * import { caller, defineResource, integer } from "latchkey";
 *
 * export const note = defineResource({ name: "note", fields: { owner_id: integer({ default: caller }) } });
 * ```
 */
export function caller(context: Pick<DraftContext, "requireIdentity">): number {
  const input: unknown = context;
  if (isObject(input) && typeof input["requireIdentity"] === "function") return context.requireIdentity().id;
  throw new DeclarationError(["caller: it is called for each record; write default: caller, without calling it"]);
}

const tones = ["good", "warn", "bad", "accent"] as const;

/** The color in which pages show a word. */
export type Tone = (typeof tones)[number];

/** The check of a tone. */
export const aTone = buildChoiceCheck(...tones);

/** Repeatable random values: the same seed gives the same values. */
export interface Random {
  /** Returns a number from 0 up to, but not including, 1. */
  next(): number;
  /** Returns a whole number from `least` to `most`, including both. */
  whole(least: number, most: number): number;
  /** Returns one of the items. */
  pick<T>(from: readonly [T, ...(readonly T[])] | readonly T[]): T;
}

/**
 * Defines how a value of a field is read, stored, filtered and shown. A custom kind is a plain object with the same
 * members. Other code reads these members and never compares the name of a kind.
 */
export interface Kind<T> {
  /** Lower-case words joined by hyphens. Messages use this name. */
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
    /** True if a decimal is a number in JSON, not text. */
    readonly number?: true;
  };
  /** The largest number of characters of a value written as JSON, if the column is `json`. Default: 65,536. */
  readonly maxLength?: number;
  /** The resource that the value refers to, if the value is an id of another resource. */
  readonly references?: { readonly resource: string; readonly onDelete: "cascade" | "restrict" };
  /**
   * The resource that the ids belong to, if the value is a list of ids. `kind` is the kind of each id. A separate table
   * stores the ids.
   */
  readonly members?: {
    readonly resource: string;
    readonly id: "integer" | "uuid";
    readonly kind: Kind<unknown>;
    /** The effect on the list if a record in it is deleted. Default: `restrict`. */
    readonly onDelete?: "restrict" | "remove";
  };
  /** The facts about a value that only the response to its creation shows (`shownOnce`). */
  readonly once?: OnceFacts;
  /** True if there are only a few different values. The words of such a text are not searched. */
  readonly few?: true;
  /**
   * True if every value has one spelling. A filter then refuses a text that is not a value. Otherwise it compares any
   * text.
   */
  readonly spelled?: true;
  /**
   * The facts about its values that the schema lacks, or `{}`. A kind with a rule promises that a stored value that
   * is parsed again stays the same. If a declaration becomes stricter, `latchkey db migrate` finds the stored values
   * that break it. Values of other kinds are not checked.
   */
  readonly rule?: Readonly<Record<string, unknown>>;
  /** Returns true if a stored value obeys the rule. Default: `parse` returns the same value. */
  fits?(value: unknown): boolean;
  /** A value for the API's documentation, for fields without `example`. */
  readonly example?: T;
  /** The type of its input on pages, which chooses the keyboard of a phone. Default: a text. */
  readonly input?: "email" | "tel" | "url";
  /** Returns the tone of a value. If a kind has this member, pages show its values as labels. */
  tone?(value: T): Tone | null;
  /** Returns the words for a value on pages. Null: the value itself. */
  label?(value: T): string | null;
  /** Returns a random value for tests, in the form that a caller sends. Default: a value that fits the schema. */
  draw?(random: Random): unknown;
  /**
   * The checks of the kind's own options, in addition to the checks of the options of every field. Each returns the
   * mistake, or null if the option is valid.
   */
  readonly options?: Checks;
}

/** The storage of the digest of a value of `shownOnce()`. */
export interface OnceFacts {
  /** The column with the owner of the record. */
  readonly owner: string;
  readonly prefix: string;
  /** The column with the digest. */
  readonly column: string;
  /** Null: the name of the table. */
  readonly purpose: string | null;
}

/**
 * Returns the largest number of characters of a value written as JSON. This maximum limits the time of each read and
 * write.
 */
export function longestJSON({ maxLength = 2 ** 16 }: Pick<Kind<unknown>, "maxLength">): number {
  return maxLength;
}

/** Returns the rule for the values of a kind, as data. The name is enough for a kind whose values are not checked. */
export function ruleOf(kind: Kind<unknown>): Readonly<Record<string, unknown>> {
  return kind.rule === undefined ? { kind: kind.name } : { kind: kind.name, ...kind.schema, ...kind.rule };
}

/** A check for each option that a kind has in addition to the options of every field. */
export type OwnChecks<O> = Readonly<Record<Exclude<keyof O, keyof FieldOptions<unknown>>, Checks[string]>>;

/** One field of a resource. `O` contains the options, so that the types of records and drafts follow from them. */
export interface Field<T = unknown, O = unknown> {
  readonly kind: Kind<T>;
  readonly options: FieldOptions<T>;
  /**
   * The function or the SQL expression that computes the value from the record. A computed field has no column and is
   * read-only.
   */
  readonly computed?: ((record: Readonly<Record<string, unknown>>) => unknown) | ComputedSQL;
  /**
   * The decisions of the rules of the field (`read`, `write`) for one caller. Only in the view of a mount for a caller
   * whom a rule denies something.
   */
  readonly allowed?: { readonly read: boolean; readonly write: boolean };
  /** Only for the type checker. */
  readonly typed?: { readonly value: T; readonly options: O };
}

/** An expression over the fields of a record, for each database that the service may use. */
export interface ComputedSQL {
  readonly sqlite?: string;
  readonly postgres?: string;
}

/**
 * Only for the type checker. `names` are the options that affect the types of records and drafts, with `made` for a
 * default that is a function. The type of a field contains only these names, so that it is readable:
 * `Field<number, "optional">`. This is an interface with one member, because editors would expand a type alias.
 */
export interface OptionNames<O> {
  readonly names: { [K in keyof O]-?: {} extends Pick<O, K> ? never : NamesOf<K, O[K]> }[keyof O];
}

type NamesOf<K, V> = K extends "default"
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
 * Defines a field of a custom kind. `defineResource` reports the mistakes of the field.
 *
 * @example
 * ```ts
 * import { defineField, Flaw, type Kind } from "latchkey/resources";
 *
 * const parse = (value: unknown) =>
 *   typeof value === "string" && /^\+[0-9]{6,15}$/.test(value)
 *     ? value
 *     : new Flaw("invalid", "A phone number is required.");
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
export function defineField<T, const O extends FieldOptions<T>>(
  kind: Kind<T>,
  options: O,
): Field<T, OptionNames<O>["names"]> {
  return Object.freeze(made({ kind, options: parseOptionValues(kind, options) }));
}

/**
 * Parses `default` and `backfill` as if a caller had sent them. A value that the kind refuses stays unchanged, and
 * `defineResource` reports the value as a mistake.
 */
function parseOptionValues<T, O extends FieldOptions<T>>(kind: Kind<T>, options: O): O {
  if (typeof options !== "object" || options === null) return options;
  const valueNames = (["default", "backfill"] as const).filter(
    (name) => options[name] !== undefined && options[name] !== null && typeof options[name] !== "function",
  );
  return valueNames.length === 0
    ? options
    : { ...options, ...Object.fromEntries(valueNames.map((name) => [name, parseOrKeep(kind, options[name])])) };
}

function parseOrKeep(kind: Kind<unknown>, value: unknown): unknown {
  try {
    const read = kind.parse(value);
    return read instanceof Flaw ? value : read;
  } catch {
    return value;
  }
}

/** Returns true if a caller may send the field. */
export function isWritable({ options, allowed }: Field): boolean {
  return options.readOnly !== true && options.generated === undefined && allowed?.write !== false;
}

/** Returns true if representations contain the field. */
export function isShown({ options, allowed }: Field): boolean {
  return options.writeOnly !== true && allowed?.read !== false;
}

/** Returns true if the field has a column. */
export function isStored({ options, computed }: Field): boolean {
  return options.transient !== true && computed === undefined;
}

/** Returns true if records that callers see contain the field, whether it is stored or computed. */
export function isInRecords({ options }: Field): boolean {
  return options.writeOnly !== true && options.transient !== true;
}

/** Returns true if a caller must send the field. */
export function isRequired(field: Field): boolean {
  const { optional: isOptional, default: fallback, filled } = field.options;
  return isWritable(field) && isOptional !== true && fallback === undefined && filled !== true;
}
