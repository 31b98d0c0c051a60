import type { Resource } from "../resource/resource.ts";
import type { Cause, Change, Key, KeyOf } from "../store/store.ts";

/** A write of a resource, before it is saved. It has only ids. */
export interface RecordWrite {
  readonly resource: Resource;
  readonly kind: "create" | "replace" | "update" | "delete" | "action";
  /** The name of the action. Null for every other kind of write. */
  readonly action: string | null;
  /**
   * The id. For a new record, a placeholder for its id in a change of the same transaction. Null for an action on the
   * collection, and for records that are deleted with another one.
   */
  readonly id: Key | KeyOf | null;
  /**
   * The record whose deletion deletes all records of `resource` that belong to it, by the references of their table. `id` is null then, and
   * `kind` is `delete`. There may be no such records. Null for every other write.
   */
  readonly deletedWith: { readonly resource: Resource; readonly id: Key } | null;
  readonly cause: Cause;
}

/**
 * Returns changes to add to the transaction of a write. Called for every write, so it must be quick. It must return the
 * same each time.
 */
export type Alongside = (write: RecordWrite) => readonly Change[];
