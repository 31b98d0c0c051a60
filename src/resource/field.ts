import type { Identity } from "../identity.ts";

/** What is wrong with a value; the pointer is added by whoever knows where the value stood. */
export class Flaw {
  readonly code: string;
  readonly detail: string;

  constructor(code: string, detail: string) {
    this.code = code;
    this.detail = detail;
  }
}

/** What a default or a generated value may be made from. */
export interface DraftContext {
  readonly identity: Identity | null;
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
  /** No two records share the value; `"ignoring case"`: in any spelling. */
  readonly unique?: boolean | "ignoring case";
  /** What a record gets when the caller sends none. */
  readonly default?: T | ((context: DraftContext) => T);
  /** Made by the service when the record is created, and read-only. */
  readonly generated?: (context: DraftContext) => T;
  /** One sentence for the API's documentation. */
  readonly description?: string;
  /** Shown in the API's documentation. */
  readonly example?: T;
}

/** How a value of a field is read and stored. */
export interface Kind<T> {
  readonly name:
    | "text"
    | "integer"
    | "decimal"
    | "boolean"
    | "date-time"
    | "enumeration"
    | "e-mail"
    | "reference"
    | "json";
  /** Reads a JSON value. */
  parse(value: unknown): T | Flaw;
  /** Reads text: a query parameter, the content of an XML element. */
  parseText(text: string): T | Flaw;
  /** JSON Schema 2020-12. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly column: {
    readonly type: "text" | "integer" | "decimal" | "boolean" | "date-time" | "json";
    readonly scale?: number;
  };
  /** The resource that the value is an id of. */
  readonly references?: { readonly resource: string; readonly onDelete: "cascade" | "restrict" };
}

/** One field of a resource. `O` remembers the options, so that the types of records and drafts follow from them. */
export interface Field<T = unknown, O = unknown> {
  readonly kind: Kind<T>;
  readonly options: FieldOptions<T>;
  /** Only for the type checker. */
  readonly typed?: { readonly value: T; readonly options: O };
}

export function defineField<T, const O extends FieldOptions<T>>(kind: Kind<T>, options: O): Field<T, O> {
  return Object.freeze({ kind, options });
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
export function isStored({ options }: Field): boolean {
  return options.transient !== true;
}

/** Whether a caller must send the field. */
export function isRequired(field: Field): boolean {
  return isWritable(field) && field.options.optional !== true && field.options.default === undefined;
}
