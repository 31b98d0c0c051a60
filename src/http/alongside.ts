import type { Resource } from "../resource/resource.ts";
import type { Cause, Change, Key, KeyOf } from "../store/store.ts";

/** A write of some resource, before it is written: ids alone. */
export interface RecordWrite {
  readonly resource: Resource;
  readonly kind: "create" | "replace" | "update" | "delete" | "action";
  /** The name of the action; null for every other kind. */
  readonly action: string | null;
  /** What stands for the id that a new record is given, in a change of the same transaction. Null for an action on the collection. */
  readonly id: Key | KeyOf | null;
  readonly cause: Cause;
}

/** Changes that belong into the transaction of a write. Asked for every write: quick, and the same each time. */
export type Alongside = (write: RecordWrite) => readonly Change[];
