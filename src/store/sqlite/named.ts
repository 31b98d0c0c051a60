import { nameInner } from "../inner-collections.ts";
import type { Change, Collection, Key, Outcome, Requirement, Transaction } from "../store.ts";

/** A change that can be sent to another thread. It contains the name of its collection. */
export type NamedChange = WithCollectionName<Change>;
/** A change of the rows of a collection. */
export type RowChange = Exclude<NamedChange, { readonly kind: "forget" }>;
type WithCollectionName<C> = C extends { readonly collection: Collection }
  ? Omit<C, "collection"> & { readonly collection: string }
  : never;

/** A requirement that can be sent to another thread. */
export type NamedRequirement = WithCollectionName<Requirement>;

export interface NamedTransaction extends Omit<Transaction, "changes" | "requires"> {
  readonly changes: readonly NamedChange[];
  readonly requires?: readonly NamedRequirement[];
}

/** The result of a transaction. A fault is a bug of the program, and affects only this transaction. */
export type Result =
  | Outcome
  | { readonly kind: "fault"; readonly message: string }
  /** Another program has changed the table of the collection for another declaration. */
  | { readonly kind: "outdated"; readonly collection: string };

/** Returns the transaction with the names of its collections instead of the collections. */
export function nameCollections({ changes, requires, idempotency }: Transaction): NamedTransaction {
  const named = changes.map((change): NamedChange => {
    const { name } = change.collection;
    return "where" in change
      ? { ...change, collection: name, where: nameInner(change.where) }
      : { ...change, collection: name };
  });
  return {
    changes: named,
    ...(requires === undefined ? {} : { requires: requires.map(nameRequirement) }),
    ...(idempotency === undefined ? {} : { idempotency }),
  };
}

function nameRequirement({ collection, where }: Requirement): NamedRequirement {
  return { collection: collection.name, where: nameInner(where) };
}

/**
 * Returns the key if the value refers to the key of an earlier change (`keyOf`). Returns a value without `keyOf`
 * unchanged.
 */
export function keyIn<T>(value: T, keys: readonly (Key | null)[]): Exclude<T, object> | Key {
  if (typeof value !== "object" || value === null || !("keyOf" in value)) return value as Exclude<T, object>;
  const key = keys[value.keyOf as number] ?? null;
  if (key === null)
    throw new TypeError(`Change ${String(value.keyOf)} created no row before this one, so it has no key`);
  return key;
}
