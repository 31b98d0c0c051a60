import type { Resource } from "../../resource/resource.ts";
import type { Cause, Change, Key, KeyOf } from "../../store/store.ts";

/** One write to a resource, before it is saved. It contains ids, but no field values. */
export interface RecordWrite {
  readonly resource: Resource;
  readonly kind: "create" | "replace" | "update" | "delete" | "action";
  /** The name of the action. Null for every other kind of write. */
  readonly action: string | null;
  /**
   * The id of the record. A new record has no id yet, so `keyOf` refers to the change that inserts it in the same
   * transaction. Null for an action on the collection, and for records that are deleted together with another record.
   */
  readonly id: Key | KeyOf | null;
  /**
   * The record whose deletion causes this write. Null for every other write. The database deletes all records of
   * `resource` that refer to this record, if there are any. The write has the kind `delete`, and its `id` is null.
   */
  readonly deletedWith: { readonly resource: Resource; readonly id: Key } | null;
  readonly cause: Cause;
}

/**
 * Returns changes for the transaction of a write. Called for every write, so it must be fast. It must return the same
 * changes for the same write.
 */
export type Alongside = (write: RecordWrite) => readonly Change[];
