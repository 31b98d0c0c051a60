import type { IdKind } from "./ids.ts";
import type { Field } from "./kinds/field.ts";

/** As much of a resource as its types follow from. */
interface Shape {
  readonly fields: Readonly<Record<string, Field>>;
  readonly parentColumn: string | null;
  readonly id?: IdKind;
  readonly within?: { readonly id: IdKind } | null;
}

// What follows for the type checker from a declaration. Every type has a name of its own, so that messages call it by that.

type OptionsOf<F> = F extends Field<infer _, infer O> ? O : never;
type ValueOf<F> = F extends Field<infer T, infer _> ? T : never;
/** Whether this is among what is told of a field; of one that nobody knows nothing is. */
type IsTrue<O, K extends string> = unknown extends O ? false : [K] extends [O] ? true : false;
type HasDefault<O> = IsTrue<O, "default">;
/** It is made of the record, and has no column. */
type IsComputed<O> = IsTrue<O, "computed">;
type IsGiven<O> = IsTrue<O, "generated"> extends true ? true : IsTrue<O, "readOnly">;
type IsLeftOut<O> = IsTrue<O, "optional"> extends true ? true : IsTrue<O, "filled"> extends true ? true : HasDefault<O>;
type Shown<T, O> = IsTrue<O, "optional"> extends true ? (HasDefault<O> extends true ? T : T | null) : T;
type Sent<T, O> = IsTrue<O, "optional"> extends true ? (IsTrue<O, "transient"> extends true ? T : T | null) : T;

/** The type of an id. */
type Id<I> = I extends "uuid" | "text" ? string : number;
type IdOf<R extends Shape> = R extends { readonly id: infer I } ? Id<I> : number;
type ParentIdOf<R extends Shape> = R extends { readonly within: infer W }
  ? W extends { readonly id: infer I }
    ? Id<I>
    : never
  : number;

/** The column of what it stands within; never where that is nothing, or not known. */
type ParentOf<R extends Shape> = string extends R["parentColumn"] ? never : R["parentColumn"] & string;
type FieldsOf<R extends Shape> = R["fields"];
type OptionsIn<R extends Shape, K extends keyof FieldsOf<R>> = OptionsOf<FieldsOf<R>[K]>;
type ShownIn<R extends Shape, K extends keyof FieldsOf<R>> = Shown<ValueOf<FieldsOf<R>[K]>, OptionsIn<R, K>>;
type SentIn<R extends Shape, K extends keyof FieldsOf<R>> = Sent<ValueOf<FieldsOf<R>[K]>, OptionsIn<R, K>>;

type ShownName<R extends Shape> = keyof {
  [K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "writeOnly"> extends true ? never : K]: K;
};
type StoredName<R extends Shape> = keyof {
  [
    K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "transient"> extends true
      ? never
      : IsComputed<OptionsIn<R, K>> extends true
        ? never
        : K
  ]: K;
};
type TransientName<R extends Shape> = keyof {
  [K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "transient"> extends true ? K : never]: K;
};
type WritableName<R extends Shape> = keyof {
  [K in keyof FieldsOf<R> as IsGiven<OptionsIn<R, K>> extends true ? never : K]: K;
};
type LeftOutName<R extends Shape> = keyof {
  [K in keyof FieldsOf<R> as IsLeftOut<OptionsIn<R, K>> extends true ? K : never]: K;
};
/** Shown and not given, so that nobody knows its value until somebody writes it. */
type OpenName<R extends Shape> = keyof {
  [
    K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "generated"> extends true
      ? never
      : IsTrue<OptionsIn<R, K>, "readOnly"> extends true
        ? IsLeftOut<OptionsIn<R, K>> extends true
          ? never
          : K
        : never
  ]: K;
};
/** Always among what is stored of a change: it was sent, was there, or has a default value. */
type KeptName<R extends Shape> = Exclude<
  keyof {
    [K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "made"> extends true ? never : K]: K;
  } &
    ShownName<R> &
    WritableName<R>,
  TransientName<R>
>;

/** What a field shows. */
export type ShownBy<F> = Shown<ValueOf<F>, OptionsOf<F>>;

type Known<O> = unknown extends O ? never : O;

/** Fields that are made of the others. */
export type ComputedFields<C> = {
  readonly [K in keyof C]: Field<ValueOf<C[K]>, Known<OptionsOf<C[K]>> | "readOnly" | "computed">;
};

/** What a caller reads. */
export type RecordOf<R extends Shape> = { readonly id: IdOf<R> } & { readonly [K in ShownName<R>]: ShownIn<R, K> };

/** What a caller sends to create or replace. */
export type DraftOf<R extends Shape> = {
  readonly [K in Exclude<WritableName<R>, LeftOutName<R>>]: SentIn<R, K>;
} & { readonly [K in WritableName<R> & LeftOutName<R>]?: SentIn<R, K> };

/** What is kept of one: every column, also those that nobody is shown. */
export type StoredOf<R extends Shape> = { readonly id: IdOf<R> } & { readonly [K in ParentOf<R>]: ParentIdOf<R> } & {
  readonly [K in StoredName<R>]: ShownIn<R, K>;
};

/** The columns of its table by name, `id` and the one of what it stands within among them. */
export type ColumnOf<R extends Shape> = "id" | ParentOf<R> | (StoredName<R> & string);

/** Those of them whose values can be compared: no JSON, no list, no ids of several records. */
export type ComparedOf<R extends Shape> =
  | "id"
  | ParentOf<R>
  | (keyof {
      [
        K in StoredName<R> as IsTrue<OptionsIn<R, K>, "json"> extends true
          ? never
          : [ValueOf<FieldsOf<R>[K]>] extends [object]
            ? never
            : K
      ]: K;
    } &
      string);

/** The columns that may hold the id of a user: `id` and those of numbers. */
export type UserIdOf<R extends Shape> =
  | HoldsNumber<IdOf<R>, "id">
  | HoldsNumber<ParentIdOf<R>, ParentOf<R>>
  | (keyof { [K in StoredName<R> as HoldsNumber<ValueOf<FieldsOf<R>[K]>, K>]: K } & string);
type HoldsNumber<T, K> = [T] extends [number] ? K : unknown extends T ? K : never;

/** The columns that hold the id of another record, that of what it stands within among them. */
export type ReferenceOf<R extends Shape> =
  | ParentOf<R>
  | (keyof { [K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "refers"> extends true ? K : never]: K } & string);

/** What may be written to its columns; the id and the place are given by the path. */
export type WritableOf<R extends Shape> = { readonly [K in StoredName<R>]?: ShownIn<R, K> };

/** What is stored of a record that is made. */
export type MadeValuesOf<R extends Shape> = {
  readonly [K in Exclude<StoredName<R>, OpenName<R>>]: ShownIn<R, K>;
} & { readonly [K in OpenName<R>]?: ShownIn<R, K> };

/** What is stored of a change; a field that keeps its value is not among it. */
export type ChangedValuesOf<R extends Shape> = { readonly [K in KeptName<R>]: ShownIn<R, K> } & {
  readonly [K in Exclude<StoredName<R>, KeptName<R>>]?: ShownIn<R, K>;
};

/** The transient fields that were sent. */
export type TransientOf<R extends Shape> = { readonly [K in TransientName<R>]?: ValueOf<FieldsOf<R>[K]> };

/** What `check` looks at: what is stored, what is there already, and the transient fields that were sent. */
export type CheckedOf<R extends Shape> = { readonly id?: IdOf<R> } & MadeValuesOf<R> & TransientOf<R>;
