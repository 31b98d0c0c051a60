import type { Issue } from "../problem/problem.ts";
import type { Field } from "./field.ts";

/** The fields of a resource by name, in the order in which they are shown. */
export type Fields = Readonly<Record<string, Field>>;

export type Operator = "eq" | "ne" | "lt" | "lte" | "gt" | "gte" | "in" | "contains" | "starts" | "null";

/** A resource, as its author writes it. */
export interface ResourceDeclaration<F extends Fields> {
  /** One of them: `user`. The element of its XML. */
  readonly name: string;
  /** Many of them: the last part of the path and the name of the table; the name with an `s` where it is left out. */
  readonly plural?: string;
  /** The resource whose records these belong to: `/orders/{order_id}/items`. They go when it goes. */
  readonly within?: Resource;
  /** Without `id`, which every record has. */
  readonly fields: F;
  /** Which operators a list can be filtered by, for each field; `id` too. */
  readonly filters?: Readonly<Partial<Record<keyof F | "id", readonly Operator[]>>>;
  /** Which fields a list can be sorted by; `id` always. */
  readonly sorts?: readonly (keyof F & string)[];
  /** What must hold across fields. Gives an issue for each thing that is wrong. */
  check?(record: Readonly<Record<string, unknown>>): readonly Issue[];
  /** One sentence for the API's documentation. */
  readonly description?: string;
}

/** A resource that was found to be in order. */
export interface Resource<F extends Fields = Fields> {
  readonly name: string;
  readonly plural: string;
  /** `/users`, `/orders/{order_id}/items` */
  readonly path: string;
  readonly within: Resource | null;
  /** The column that holds the id of the record this belongs to; null where there is none. */
  readonly parentColumn: string | null;
  readonly fields: F;
  readonly filters: ReadonlyMap<string, readonly Operator[]>;
  readonly sorts: readonly string[];
  readonly check: ((record: Readonly<Record<string, unknown>>) => readonly Issue[]) | null;
  readonly description: string | null;
}
