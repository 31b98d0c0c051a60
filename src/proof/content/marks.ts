import type { ServedMount } from "../../http/declarations/mount.ts";
import type { Key } from "../../store/store.ts";

/** One stored value: a field of a row. */
export interface Cell {
  readonly mount: ServedMount;
  readonly id: Key;
  readonly field: string;
}

/** The stored values by their marks. */
export type Marks = Map<string, Cell>;
