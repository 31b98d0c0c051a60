/**
 * A JSON Schema (2020-12). TypeScript derives the type of the values if the schema is written in place or `as const`.
 */
export type JSONSchema = Readonly<Record<string, unknown>>;

/** The type of the values that a JSON Schema accepts; `unknown` if the schema is not known at compile time. */
export type FromSchema<S> = OwnType<S> & AnyType<S> & AllTypes<S>;

type OwnType<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: infer T }
      ? T extends readonly (infer U)[]
        ? Typed<U, S>
        : Typed<T, S>
      : unknown;

type AnyType<S> = S extends { readonly anyOf: readonly (infer M)[] } | { readonly oneOf: readonly (infer M)[] }
  ? Each<M>
  : unknown;
type Each<M> = M extends unknown ? FromSchema<M> : never;

type AllTypes<S> = S extends { readonly allOf: readonly [infer First, ...infer Rest] }
  ? FromSchema<First> & AllTypes<{ readonly allOf: Rest }>
  : unknown;

/** The values of a `type`. Distributes over the union of a list of types. */
type Typed<T, S> = T extends "string"
  ? string
  : T extends "integer" | "number"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "null"
        ? null
        : T extends "array"
          ? readonly (S extends { readonly items: infer I } ? FromSchema<I> : unknown)[]
          : T extends "object"
            ? ObjectType<S>
            : unknown;

type ObjectType<S> = S extends { readonly properties: infer P }
  ? { readonly [K in keyof P & Required<S>]: FromSchema<P[K]> } & {
      readonly [K in Exclude<keyof P, Required<S>>]?: FromSchema<P[K]>;
    } extends infer Members
    ? // Flattens the type to one object, so that an editor shows its members.
      { readonly [K in keyof Members]: Members[K] }
    : never
  : Readonly<
      Record<string, S extends { readonly additionalProperties: infer A extends object } ? FromSchema<A> : unknown>
    >;

type Required<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;
