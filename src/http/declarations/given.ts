import type { ThereIsNo } from "../../core/checking/members.ts";
import type { Fields, RecordOf, Resource } from "../../resource/resource.ts";
import type { Change } from "../../store/store.ts";
import type { Misgiven, PreparedValues, Stray, StrayColumn } from "./write.ts";

/** The result of an action, stored in one transaction. `A` are the declared fields of its answer. */
export interface ActionResult<R extends Resource = Resource, A = unknown> {
  /** Values to store in the record. Not for an action on the collection. */
  readonly values?: PreparedValues<R>;
  /**
   * Changes in the same transaction. They follow the change of the record, so `keyOf(1)` is the key of the first of
   * these changes. An action on the collection changes no record, so there `keyOf(0)` is the key of the first of these
   * changes.
   */
  readonly changes?: readonly Change[];
  /** The answer, if the action declares its fields. */
  readonly answer?: AnswerOf<A>;
}

type AnswerOf<A> = A extends Fields
  ? Omit<RecordOf<{ readonly fields: A; readonly parentColumn: null }>, "id">
  : Readonly<Record<string, unknown>>;

/** The fields of the answers, by the name of the action. */
export type ActionAnswers<A> = { readonly [K in keyof A]: { readonly answer?: A[K] } };

/** The results of the actions, by name. The type accepts only known members and columns, and keeps literal types. */
export type ActionsGive<R extends Resource, V, A> = {
  readonly [K in keyof V]: { handle(call: never): V[K] & Exactly<V[K], R, K extends keyof A ? A[K] : unknown> };
};

/** Rejects unknown names in the result of a function. TypeScript alone would accept them. */
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
