import type { ThereIsNo } from "../../../core/checking/members.ts";
import type { Fields, RecordOf, Resource } from "../../../resource/resource.ts";
import type { Change } from "../../../store/store.ts";
import type { Misgiven, PreparedValues, Stray, StrayColumn } from "../writes/write.ts";

/** What an action leaves, all of it in one transaction. `A` are the fields of its answer, where it declares them. */
export interface ActionResult<R extends Resource = Resource, A = unknown> {
  /** Stored in the record. Not of an action on the collection. */
  readonly values?: PreparedValues<R>;
  /** Changes of the same transaction: behind the record's own, so that `keyOf(1)` is the first of them, or alone where the action is on the collection. */
  readonly changes?: readonly Change[];
  /** The answer, where the action declares its fields. */
  readonly answer?: AnswerOf<A>;
}

type AnswerOf<A> = A extends Fields
  ? Omit<RecordOf<{ readonly fields: A; readonly parentColumn: null }>, "id">
  : Readonly<Record<string, unknown>>;

/** The fields of the answers, by the name of the action. */
export type ActionAnswers<A> = { readonly [K in keyof A]: { readonly answer?: A[K] } };

/** What the actions give, by the name of the action: members and columns that are there and no others, and literals as they stand. */
export type ActionsGive<R extends Resource, V, A> = {
  readonly [K in keyof V]: { handle(call: never): V[K] & Exactly<V[K], R, K extends keyof A ? A[K] : unknown> };
};

/** The compiler lets names pass in what a function gives that mean nothing; here it does not. */
type Exactly<P, R extends Resource, A> = [NameOfNothing<Awaited<P>, R, A>] extends [never]
  ? P extends Promise<unknown>
    ? Promise<ActionResult<R, A> | void>
    : ActionResult<R, A> | void
  : [Misgiven<Awaited<P>, keyof PreparedValues<R>>] extends [never]
    ? ThereIsNo<NameOfNothing<Awaited<P>, R, A>, keyof ActionResult | keyof PreparedValues<R> | keyof A>
    : Misgiven<Awaited<P>, keyof PreparedValues<R>>;

type NameOfNothing<P, R extends Resource, A> = P extends object
  ?
      | Exclude<keyof P, keyof ActionResult>
      | Stray<P, "values", keyof PreparedValues<R>>
      | Stray<P, "answer", keyof AnswerOf<A>>
      | (P extends { readonly changes?: infer C } ? StrayColumn<C> : never)
  : never;
