import type { Resource } from "../resource/resource.ts";
import type { Cause, Change, Key, KeyOf } from "../store/store.ts";

/** A write of a resource, before it is saved. It has only ids. */
export interface RecordWrite {
  readonly resource: Resource;
  readonly kind: "create" | "replace" | "update" | "delete" | "action";
  /** The name of the action. Null for every other kind of write. */
  readonly action: string | null;
  /**
   * The id. For a new record, `keyOf` its change in the same transaction. Null for an action on the collection, and for records that are
   * deleted together with another one.
   */
  readonly id: Key | KeyOf | null;
  /**
   * Set if the database deletes all records of `resource` that refer to this deleted record. Then `id` is null and `kind` is `delete`, and
   * there may be no such records. Null for every other write.
   */
  readonly deletedWith: { readonly resource: Resource; readonly id: Key } | null;
  readonly cause: Cause;
}

/**
 * Returns changes for the transaction of a write. Called for every write, so it must be fast. It must return the same changes for the same
 * write.
 */
export type Alongside = (write: RecordWrite) => readonly Change[];
