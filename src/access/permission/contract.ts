import type { Identity } from "../../core/identity.ts";
import type { Operator, OrderOperator } from "../../core/operators.ts";
import type { ProblemCode } from "../../core/problem/catalogue.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Narrowing, Value } from "../../store/store.ts";

/** The action on a resource. `call` is a custom action, or a request to a custom endpoint. */
export type Action = "list" | "create" | "read" | "replace" | "update" | "delete" | "call";

/** The request that a permission decides on. */
export interface PermissionRequest {
  /** The caller's identity. Reading it makes the response private, because the response then depends on the caller. */
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
 * Allow, deny, only some rows (by `id` or by the columns `C`), or allow after the caller has confirmed the identity
 * (401 `confirmation_required`).
 */
export type Decision<C extends string = string> = SettledDecision<C> | { readonly confirm: Confirmation };

/** A decision without a confirmation. */
export type SettledDecision<C extends string = string> = "allow" | "deny" | { readonly only: AllowedRows<C | "id"> };

/**
 * The rows that a decision allows, as a condition on their columns. The value of `in` is an array. The value of `null`
 * is a boolean. Booleans have no order, so `lt`, `lte`, `gt` and `gte` with a boolean are a fault (500).
 */
export type AllowedRows<C extends string = string> =
  | { readonly column: C; readonly operator: Exclude<Operator, OrderOperator>; readonly value: Value }
  | { readonly column: C; readonly operator: OrderOperator; readonly value: string | number }
  | MemberRows<C>
  | { readonly all: readonly AllowedRows<C>[] }
  | { readonly any: readonly AllowedRows<C>[] }
  | { readonly not: AllowedRows<C> };

/**
 * The rows whose column holds one of the values that the column `select` has in the rows of `memberships` that match
 * `where`. Default of `column`: as `select`, and `id` for the records that `select` refers to. Only a permission that
 * names the resource in its `memberships` may answer with it, and not within `not`.
 */
export interface MemberRows<C extends string = string> {
  readonly column?: C;
  readonly memberships: Resource;
  readonly select: string;
  readonly where: AllowedRows;
}

/** Memberships, and their column with the id of the user. */
export interface SharedMemberships {
  readonly memberships: Resource;
  readonly user: string;
}

/** A decision about the rows of a mounted resource, as a condition for the store. */
export type RowsDecision = "allow" | "deny" | { readonly only: Narrowing };

/**
 * Decides what a caller may do. The service identifies the caller before it asks the permission. `C` are the columns
 * that select the allowed rows, in addition to `id`, which every record has. Only a resource with these columns can use
 * the permission. `U` are the columns that are compared with the id of a user. `Permission` without parameters needs no
 * columns and fits every resource. `Permission<string>` is any permission.
 */
export interface Permission<C extends string = never, U extends string = string extends C ? string : never> {
  readonly name: string;
  /** Its condition in a few words, such as "it is a weekday", for `permissions.lock` and for pages. Default: the name. */
  readonly description?: string;
  /**
   * The actions for which the permission may answer with rows. Default: none. Only mounted resources can apply rows. If
   * the permission of a custom endpoint narrows its action, the service does not start.
   */
  readonly narrows?: readonly Action[];
  /**
   * The columns that select the allowed rows. The service refuses to start if a resource with this permission lacks one
   * of these columns.
   */
  readonly columns?: readonly C[];
  /**
   * The columns that are compared with the id of a user. They may include `id`. They must be integer columns in each
   * resource with this permission. Otherwise the service does not start.
   */
  readonly userIds?: readonly (U | "id")[];
  /**
   * The resources whose rows select the allowed rows (`memberOf`). Each must be mounted in the same service. Otherwise
   * the service does not start.
   */
  readonly memberships?: readonly Resource[];
  /**
   * The memberships of the users that the permission shows (`sharesGroup`). Only for users. A caller makes members
   * there only of users whom it may read.
   */
  readonly shares?: readonly SharedMemberships[];
  /**
   * The members of `identity.fields` that the permission uses. A feature must provide each of them. Otherwise the
   * service does not start.
   */
  readonly identity?: readonly string[];
  /**
   * The roles that the permission requires. If `accounts()` declares roles, each of these must be among them. Otherwise
   * the service does not start.
   */
  readonly roles?: readonly string[];
  /** Codes of problems that `decide` may throw, for the API's documentation. */
  readonly problems?: readonly ProblemCode[];
  /**
   * Returns the decision, synchronously. Any other value, also a promise, is a fault (500), and the action does not
   * run.
   */
  decide(request: PermissionRequest): Decision<C>;
}

/** All actions. */
export const everyAction: readonly Action[] = ["list", "create", "read", "replace", "update", "delete", "call"];
