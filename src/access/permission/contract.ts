import type { Identity } from "../../core/identity.ts";
import type { Operator, OrderOperator } from "../../core/operators.ts";
import type { ProblemCode } from "../../core/problem/catalogue.ts";
import type { Value } from "../../store/store.ts";

/** The action on a resource. `call` is any other request. */
export type Action = "list" | "create" | "read" | "replace" | "update" | "delete" | "call";

/** The request that a permission decides on. */
export interface PermissionRequest {
  /** The caller's identity. Reading it makes the response private. */
  readonly identity: Identity | null;
  readonly action: Action;
  /** The parameters of the path in their declared types: `{ id: 7 }`. */
  readonly params: Readonly<Record<string, number | string>>;
  /** The time of the request, in milliseconds since the epoch. */
  readonly now: number;
}

/** Recent proofs that a permission requires (RFC 9470). */
export interface Confirmation {
  /** The maximum age of the proofs, in seconds. */
  readonly within: number;
  /** 2 requires a second factor. */
  readonly level: 1 | 2;
}

/**
 * Yes, no, only some rows (by `id` or by the columns `C`), or yes after the caller has confirmed the identity (401
 * `confirmation_required`).
 */
export type Decision<C extends string = string> = SettledDecision<C> | { readonly confirm: Confirmation };

/** A decision without a confirmation. */
export type SettledDecision<C extends string = string> = "allow" | "deny" | { readonly only: AllowedRows<C | "id"> };

/**
 * The rows that a decision allows: a condition over their columns. `in` takes an array, `null` a boolean. Booleans have no order: `lt`,
 * `lte`, `gt` and `gte` on a boolean are a fault (500).
 */
export type AllowedRows<C extends string = string> =
  | { readonly column: C; readonly operator: Exclude<Operator, OrderOperator>; readonly value: Value }
  | { readonly column: C; readonly operator: OrderOperator; readonly value: string | number }
  | { readonly all: readonly AllowedRows<C>[] }
  | { readonly any: readonly AllowedRows<C>[] }
  | { readonly not: AllowedRows<C> };

/**
 * A rule for what a caller may do. It does not identify the caller: that happens before. `C` are the columns by which it finds rows, in
 * addition to `id`, which every record has. A resource without them cannot use it. `U` are those that it compares with the id of a user.
 * `Permission` alone needs none, and fits everywhere. `Permission<string>` is any permission.
 */
export interface Permission<C extends string = never, U extends string = string extends C ? string : never> {
  readonly name: string;
  /**
   * The actions for which it may answer with rows. Default: none. Only mounted resources apply rows: a custom endpoint whose permission
   * narrows its action stops the start.
   */
  readonly narrows?: readonly Action[];
  /** The columns by which it finds rows. Mounting a resource without one of them stops the start. */
  readonly columns?: readonly C[];
  /**
   * The columns that it compares with the id of a user. They may include `id`. If one of them has no integers in a resource, mounting it
   * stops the start.
   */
  readonly userIds?: readonly (U | "id")[];
  /** The members of `identity.fields` that it uses. The service does not start if no feature provides one of them. */
  readonly identity?: readonly string[];
  /** The roles that it requires. The service does not start if `accounts()` declares only others. */
  readonly roles?: readonly string[];
  /** Codes of problems that `decide` may throw, for the API's documentation. */
  readonly problems?: readonly ProblemCode[];
  /** Returns the decision, synchronously. Any other value, also a promise, is a fault (500), and the action does not run. */
  decide(request: PermissionRequest): Decision<C>;
}

/** All actions. */
export const everyAction: readonly Action[] = ["list", "create", "read", "replace", "update", "delete", "call"];
