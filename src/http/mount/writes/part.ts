import type { Change } from "../../../store/store.ts";
import type { WriteFacts } from "./committing.ts";

/** The changes of one record in the transaction of an array. */
export interface Part {
  /** The index of the record in the array. */
  readonly at: number;
  readonly own: Change;
  /** Further changes. `keyOf(0)` in them is the id of this record. */
  readonly further: readonly Change[];
  /** The number of link rows that these changes add and delete. */
  readonly linkRows: number;
  readonly writing: WriteFacts;
  /**
   * The facts about the membership of a founder. Its place (`at`) is that among the changes of this record: 0 is `own`,
   * 1 the first of `further`.
   */
  readonly founding?: readonly WriteFacts[];
}
