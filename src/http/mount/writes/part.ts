import type { Change } from "../../../store/store.ts";
import type { Writing } from "./committing.ts";

/** The part of one record in the transaction of an array. */
export interface Part {
  /** The place of the record in the array. */
  readonly at: number;
  readonly own: Change;
  /** Written so that `keyOf(0)` is the record's own id. */
  readonly further: readonly Change[];
  /** The number of rows of relations that these changes make and remove. */
  readonly linkRows: number;
  readonly writing: Writing;
}
