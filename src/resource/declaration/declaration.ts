import type { Deprecated, Deprecation } from "../../core/deprecation.ts";
import { type Operator } from "../../core/operators.ts";
import type { Issue } from "../../core/problem/problem.ts";
import type { ComputedSQL, Field } from "./field.ts";
import type { ResourceLabel } from "./label.ts";
import type { CheckedOf, IdKind, RecordOf, ShownBy } from "./types.ts";

/** The fields of a resource by name, in the order of their output. */
export type Fields = Readonly<Record<string, Field>>;

/** A field that is computed from other fields of the record. It is read-only and not stored. */
export type ComputedField<R extends Resource, F extends Field> = ComputedByFunction<R, F> | ComputedBySQL<F>;

/** A field that the database computes from other fields on every read. */
export interface ComputedBySQL<F extends Field> {
  /** The kind of its values: `text()`, `decimal({ … })`. */
  readonly as: F;
  /**
   * An expression over the fields of the record, with their names in quotes: `'"count" * "price"'`. If the databases
   * need different expressions, an object with one expression for each database. The start of the service tests the
   * expression. It must be deterministic: no clock, no randomness, no other table. It must not contain texts from
   * callers.
   */
  readonly sql: string | ComputedSQL;
}

/** A field that a function computes from other fields. */
export interface ComputedByFunction<R extends Resource, F extends Field> {
  /** The kind of its values: `text()`, `decimal({ … })`. */
  readonly as: F;
  /**
   * Computes the value from the record as callers see it. An exception, or a value that the kind refuses, is a fault
   * (500), and nothing is written.
   */
  from(record: RecordOf<R>): ShownBy<F>;
}

/** A filter with more options than its operators. */
export interface FilterDeclaration {
  readonly operators: readonly Operator[];
  /** The deprecation. Responses announce it to callers that use the filter. The field itself need not be deprecated. */
  readonly deprecated?: Deprecation;
}

/** The deprecated parts of a resource, by the names of fields and filters. */
export interface Deprecations {
  readonly fields: ReadonlyMap<string, readonly Deprecated[]>;
  readonly filters: ReadonlyMap<string, readonly Deprecated[]>;
}

/** One field of an order. */
export interface SortField {
  readonly field: string;
  readonly descending: boolean;
}

/** The text of an order over these fields: `-created_at`, `state,-id`. Only the first field is checked by its type. */
export type DefaultSort<K extends string> = SortName<K> | `${SortName<K>},${string}`;

/** The names of at least two fields. */
export type UniqueSet<K extends string> = readonly [K, K, ...(readonly K[])];

type SortName<K extends string> = `${"" | "-"}${K | "id"}`;

/** The number of records on a page of a list. */
export interface PageSize {
  /** The size if the caller does not choose one. */
  readonly default: number;
  /** The largest size that a caller can choose. */
  readonly maximum: number;
}

/** The declaration of a resource: the input of `defineResource`. */
export interface ResourceDeclaration<
  F extends Fields,
  N extends string = string,
  Outer extends Resource | undefined = Resource | undefined,
  I extends IdKind = IdKind,
  C extends Fields = Fields,
> {
  /** The singular: `user`. Also the name of its XML element. */
  readonly name: N;
  /** The plural: the last part of the path and the name of the table. Default: the name with an `s`. */
  readonly plural?: string;
  /**
   * The parent resource: `/orders/{order_id}/items`. The deletion of a parent record also deletes its records of this
   * resource.
   */
  readonly within?: Outer;
  /**
   * The type of its ids. `integer` (default): whole numbers from 1, issued by the store. `uuid`: UUIDs of version 7
   * (RFC 9562), made by the service. These UUIDs do not reveal the number of records. `text`: the text keys of an
   * existing table. The client that creates a record chooses its key (`PUT`). With a field `shownOnce()`, the service
   * makes the keys.
   */
  readonly id?: I;
  /** The fields without `id`, which every record has. */
  readonly fields: F;
  /** Computed fields. They come last in every representation: `{ name: { as: text(), from: ({ first }) => … } }`. */
  readonly computed?: { readonly [K in keyof C]: ComputedField<Resource<F, N, string, I>, C[K]> };
  /**
   * The filter operators of a list, for each field and for `id`. `{ operators, deprecated }` for a deprecated filter.
   */
  readonly filters?: Readonly<Partial<Record<keyof F | "id", readonly Operator[] | FilterDeclaration>>>;
  /**
   * The name of an existing table with the records. Other programs made it, may change its columns and may write to it.
   * Latchkey adds nothing to it. On PostgreSQL, the name may include the schema: `shop.orders`. A view can be named
   * too, for reading.
   */
  readonly table?: string;
  /**
   * The column names of the existing table, if they differ from the fields. `id` is its key:
   * `{ id: "user_id", name: "first_name" }`.
   */
  readonly columns?: Readonly<Partial<Record<keyof F | "id" | ParentColumnOf<Outer>, string>>>;
  /** The allowed writes to the existing table. Default: none. */
  readonly writes?: readonly TableWrite[];
  /**
   * The source of the revision of a row in the existing table. The revision must differ for each state of the row.
   * Either a field of whole numbers that every writer increments (`{ field: "lock_version" }`), or a `digest` of the
   * fields. Default: `xmin` on PostgreSQL and a digest on SQLite.
   */
  readonly revision?: "digest" | { readonly field: keyof F & string };
  /** The fields that a list can be sorted by. `id` is always one of them. */
  readonly sorts?: readonly (keyof F & string)[];
  /**
   * The order of a list without `?sort=`, written as in the address: `"-created_at"`. It names fields of `sorts`, and
   * `id`. Default: `"id"`.
   */
  readonly defaultSort?: DefaultSort<keyof F & string>;
  /**
   * Sets of fields: no two records have the same values in all fields of a set. Null equals no value, and texts are
   * compared as by `unique: true`. In a nested resource, the id of the parent is a column too:
   * `[["user_id", "project_id"]]`.
   */
  readonly unique?: readonly UniqueSet<(keyof F & string) | ParentColumnOf<Outer>>[];
  /**
   * The text fields that `?search=` searches. A record matches if each word of the search is the beginning of a word in
   * one of these fields. An index stores the words, so a search does not read all records.
   */
  readonly search?: readonly (keyof F & string)[];
  /**
   * Removed fields. The database keeps their values, hidden, until the given month: `{ nickname: "2027-01" }`. From
   * that month on, `latchkey db plan` reports that they can be dropped.
   */
  readonly removed?: Readonly<Record<string, string>>;
  /**
   * The number of records on a list page. Default: 100, or up to 1000 if the caller asks for more. `maximum` can be
   * 1000 at most.
   */
  readonly pageSize?: Partial<PageSize>;
  /**
   * True to accept lists that no index serves, like `contains` in a large table. The start of the service then does not
   * report such lists. Their reads run in the background, for some seconds at most. Default: false.
   */
  readonly scans?: boolean;
  /**
   * Checks rules across fields. Returns an issue for each mistake, synchronously. Any other result is a fault (500),
   * and nothing is written.
   */
  check?(record: CheckedOf<Resource<F, N, string, I>>): readonly Issue[];
  /**
   * The words for its records on pages and in the API's documentation: `{ one: "Loan", many: "Loans" }`. Default: its
   * names, made readable. JSON contains no labels.
   */
  readonly label?: ResourceLabel;
  /**
   * The field that names a record on pages. If it is a reference, the referenced record gives the name. Default: the
   * first text field.
   */
  readonly labelField?: (keyof F | keyof NoInfer<C>) & string;
  /** One sentence for pages and for the API's documentation. */
  readonly description?: string;
}

/**
 * A checked resource: `F` are its fields, `N` its name, `Parent` the column of its parent, and `I` and `ParentId` the
 * id types of both.
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
  /** The column with the id of the parent record. Null if there is no parent. */
  readonly parentColumn: Parent | null;
  readonly fields: F;
  /**
   * The fields that the rules of fields let this caller neither read nor send. Only in the view of a mount for one kind
   * of caller (`seenBy`), whose `fields` are the others.
   */
  readonly concealed?: Fields;
  readonly filters: ReadonlyMap<string, readonly Operator[]>;
  /** The deprecations. Null if there are none. */
  readonly deprecations: Deprecations | null;
  readonly sorts: readonly string[];
  /** The order of a list without `?sort=`: a total order, with `id`. */
  readonly defaultSort: readonly SortField[];
  /** The sets of fields in which no two records have the same values. */
  readonly unique: readonly (readonly string[])[];
  readonly search: readonly string[];
  readonly removed: Readonly<Record<string, string>>;
  readonly pageSize: PageSize;
  readonly scans: boolean;
  /** The existing table. Null if the store makes one. */
  readonly table: ExistingTable | null;
  readonly check: RecordCheck | null;
  /** The declared words for its records. Null if pages use its names. */
  readonly label: ResourceLabel | null;
  /** The declared field that names a record. Null if pages choose one. */
  readonly labelField: string | null;
  readonly description: string | null;
}

/** A write to an existing table. */
export type TableWrite = "create" | "update" | "delete";

/** An existing table, and how a resource uses it. */
export interface ExistingTable {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly writes: readonly TableWrite[];
  readonly revision: "database" | "digest" | { readonly field: string };
}

/**
 * The type of a method, because TypeScript then also accepts a function that takes only the records of one resource.
 */
type RecordCheck = { check(record: Readonly<Record<string, unknown>>): readonly Issue[] }["check"];

/** The name of the parent column in nested resources. */
export type ParentColumnOf<Outer> = Outer extends { readonly name: infer N extends string } ? `${N}_id` : never;

/** The type of the parent's ids. */
export type ParentIdOf<Outer> = Outer extends { readonly id: infer I extends IdKind } ? I : never;
