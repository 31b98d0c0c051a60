import type { Deprecated, Deprecation } from "../core/deprecation.ts";
import { type Operator } from "../core/operators.ts";
import type { Issue } from "../core/problem/problem.ts";
import type { IdKind } from "./ids.ts";
import type { ComputedSQL, Field } from "./kinds/field.ts";
import type { CheckedOf, RecordOf, ShownBy } from "./types.ts";

/** The fields of a resource by name, in the order in which they are shown. */
export type Fields = Readonly<Record<string, Field>>;

/** A field that is made of the others: read-only, and kept nowhere. */
export type ComputedField<R extends Resource, F extends Field> = ComputedByFunction<R, F> | ComputedBySQL<F>;

/** A field that the database makes of the others whenever it reads the record. */
export interface ComputedBySQL<F extends Field> {
  /** What its values are: `text()`, `decimal({ … })`. */
  readonly as: F;
  /**
   * An expression over the fields of the record, by their names in quotes: `'"count" * "price"'`; where the databases do not agree, one for
   * each. It is tried at the start, and always has to give the same of the same: no clock, no chance, no other table. Text of callers has no
   * business in it.
   */
  readonly sql: string | ComputedSQL;
}

/** A field that a function makes of the others. */
export interface ComputedByFunction<R extends Resource, F extends Field> {
  /** What its values are: `text()`, `decimal({ … })`. */
  readonly as: F;
  /** Makes it of the record as callers see it. What throws, or gives what the kind does not take, is a fault (500), and nothing is written. */
  from(record: RecordOf<R>): ShownBy<F>;
}

/** A filter of which more is to be said than its operators. */
export interface FilterDeclaration {
  readonly operators: readonly Operator[];
  /** It will go: whoever asks by it is told in the answer's headers. The field itself may stay. */
  readonly deprecated?: Deprecation;
}

/** What of a resource will go, by the names of fields and filters. */
export interface Deprecations {
  readonly fields: ReadonlyMap<string, readonly Deprecated[]>;
  readonly filters: ReadonlyMap<string, readonly Deprecated[]>;
}

/** How many records a page of a list has. */
export interface PageSize {
  /** Where the caller does not say. */
  readonly default: number;
  /** Whatever the caller says. */
  readonly maximum: number;
}

/** A resource, as its author writes it. */
export interface ResourceDeclaration<
  F extends Fields,
  N extends string = string,
  Outer extends Resource | undefined = Resource | undefined,
  I extends IdKind = IdKind,
  C extends Fields = Fields,
> {
  /** One of them: `user`. The element of its XML. */
  readonly name: N;
  /** Many of them: the last part of the path and the name of the table; the name with an `s` where it is left out. */
  readonly plural?: string;
  /** The resource whose records these belong to: `/orders/{order_id}/items`. They go when it goes. */
  readonly within?: Outer;
  /**
   * What its ids are. `integer`, where it is left out: whole numbers from 1, handed out by the store. `uuid`: UUIDs of version 7 (RFC 9562),
   * made by the service, which tell nobody how many there are. `text`, of a table that was there before: what its key is, chosen by whoever
   * makes the record (`PUT`).
   */
  readonly id?: I;
  /** Without `id`, which every record has. */
  readonly fields: F;
  /** Fields that are made of the others, behind them in every representation: `{ name: { as: text(), from: ({ first }) => … } }`. */
  readonly computed?: { readonly [K in keyof C]: ComputedField<Resource<F, N, string, I>, C[K]> };
  /** Which operators a list can be filtered by, for each field; `id` too. `{ operators, deprecated }` for a filter that will go. */
  readonly filters?: Readonly<Partial<Record<keyof F | "id", readonly Operator[] | FilterDeclaration>>>;
  /**
   * A table that was there before, where the records are kept in one: others make it, change its form and write to it, and nothing of ours
   * is added. On PostgreSQL also with its schema: `shop.orders`. A view can be read.
   */
  readonly table?: string;
  /** What the columns of that table are called, where that is not what the fields are called; `id` is its key: `{ id: "user_id", name: "first_name" }`. */
  readonly columns?: Readonly<Partial<Record<keyof F | "id" | ParentColumnOf<Outer>, string>>>;
  /** What may be done with the rows of that table; where it is left out they are only read. */
  readonly writes?: readonly TableWrite[];
  /**
   * What tells one state of such a row from another. A field of whole numbers that everybody who writes counts up (`{ field: "lock_version" }`),
   * or a `digest` of the fields; where it is left out, `xmin` on PostgreSQL and a digest on SQLite.
   */
  readonly revision?: "digest" | { readonly field: keyof F & string };
  /** Which fields a list can be sorted by; `id` always. */
  readonly sorts?: readonly (keyof F & string)[];
  /** The texts whose words `?search=` looks at: each word that is asked for must begin one of them. An index finds them. */
  readonly search?: readonly (keyof F & string)[];
  /**
   * Fields that are gone, each with the month until which their values stay in the database, where nobody sees them: `{ nickname: "2027-01" }`.
   * From that month on `latchkey db plan` says that they can go.
   */
  readonly removed?: Readonly<Record<string, string>>;
  /** How many records a page of a list has where the caller does not say (100), and at most (1000, which is the most there is). */
  readonly pageSize?: Partial<PageSize>;
  /** Lists that no index serves are meant, like `contains` in a large table: the start does not name them. They are read beside all else, for some seconds at most. */
  readonly scans?: boolean;
  /** What must hold across fields. Gives an issue for each thing that is wrong, at once; anything but a list of issues is a fault (500), and nothing is written. */
  check?(record: CheckedOf<Resource<F, N, string, I>>): readonly Issue[];
  /** One sentence for the API's documentation. */
  readonly description?: string;
}

/**
 * A resource that was found to be in order: `F` are its fields, `N` its name, `Parent` the column of what it stands within, and `I` and
 * `ParentId` what the ids of both are.
 */
export interface Resource<
  F extends Fields = Fields,
  N extends string = string,
  Parent extends string = string,
  I extends IdKind = IdKind,
  ParentId extends IdKind = IdKind,
> {
  readonly name: N;
  readonly plural: string;
  /** `/users`, `/orders/{order_id}/items` */
  readonly path: string;
  readonly within: (Resource & { readonly id: ParentId }) | null;
  readonly id: I;
  /** The column that holds the id of the record this belongs to; null where there is none. */
  readonly parentColumn: Parent | null;
  readonly fields: F;
  readonly filters: ReadonlyMap<string, readonly Operator[]>;
  /** Null: nothing of it will go. */
  readonly deprecations: Deprecations | null;
  readonly sorts: readonly string[];
  readonly search: readonly string[];
  readonly removed: Readonly<Record<string, string>>;
  readonly pageSize: PageSize;
  readonly scans: boolean;
  /** The table that was there before; null where the store makes one. */
  readonly table: ExistingTable | null;
  readonly check: Check | null;
  readonly description: string | null;
}

/** What may be done with the rows of a table that was there before. */
export type TableWrite = "create" | "update" | "delete";

/** A table that was there before, and how a resource is kept in it. */
export interface ExistingTable {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly writes: readonly TableWrite[];
  readonly revision: "database" | "digest" | { readonly field: string };
}

/** Written as a method, so that one that knows its own record is one of these: it is called with that record alone. */
type Check = { check(record: Readonly<Record<string, unknown>>): readonly Issue[] }["check"];

/** The column of the record that something within the resource belongs to. */
export type ParentColumnOf<Outer> = Outer extends { readonly name: infer N extends string } ? `${N}_id` : never;

/** What the ids of that record are. */
export type ParentIdOf<Outer> = Outer extends { readonly id: infer I extends IdKind } ? I : never;
