import type { Observer } from "../../../core/observation.ts";
import type { Collection, Key, Store } from "../../../store/store.ts";
import { timeText } from "./conditions.ts";

export interface TouchOptions<V> {
  readonly store: Store;
  readonly collection: Collection<V>;
  /** The date-time column to write. */
  readonly column: keyof V & string;
  /** The shortest time between two writes of a row, in milliseconds. */
  readonly everyMs: number;
  readonly observe: Observer;
}

/**
 * Stores that a row was used. `last` is the current value of the column. Null means that the row was never used.
 * Returns before the write is done.
 */
export type Touch = (key: Key, last: string | null, now: number) => void;

/**
 * Creates the function for one collection. A credential in use causes at most one write per `everyMs`, not one per
 * request.
 */
export function makeTouch<V>({ store, collection, column, everyMs, observe }: TouchOptions<V>): Touch {
  const underway = new Set<Key>();

  async function write(key: Key, now: number): Promise<void> {
    try {
      // A logout or the deletion of the user may have deleted the row. The update then matches no row.
      await store.write({
        changes: [{ kind: "update", collection, key, values: { [column]: timeText(now) } }],
      });
    } catch (error) {
      observe({
        kind: "notice",
        level: "error",
        message: `The last use of a row of ${collection.name} could not be written.`,
        error,
      });
    } finally {
      underway.delete(key);
    }
  }

  return (key, last, now) => {
    if (last !== null && now - Date.parse(last) < everyMs) return;
    if (underway.has(key)) return;
    underway.add(key);
    void write(key, now);
  };
}
