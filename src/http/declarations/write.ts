import {
  aFunction,
  aList,
  anObject,
  isObject,
  isStrange,
  isStrangeToCopy,
  membersMistakes,
  optional,
  describeType,
  type ValueCheck,
  type Mistake,
  type ThereIsNo,
  unseen,
} from "../../core/checking/members.ts";
import { shownName, suggestion } from "../../core/checking/nearest.ts";
import type { Eventually } from "../../core/eventually.ts";
import { Problem } from "../../core/problem/problem.ts";
import type { Draft } from "../../resource/draft.ts";
import type { RecordOf, Resource, StoredOf, WritableOf } from "../../resource/resource.ts";
import type { Cause, Change, Collection, KeyOf } from "../../store/store.ts";
import type { Context } from "../request/exchange.ts";

type WriteKind = "create" | "replace" | "update" | "delete";

/** A write that is about to happen. Its other members depend on `kind`. */
export type Write<R extends Resource = Resource, K extends WriteKind = WriteKind> = Writes<R>[K] & OfTable<R>;

/** A write without `collection`, which is added before the hook is called. */
export type WriteOfRecord = Writes<Resource>[WriteKind];

interface OfTable<R extends Resource> {
  /**
   * The table of the resource, for `changes`. A hook gets it here because its mount does not exist yet when the hook is
   * declared.
   */
  readonly collection: Collection<StoredOf<R>>;
}

interface Writes<R extends Resource> {
  readonly create: Creation<R>;
  readonly replace: Alteration<R, "replace">;
  readonly update: Alteration<R, "update">;
  readonly delete: RecordRemoval<R>;
}

interface Creation<R extends Resource> {
  readonly kind: "create";
  readonly context: Context;
  /** Null if the store assigns the id. */
  readonly id: RecordOf<R>["id"] | null;
  readonly current: null;
  /** The sent values, with the values that the service adds. */
  readonly draft: Draft<R, "made">;
}

interface Alteration<R extends Resource, K extends WriteKind> {
  readonly kind: K;
  readonly context: Context;
  readonly id: RecordOf<R>["id"];
  /** The current record, with hidden columns. */
  readonly current: StoredOf<R>;
  /** The sent values. For an update, the resulting record. */
  readonly draft: Draft<R>;
}

interface RecordRemoval<R extends Resource> {
  readonly kind: "delete";
  readonly context: Context;
  readonly id: RecordOf<R>["id"];
  /** The current record, with hidden columns. */
  readonly current: StoredOf<R>;
  readonly draft: null;
}

/** A committed write, as `afterWrite` gets it. The response has not been sent yet. */
export interface Written<R extends Resource = Resource> {
  readonly kind: WriteKind | "action";
  /** The name of the action. Null for other writes. */
  readonly action: string | null;
  /** Null for an action on the collection. */
  readonly id: RecordOf<R>["id"] | null;
  /** The record before the write, with hidden columns. Null if there was none. */
  readonly before: StoredOf<R> | null;
  /** The record after the write. Null if it was deleted, and for an action on the collection. */
  readonly after: StoredOf<R> | null;
  readonly cause: Cause;
}

/** Values for columns of a resource. */
export type PreparedValues<R extends Resource> = { readonly [K in keyof WritableOf<R>]?: WritableOf<R>[K] | KeyOf };

/** The additions to a write. */
export interface Prepared<R extends Resource = Resource> {
  /** Values to store. They are added to the sent values, and replace sent values of the same name. */
  readonly values?: PreparedValues<R>;
  /** Changes in the same transaction, after the change of the record. `keyOf(0)` is the id of the record. */
  readonly changes?: readonly Change[];
  /**
   * Returns more changes, which are added after `changes`. Called after the preconditions were checked. For changes
   * that are expensive to compute or may conflict with other records.
   */
  complete?(): Eventually<readonly Change[]>;
}

/** The allowed result of a function that returns `P`. Rejects unknown names, which TypeScript alone would accept. */
export type Exactly<P, R extends Resource> = [NameOfNothing<Awaited<P>, R>] extends [never]
  ? PreparedAs<P, R>
  : [Misgiven<Awaited<P>, keyof PreparedValues<R>>] extends [never]
    ? ThereIsNo<NameOfNothing<Awaited<P>, R>, keyof Prepared | keyof PreparedValues<R>>
    : Misgiven<Awaited<P>, keyof PreparedValues<R>>;

/**
 * The compiler error if a function returns a problem instead of throwing it, or returns columns outside of `values`.
 */
export type Misgiven<P, Columns> = [Extract<P, Error>] extends [never]
  ? P extends object
    ? `${Extract<keyof P, Columns & string>} belongs into values`
    : never
  : "a problem is thrown: throw problem(…)";

/**
 * A promise must match a promise. A value that is no promise must match the allowed form. The compiler then reports the
 * wrong member and not the whole function.
 */
type PreparedAs<P, R extends Resource> =
  P extends PromiseLike<unknown>
    ? Eventually<Prepared<R>>
    : P extends void
      ? Mistake<"it has to give { values, changes }, or {} to add nothing">
      : Prepared<R>;

type NameOfNothing<P, R extends Resource> = P extends object
  ?
      | Exclude<keyof P, keyof Prepared>
      | Stray<P, "values", keyof PreparedValues<R>>
      | StrayColumn<MemberOf<P, "changes">>
      | (P extends { readonly complete: () => infer C } ? StrayColumn<Awaited<C>> : never)
  : never;

type MemberOf<P, M extends string> = P extends { readonly [K in M]?: infer V } ? V : never;

/** The unknown names within a member. */
export type Stray<P, M extends string, Known> =
  MemberOf<P, M> extends infer V ? (V extends object ? Exclude<keyof V, Known> : never) : never;

/** The columns in changes that their tables do not have. `never` if the type of a table does not list its columns. */
export type StrayColumn<Changes> = Changes extends readonly (infer C)[] ? StrayOf<C> : never;

type StrayOf<C> = C extends { readonly collection: Collection<infer V> }
  ? unknown extends V
    ? never
    : Stray<C, "values", keyof V> | Exclude<NamedBy<C> | NamedBy<MemberOf<C, "where">>, keyof V>
  : never;

type NamedBy<C> = C extends { readonly column: infer Name } ? Name : never;

/**
 * The type of a method, because TypeScript checks the parameters of methods less strictly. So it accepts a hook for a
 * specific resource. The hook is called only for writes of that resource.
 */
export type BeforeWrite = { beforeWrite(write: Write): Eventually<Prepared> }["beforeWrite"];

/** The type of a method, for the same reason as `BeforeWrite`. */
export type AfterWrite = { afterWrite(written: Written): Eventually<void> }["afterWrite"];

const preparedMembers: Readonly<Record<keyof Prepared, ValueCheck>> = {
  values: unseen(optional(anObject)),
  changes: unseen(optional(aList)),
  complete: unseen(optional(aFunction)),
};

/**
 * Returns the mistakes in the result of `beforeWrite`. Without this check, an unknown name would be ignored, and its
 * value would be missing in the write.
 */
export function preparedMistakes(prepared: unknown, { columns }: Collection): readonly string[] {
  if (!isObject(prepared))
    return [`it is ${describeType(prepared)}; it has to give { values, changes }, or {} to add nothing`];
  const columnNames = columns.map(({ name }) => name);
  const { values } = prepared;
  if (prepared instanceof Problem) return ["a problem; throw it: throw problem(…)"];
  if (isStrange(prepared, Object.keys(preparedMembers))) return [`${describeType(prepared)}, which is none of these`];
  if (isObject(values) && isStrangeToCopy(values, columnNames)) return [`values that are ${describeType(values)}`];
  return [
    // Members that come from the class of the object are checked too: a Map also has a member `values`.
    ...membersMistakes(
      { ...prepared, values, changes: prepared["changes"], complete: prepared["complete"] },
      preparedMembers,
    ),
    ...Object.keys(isObject(values) ? values : {})
      .filter((name) => !columnNames.includes(name))
      .map((name) => `there is no column ${shownName(name)}${suggestion(name, columnNames)}`),
  ];
}
