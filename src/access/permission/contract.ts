import type { Identity } from "../../core/identity.ts";
import type { Operator, OrderOperator } from "../../core/operators.ts";
import type { Value } from "../../store/store.ts";

/** What is about to happen to a resource. `call` is anything that is not a resource's own. */
export type Action = "list" | "create" | "read" | "replace" | "update" | "delete" | "call";

/** What a permission is asked about. */
export interface PermissionRequest {
  /** Who is calling. Reading it makes the answer private. */
  readonly identity: Identity | null;
  readonly action: Action;
  /** The parameters of the path, as declared: `{ id: 7 }`. */
  readonly params: Readonly<Record<string, number | string>>;
  /** The time of the request, in milliseconds since the epoch. */
  readonly now: number;
}

/** Recent proofs that a permission asks for (RFC 9470). */
export interface Confirmation {
  /** How old the proofs may be, in seconds. */
  readonly within: number;
  /** 2: with a second factor. */
  readonly level: 1 | 2;
}

/** Yes, no, only those rows, found by `id` or by the columns `C`, or yes once the caller has confirmed who they are (401 `confirmation_required`). */
export type Decision<C extends string = string> = SettledDecision<C> | { readonly confirm: Confirmation };

/** A decision that waits for nothing. */
export type SettledDecision<C extends string = string> = "allow" | "deny" | { readonly only: AllowedRows<C | "id"> };

/**
 * The rows that a decision allows: a condition over their columns. `in` takes an array, `null` a boolean. Booleans have no
 * order: `lt`, `lte`, `gt` and `gte` on one are a fault (500).
 */
export type AllowedRows<C extends string = string> =
  | { readonly column: C; readonly operator: Exclude<Operator, OrderOperator>; readonly value: Value }
  | { readonly column: C; readonly operator: OrderOperator; readonly value: string | number }
  | { readonly all: readonly AllowedRows<C>[] }
  | { readonly any: readonly AllowedRows<C>[] }
  | { readonly not: AllowedRows<C> };

/**
 * What a caller may do. It never asks who the caller is: that is done before. `C` are the columns that its rows are found by, besides
 * `id`, which every record has: a resource without them does not take it. `U` are those of them that it compares with the id of a user.
 * `Permission` alone needs none, and fits everywhere; `Permission<string>` is any.
 */
export interface Permission<C extends string = never, U extends string = string extends C ? string : never> {
  readonly name: string;
  /**
   * The actions for which it may answer with rows; none where it is left out. Rows are applied by mounted resources alone:
   * an endpoint of one's own with a permission that narrows its action stops the start.
   */
  readonly narrows?: readonly Action[];
  /** The columns that its rows are found by: mounting a resource without one of them stops the start. */
  readonly columns?: readonly C[];
  /** Those of them that it compares with the id of a user, `id` among them where it is: mounting a resource in which one holds no integers stops the start. */
  readonly userIds?: readonly (U | "id")[];
  /** The members of `identity.fields` that it looks at: where no feature puts one there, the service does not start. */
  readonly identity?: readonly string[];
  /** The roles that it asks for: if `accounts()` declares others only, the service does not start. */
  readonly roles?: readonly string[];
  /** At once, never as a promise: anything but a decision is a fault (500), and nothing runs. */
  decide(request: PermissionRequest): Decision<C>;
}

/** Every action that there is. */
export const everyAction: readonly Action[] = ["list", "create", "read", "replace", "update", "delete", "call"];
