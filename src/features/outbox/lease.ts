import type { Store } from "../../store/store.ts";
import { leases } from "./events.ts";

const KEY = "outbox";

/** What is held beyond this, in milliseconds from now, was taken while the clock was ahead: no lease is for longer than twice the longest try. */
const FARTHEST_MS = 660_000;

/** Sees to it that one process at a time delivers. One that dies keeps the others waiting until its time is over. */
export interface Lease {
  /** Whether this process has it from now on, for half of `seconds` or more: it is written anew when half of them are over, and not at each look. */
  hold(now: number, seconds: number): Promise<boolean>;
  /** Gives it to whoever asks next, where this process has it. */
  release(): Promise<void>;
}

/** `holder` is a name that no other process has. */
export function leaseOf(store: Store, holder: string): Lease {
  type Row = { readonly holder: string; readonly until: number };

  async function take(until: number, enough: number, isFree: (row: Row) => boolean): Promise<boolean> {
    const row = await store.find(leases, KEY);
    if (row === null) {
      const made = await store.write({
        changes: [{ kind: "insert", collection: leases, key: KEY, values: { holder, until } }],
      });
      return made.kind === "written";
    }
    const held = row.record as unknown as Row;
    if (!isFree(held)) return false;
    if (held.holder === holder && held.until >= enough && held.until <= until) return true;
    // Of two that take it at once one finds it changed.
    const taken = await store.write({
      changes: [{ kind: "update", collection: leases, key: KEY, values: { holder, until }, revision: row.revision }],
    });
    return taken.kind === "written";
  }

  return {
    hold: (now, seconds) =>
      take(
        now + seconds * 1000,
        now + seconds * 500,
        (row) => row.holder === holder || row.until <= now || row.until > now + FARTHEST_MS,
      ),
    async release() {
      await take(0, Infinity, (row) => row.holder === holder);
    },
  };
}
