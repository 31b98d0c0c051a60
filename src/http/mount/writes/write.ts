import {
  aFunction,
  aList,
  anObject,
  isObject,
  isStrange,
  isStrangeToCopy,
  membersMistakes,
  optional,
  sortOf,
  type Check,
  type Mistake,
  type ThereIsNo,
  unseen,
} from "../../../core/checking/members.ts";
import { shownName, suggestion } from "../../../core/checking/nearest.ts";
import type { Eventually } from "../../../core/eventually.ts";
import { Problem } from "../../../core/problem/problem.ts";
import type { Draft } from "../../../resource/draft.ts";
import type { RecordOf, Resource, StoredOf, WritableOf } from "../../../resource/resource.ts";
import type { Cause, Change, Collection, KeyOf } from "../../../store/store.ts";
import type { Context } from "../../exchange.ts";

type WriteKind = "create" | "replace" | "update" | "delete";

/** A write that is about to happen, told apart by `kind`: any, or one of those kinds. */
export type Write<R extends Resource = Resource, K extends WriteKind = WriteKind> = Writes<R>[K] & OfTable<R>;

/** The same, before its table stands beside it. */
export type WriteOfRecord = Writes<Resource>[WriteKind];

interface OfTable<R extends Resource> {
  /** The table of its own resource, for `changes`: a mount cannot be named in its own hooks. */
  readonly collection: Collection<StoredOf<R>>;
}

interface Writes<R extends Resource> {
  readonly create: Creation<R>;
  readonly replace: Alteration<R, "replace">;
  readonly update: Alteration<R, "update">;
  readonly delete: Removal<R>;
}

interface Creation<R extends Resource> {
  readonly kind: "create";
  readonly context: Context;
  /** Null where the store hands one out. */
  readonly id: RecordOf<R>["id"] | null;
  readonly current: null;
  /** What was sent, with what the service adds to it. */
  readonly draft: Draft<R, "made">;
}

interface Alteration<R extends Resource, K extends WriteKind> {
  readonly kind: K;
  readonly context: Context;
  readonly id: RecordOf<R>["id"];
  /** What is there now, with the columns that nobody is shown. */
  readonly current: StoredOf<R>;
  /** What was sent; of an update, what it makes of the record. */
  readonly draft: Draft<R>;
}

interface Removal<R extends Resource> {
  readonly kind: "delete";
  readonly context: Context;
  readonly id: RecordOf<R>["id"];
  /** What is there now, with the columns that nobody is shown. */
  readonly current: StoredOf<R>;
  readonly draft: null;
}

/** What a write has left: for what may be lost, as it is told once the write is on the disk and before the answer is sent. */
export interface Written<R extends Resource = Resource> {
  readonly kind: WriteKind | "action";
  /** The name of the action; null for every other kind. */
  readonly action: string | null;
  /** Null where no single record was meant: an action on the collection. */
  readonly id: RecordOf<R>["id"] | null;
  /** The record as it was, with the columns that nobody is shown; null where there was none. */
  readonly before: StoredOf<R> | null;
  /** The record as it is; null where it is gone, and where no single record was meant. */
  readonly after: StoredOf<R> | null;
  readonly cause: Cause;
}

/** Values for columns of a resource. */
export type PreparedValues<R extends Resource> = { readonly [K in keyof WritableOf<R>]?: WritableOf<R>[K] | KeyOf };

/** What else belongs to a write. */
export interface Prepared<R extends Resource = Resource> {
  /** Stored in place of, or besides, what was sent. */
  readonly values?: PreparedValues<R>;
  /** Changes of the same transaction, after the record's own: `keyOf(0)` is its id. */
  readonly changes?: readonly Change[];
  /**
   * What costs much, or conflicts with what others have: asked once the preconditions hold. Its changes stand behind `changes`.
   */
  complete?(): Eventually<readonly Change[]>;
}

/** What a function gives that gives `P`: the compiler lets names pass in it that mean nothing, and here it does not. */
export type Exactly<P, R extends Resource> = [NameOfNothing<Awaited<P>, R>] extends [never]
  ? PreparedAs<P, R>
  : [Misgiven<Awaited<P>, keyof PreparedValues<R>>] extends [never]
    ? ThereIsNo<NameOfNothing<Awaited<P>, R>, keyof Prepared | keyof PreparedValues<R>>
    : Misgiven<Awaited<P>, keyof PreparedValues<R>>;

/** What the compiler says of a problem that is given, and of columns that stand beside `values`. */
export type Misgiven<P, Columns> = [Extract<P, Error>] extends [never]
  ? P extends object
    ? `${Extract<keyof P, Columns & string>} belongs into values`
    : never
  : "a problem is thrown: throw problem(…)";

/** A promise is held against a promise and all else against what it has to be, so that the compiler points at the value that is wrong. */
type PreparedAs<P, R extends Resource> =
  P extends PromiseLike<unknown>
    ? Eventually<Prepared<R>>
    : P extends void
      ? Mistake<"it has to give { values, changes }, or {} where nothing is added">
      : Prepared<R>;

type NameOfNothing<P, R extends Resource> = P extends object
  ?
      | Exclude<keyof P, keyof Prepared>
      | Stray<P, "values", keyof PreparedValues<R>>
      | StrayColumn<MemberOf<P, "changes">>
      | (P extends { readonly complete: () => infer C } ? StrayColumn<Awaited<C>> : never)
  : never;

type MemberOf<P, M extends string> = P extends { readonly [K in M]?: infer V } ? V : never;

/** The names within a member that are not known there. */
export type Stray<P, M extends string, Known> =
  MemberOf<P, M> extends infer V ? (V extends object ? Exclude<keyof V, Known> : never) : never;

/** The columns that some changes name and that their tables do not have, as far as the compiler knows those. */
export type StrayColumn<Changes> = Changes extends readonly (infer C)[] ? StrayOf<C> : never;

type StrayOf<C> = C extends { readonly collection: Collection<infer V> }
  ? unknown extends V
    ? never
    : Stray<C, "values", keyof V> | Exclude<NamedBy<C> | NamedBy<MemberOf<C, "where">>, keyof V>
  : never;

type NamedBy<C> = C extends { readonly column: infer Name } ? Name : never;

/** Written as a method, so that one that knows its own resource is one of these: it is asked for writes of that alone. */
export type BeforeWrite = { beforeWrite(write: Write): Eventually<Prepared> }["beforeWrite"];

/** Written as a method for the same reason. */
export type AfterWrite = { afterWrite(written: Written): Eventually<void> }["afterWrite"];

const preparedMembers: Readonly<Record<keyof Prepared, Check>> = {
  values: unseen(optional(anObject)),
  changes: unseen(optional(aList)),
  complete: unseen(optional(aFunction)),
};

/** What is wrong with what `beforeWrite` gave. A name that means nothing would be dropped without a word, and the write would lack what it stood for. */
export function preparedMistakes(prepared: unknown, { columns }: Collection): readonly string[] {
  if (!isObject(prepared))
    return [`it is ${sortOf(prepared)}; it has to give { values, changes }, or {} where nothing is added`];
  const known = columns.map(({ name }) => name);
  const { values } = prepared;
  if (prepared instanceof Problem) return ["a problem; throw it: throw problem(…)"];
  if (isStrange(prepared, Object.keys(preparedMembers)))
    return [`${sortOf(prepared)}, which says nothing of this kind`];
  if (isObject(values) && isStrangeToCopy(values, known)) return [`values that are ${sortOf(values)}`];
  return [
    // What a class has is looked at as well: a Map has a function of the name values.
    ...membersMistakes(
      { ...prepared, values, changes: prepared["changes"], complete: prepared["complete"] },
      preparedMembers,
    ),
    ...Object.keys(isObject(values) ? values : {})
      .filter((name) => !known.includes(name))
      .map((name) => `there is no column ${shownName(name)}${suggestion(name, known)}`),
  ];
}
