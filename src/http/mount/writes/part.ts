import type { Change } from "../../../store/store.ts";
import type { WriteFacts } from "./committing.ts";

/** The part of one record in the transaction of an array. */
export interface Part {
  /** The index of the record in the array. */
  readonly at: number;
  readonly own: Change;
  /** Further changes. In them, `keyOf(0)` is the record's own id. */
  readonly further: readonly Change[];
  /** The number of link rows that these changes add and delete. */
  readonly linkRows: number;
  readonly writing: WriteFacts;
}
