import type { Only } from "../../core/checking/members.ts";
import type { Field } from "../../resource/declaration/field.ts";
import type { ShownBy } from "../../resource/declaration/types.ts";
import { json, type JSONOptions } from "../../resource/kinds/fields.ts";
import type { Fields } from "../../resource/resource.ts";
import { formatTableName } from "../../resource/tables/table.ts";
import type { Change, Collection, Column, Key, KeyOf, Row, Value, Where } from "../../store/store.ts";

/** A table that only our own code writes. `V` is the type of a row, and `N` that of the values of a new row. */
export interface Table<V, N> extends Collection<V> {
  /** Never set. It carries `N` for the type checker. */
  readonly made?: N;
}

interface TableDeclaration<F extends Fields, I extends Collection["key"]> {
  readonly name: string;
  /** Default: `integer`. */
  readonly id?: I;
  readonly fields: F;
  readonly indexes?: readonly (readonly ("id" | (keyof F & string))[])[];
}

type RecordIn<F extends Fields, I> = { readonly id: I extends "text" ? string : number } & {
  readonly [K in keyof F]: ShownBy<F[K]>;
};
type OpenName<F extends Fields> = keyof {
  [K in keyof F as [Extract<OptionsOf<F[K]>, "optional" | "default">] extends [never] ? never : K]: K;
};
type OptionsOf<F> = F extends Field<infer _, infer O> ? O : never;
type ValuesIn<F extends Fields> = { readonly [K in Exclude<keyof F, OpenName<F>>]: ShownBy<F[K]> | KeyOf } & {
  readonly [K in OpenName<F>]?: ShownBy<F[K]> | KeyOf;
};

/**
 * Declares a table in the language of resources: the fields are its columns, and give its rows their types. Only own
 * code writes the rows, so the limits of a field, for example the length of a text, are neither checked nor stored.
 */
export function table<const F extends Fields, const I extends Collection["key"] = "integer">(
  declaration: TableDeclaration<F, I>,
): Table<RecordIn<F, I>, ValuesIn<F>>;
export function table({ name, id = "integer", fields, indexes }: TableDeclaration<Fields, Collection["key"]>) {
  const columns = Object.entries(fields).map(([column, field]) => buildColumn(column, field));
  return Object.freeze({ name, key: id, columns, ...(indexes === undefined ? {} : { indexes }) });
}

function buildColumn(name: string, { kind: { column, references }, options }: Field): Column {
  const { optional = false, unique = false, default: fallback } = options;
  return {
    name,
    ...column,
    ...(optional ? { nullable: true } : {}),
    ...(unique === false ? {} : { unique: unique === true ? true : "folded" }),
    ...(fallback === undefined ? {} : { default: fallback as Value }),
    ...(references === undefined
      ? {}
      : { references: { collection: formatTableName(references.resource), onDelete: references.onDelete } }),
  };
}

/** Declares a JSON field of a table whose values have the type `T`, because only our own code writes them. */
export function jsonOf<T>(options: JSONOptions & { readonly optional: true }): Field<T, "optional">;
export function jsonOf<T>(options?: JSONOptions & { readonly optional?: false }): Field<T, never>;
export function jsonOf(options: JSONOptions = {}): Field {
  return json(options);
}

/**
 * Returns the record of a row, with the types of its table's columns. The cast is safe: a store checks each value
 * against the type of its column, and only own code writes the words of an enumeration and the shape of a JSON value.
 */
export function storedOf<V>({ record }: Row<V>): V {
  return record as V;
}

/** The type of the record of a row of a table. */
export type StoredIn<C> = C extends Collection<infer V> ? V : never;

/** The values of a change of some columns of a row. */
export type ChangedIn<C> = C extends Table<infer _, infer N> ? SomeValues<N> : never;

/** A change of a table. */
export type ChangeOf<C> = Change & { readonly collection: Collection<StoredIn<C>> };

type Kind<K extends Change["kind"], V> = Extract<Change, { readonly kind: K }> & { readonly collection: Collection<V> };
type Rest<K extends Change["kind"]> = Omit<Extract<Change, { readonly kind: K }>, "kind" | "collection">;
type SomeValues<N> = { readonly [K in keyof N]?: N[K] };
type AddedTo<N, C extends keyof N> = Omit<N, C> & SomeValues<Pick<N, C>>;

/** Returns the change that makes a row. A name that is no column does not compile. */
export function insert<V, N, const W extends N>(
  collection: Table<V, N>,
  change: { readonly key?: Key | KeyOf; readonly values: Only<W, NoInfer<N>> },
): Kind<"insert", V>;
export function insert(collection: Collection, change: Rest<"insert">): Change {
  return { kind: "insert", collection, ...change };
}

/** Returns the change of some columns of a row. A name that is no column does not compile. */
export function update<V, N, const W extends SomeValues<N>>(
  collection: Table<V, N>,
  change: { readonly key: Key; readonly values: Only<W, SomeValues<N>>; readonly revision?: number },
): Kind<"update", V>;
export function update(collection: Collection, change: Rest<"update">): Change {
  return { kind: "update", collection, ...change };
}

/** Returns the change of some columns of all matching rows. A name that is no column does not compile. */
export function updateAll<V, N, const W extends SomeValues<N>>(
  collection: Table<V, N>,
  change: { readonly where: Where; readonly values: Only<W, SomeValues<N>>; readonly atMost?: number },
): Kind<"updateAll", V>;
export function updateAll(collection: Collection, change: Rest<"updateAll">): Change {
  return { kind: "updateAll", collection, ...change };
}

/** Returns the change that adds to a number of a row, or makes the row. A name that is no column does not compile. */
export function add<V, N, const C extends keyof N & string, const W extends AddedTo<N, C>>(
  collection: Table<V, N>,
  change: { readonly key: Key; readonly column: C; readonly by: number; readonly values: Only<W, AddedTo<N, C>> },
): Kind<"add", V>;
export function add(collection: Collection, change: Rest<"add">): Change {
  return { kind: "add", collection, ...change };
}
