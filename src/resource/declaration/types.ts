import type { Field } from "./field.ts";

/**
 * The kind of ids of a resource: whole numbers from the store, UUIDs from the service (version 7), or texts that
 * callers choose.
 */
export type IdKind = "integer" | "uuid" | "text";

/** The parts of a resource that its types depend on. */
interface ResourceShape {
  readonly fields: Readonly<Record<string, Field>>;
  readonly parentColumn: string | null;
  readonly id?: IdKind;
  readonly within?: { readonly id: IdKind } | null;
}

// The types that follow from a declaration. Each has a name, so that compiler messages show it.

type OptionsOf<F> = F extends Field<infer _, infer O> ? O : never;
type FieldValue<F> = F extends Field<infer T, infer _> ? T : never;
/** True if the options `O` of a field contain the option `K`. False if the options are unknown. */
type IsTrue<O, K extends string> = unknown extends O ? false : [K] extends [O] ? true : false;
type HasDefault<O> = IsTrue<O, "default">;
/** True if the field is computed from the record, without a column. */
type IsComputed<O> = IsTrue<O, "computed">;
type IsGiven<O> = IsTrue<O, "generated"> extends true ? true : IsTrue<O, "readOnly">;
type IsLeftOut<O> = IsTrue<O, "optional"> extends true ? true : IsTrue<O, "filled"> extends true ? true : HasDefault<O>;
type ShownValue<T, O> = IsTrue<O, "optional"> extends true ? (HasDefault<O> extends true ? T : T | null) : T;
type SentValue<T, O> = IsTrue<O, "optional"> extends true ? (IsTrue<O, "transient"> extends true ? T : T | null) : T;

/** The type of an id. */
type Id<I> = I extends "uuid" | "text" ? string : number;
type RecordId<R extends ResourceShape> = R extends { readonly id: infer I } ? Id<I> : number;
type ParentIdOf<R extends ResourceShape> = R extends { readonly within: infer W }
  ? W extends { readonly id: infer I }
    ? Id<I>
    : never
  : number;

/** The column of the parent. Never if there is none, or if it is unknown. */
type ParentOf<R extends ResourceShape> = string extends R["parentColumn"] ? never : R["parentColumn"] & string;
type FieldsOf<R extends ResourceShape> = R["fields"];
type OptionsIn<R extends ResourceShape, K extends keyof FieldsOf<R>> = OptionsOf<FieldsOf<R>[K]>;
type ShownIn<R extends ResourceShape, K extends keyof FieldsOf<R>> = ShownValue<
  FieldValue<FieldsOf<R>[K]>,
  OptionsIn<R, K>
>;
type SentIn<R extends ResourceShape, K extends keyof FieldsOf<R>> = SentValue<
  FieldValue<FieldsOf<R>[K]>,
  OptionsIn<R, K>
>;

type ShownName<R extends ResourceShape> = keyof {
  [K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "writeOnly"> extends true ? never : K]: K;
};
type StoredName<R extends ResourceShape> = keyof {
  [
    K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "transient"> extends true
      ? never
      : IsComputed<OptionsIn<R, K>> extends true
        ? never
        : K
  ]: K;
};
type TransientName<R extends ResourceShape> = keyof {
  [K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "transient"> extends true ? K : never]: K;
};
type WritableName<R extends ResourceShape> = keyof {
  [K in keyof FieldsOf<R> as IsGiven<OptionsIn<R, K>> extends true ? never : K]: K;
};
type LeftOutName<R extends ResourceShape> = keyof {
  [K in keyof FieldsOf<R> as IsLeftOut<OptionsIn<R, K>> extends true ? K : never]: K;
};
/**
 * Fields for which the draft of a new record may have no value: those that the database fills, and read-only fields
 * that are not generated, not optional and have no default.
 */
type OpenName<R extends ResourceShape> = keyof {
  [
    K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "filled"> extends true
      ? K
      : IsTrue<OptionsIn<R, K>, "generated"> extends true
        ? never
        : IsTrue<OptionsIn<R, K>, "readOnly"> extends true
          ? IsLeftOut<OptionsIn<R, K>> extends true
            ? never
            : K
          : never
  ]: K;
};
/**
 * Fields that every change stores, because the draft always has a value for them: the sent value, the existing value, a
 * constant default or null. `made` marks a default that is a function. A change does not call the function, so the
 * draft may lack the value. It may also lack the value of a field that the database fills.
 */
type KeptName<R extends ResourceShape> = Exclude<
  keyof {
    [
      K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "made"> extends true
        ? never
        : IsTrue<OptionsIn<R, K>, "filled"> extends true
          ? never
          : K
    ]: K;
  } &
    ShownName<R> &
    WritableName<R>,
  TransientName<R>
>;

/** The shown value of a field. */
export type ShownBy<F> = ShownValue<FieldValue<F>, OptionsOf<F>>;

type KnownOptions<O> = unknown extends O ? never : O;

/** Fields that are computed from other fields. */
export type ComputedFields<C> = {
  readonly [K in keyof C]: Field<FieldValue<C[K]>, KnownOptions<OptionsOf<C[K]>> | "readOnly" | "computed">;
};

/** A record as a caller reads it. */
export type RecordOf<R extends ResourceShape> = { readonly id: RecordId<R> } & {
  readonly [K in ShownName<R>]: ShownIn<R, K>;
};

/** The fields that a caller sends to create or replace a record. */
export type DraftOf<R extends ResourceShape> = {
  readonly [K in Exclude<WritableName<R>, LeftOutName<R>>]: SentIn<R, K>;
} & { readonly [K in WritableName<R> & LeftOutName<R>]?: SentIn<R, K> };

/** The stored form of a record: every column, including hidden columns. */
export type StoredOf<R extends ResourceShape> = { readonly id: RecordId<R> } & {
  readonly [K in ParentOf<R>]: ParentIdOf<R>;
} & {
  readonly [K in StoredName<R>]: ShownIn<R, K>;
};

/** The names of the columns of a resource's table, including `id` and the column of the parent. */
export type ColumnOf<R extends ResourceShape> = "id" | ParentOf<R> | (StoredName<R> & string);

/** The columns with comparable values: no JSON, no lists, and no lists of ids. */
export type ComparedOf<R extends ResourceShape> =
  | "id"
  | ParentOf<R>
  | (keyof {
      [
        K in StoredName<R> as IsTrue<OptionsIn<R, K>, "json"> extends true
          ? never
          : [FieldValue<FieldsOf<R>[K]>] extends [object]
            ? never
            : K
      ]: K;
    } &
      string);

/** The columns that may hold the id of a user: `id` and columns of numbers. */
export type UserIdOf<R extends ResourceShape> =
  | HoldsNumber<RecordId<R>, "id">
  | HoldsNumber<ParentIdOf<R>, ParentOf<R>>
  | (keyof { [K in StoredName<R> as HoldsNumber<FieldValue<FieldsOf<R>[K]>, K>]: K } & string);
type HoldsNumber<T, K> = [T] extends [number] ? K : unknown extends T ? K : never;

/** The columns with the id of another record, including the column of the parent. */
export type ReferenceOf<R extends ResourceShape> =
  | ParentOf<R>
  | (keyof { [K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "refers"> extends true ? K : never]: K } & string);

/** The columns with the id of a user. */
export type UserReferenceOf<R extends ResourceShape> = keyof {
  [K in keyof FieldsOf<R> as IsTrue<OptionsIn<R, K>, "user"> extends true ? K : never]: K;
} &
  string;

/** The columns with the id of one other record that is no user, including the column of the parent. */
export type GroupReferenceOf<R extends ResourceShape> = Exclude<ReferenceOf<R> & ComparedOf<R>, UserReferenceOf<R>>;

/**
 * Names the rows of a group in the type of a permission: by a column with the id of the group, or by the id in the
 * resource of the group itself.
 */
export type GroupRows<Column extends string, Group extends string> = `${Column} or id of ${Group}`;

/** The rows of the group that the column `C` of memberships refers to. */
export type GroupRowsOf<R extends ResourceShape, C extends string> = C extends keyof FieldsOf<R>
  ? GroupRows<C, NamedTarget<OptionsIn<R, C>>>
  : C extends `${infer Parent}_id`
    ? GroupRows<C, Parent>
    : never;

/** The name of the resource that a reference was declared with. `*` if it was declared with a plural. */
type NamedTarget<O> = [Extract<O, `refers to ${string}`>] extends [never]
  ? "*"
  : O extends `refers to ${infer N}`
    ? N
    : never;

/** The rows of groups that a permission may select in a resource. */
export type GroupRowsIn<R extends ResourceShape & { readonly name: string }> =
  | GroupRows<ComparedOf<R>, string>
  | GroupRows<string, R["name"] | "*">;

/**
 * The values that may be written to the columns of a resource's table. The id and the parent are not among them,
 * because the path has them.
 */
export type WritableOf<R extends ResourceShape> = { readonly [K in StoredName<R>]?: ShownIn<R, K> };

/** The stored values of a new record. */
export type MadeValuesOf<R extends ResourceShape> = {
  readonly [K in Exclude<StoredName<R>, OpenName<R>>]: ShownIn<R, K>;
} & { readonly [K in OpenName<R>]?: ShownIn<R, K> };

/** The stored values of a change. May lack fields whose value stays unchanged. */
export type ChangedValuesOf<R extends ResourceShape> = { readonly [K in KeptName<R>]: ShownIn<R, K> } & {
  readonly [K in Exclude<StoredName<R>, KeptName<R>>]?: ShownIn<R, K>;
};

/** The transient fields in the request. */
export type TransientOf<R extends ResourceShape> = { readonly [K in TransientName<R>]?: FieldValue<FieldsOf<R>[K]> };

/**
 * The values that `check` gets: the stored values of the record after the write, and the transient fields in the
 * request.
 */
export type CheckedOf<R extends ResourceShape> = { readonly id?: RecordId<R> } & MadeValuesOf<R> & TransientOf<R>;
