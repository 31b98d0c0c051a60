import type { Change, Collection, Key, Outcome, Transaction } from "../store.ts";

/** A change that can be sent to another thread. It contains the name of its collection. */
export type NamedChange = WithCollectionName<Change>;
/** A change of the rows of a collection. */
export type RowChange = Exclude<NamedChange, { readonly kind: "forget" }>;
type WithCollectionName<C> = C extends { readonly collection: Collection }
  ? Omit<C, "collection"> & { readonly collection: string }
  : never;

export interface NamedTransaction extends Omit<Transaction, "changes"> {
  readonly changes: readonly NamedChange[];
}

/** The result of a transaction. A fault is a bug of the program, and affects only this transaction. */
export type Result =
  | Outcome
  | { readonly kind: "fault"; readonly message: string }
  /** Another program has changed the table of the collection for another declaration. */
  | { readonly kind: "outdated"; readonly collection: string };

/** Returns the transaction with the names of its collections instead of the collections. */
export function nameCollections({ changes, idempotency }: Transaction): NamedTransaction {
  const named = changes.map((change) => ({ ...change, collection: change.collection.name }));
  return idempotency === undefined ? { changes: named } : { changes: named, idempotency };
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
