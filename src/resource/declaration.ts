import type { Deprecated, Deprecation } from "../deprecation.ts";
import type { Issue } from "../problem/problem.ts";
import type { IdKind } from "./ids.ts";
import type { Field } from "./kinds/field.ts";
import type { CheckedOf } from "./types.ts";

/** The fields of a resource by name, in the order in which they are shown. */
export type Fields = Readonly<Record<string, Field>>;

/** Every operator that a filter can have. */
export const everyOperator = [
  "eq",
  "ne",
  "lt",
  "lte",
  "gt",
  "gte",
  "in",
  "contains",
  "starts",
  "icontains",
  "istarts",
  "null",
] as const;

export type Operator = (typeof everyOperator)[number];

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
> {
  /** One of them: `user`. The element of its XML. */
  readonly name: N;
  /** Many of them: the last part of the path and the name of the table; the name with an `s` where it is left out. */
  readonly plural?: string;
  /** The resource whose records these belong to: `/orders/{order_id}/items`. They go when it goes. */
  readonly within?: Outer;
  /**
   * What its ids are. `integer`, where it is left out: whole numbers from 1, handed out by the store. `uuid`: UUIDs of version 7 (RFC 9562),
   * made by the service, which tell nobody how many there are.
   */
  readonly id?: I;
  /** Without `id`, which every record has. */
  readonly fields: F;
  /** Which operators a list can be filtered by, for each field; `id` too. `{ operators, deprecated }` for a filter that will go. */
  readonly filters?: Readonly<Partial<Record<keyof F | "id", readonly Operator[] | FilterDeclaration>>>;
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
  /** What must hold across fields. Gives an issue for each thing that is wrong. */
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
  readonly check: Check | null;
  readonly description: string | null;
}

/** Written as a method, so that one that knows its own record is one of these: it is called with that record alone. */
type Check = { check(record: Readonly<Record<string, unknown>>): readonly Issue[] }["check"];

/** The column of the record that something within the resource belongs to. */
export type ParentColumnOf<Outer> = Outer extends { readonly name: infer N extends string } ? `${N}_id` : never;

/** What the ids of that record are. */
export type ParentIdOf<Outer> = Outer extends { readonly id: infer I extends IdKind } ? I : never;
