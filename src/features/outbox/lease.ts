import type { Store } from "../../store/store.ts";
import { leases } from "./events.ts";

const KEY = "outbox";

/**
 * The longest plausible lease from now, in milliseconds. No lease is longer than twice the longest try. A lease that expires later was
 * taken while the clock was wrong.
 */
const FARTHEST_MS = 660_000;

/** Ensures that one process at a time delivers. If that process dies, the others wait until its lease expires. */
export interface Lease {
  /**
   * Takes or renews the lease for `seconds`. Returns true if this process holds it for at least half of that time. A call in the first half
   * of the lease does not renew it. `now` is in milliseconds since the epoch.
   */
  hold(now: number, seconds: number): Promise<boolean>;
  /** Releases the lease for the next process, if this process holds it. */
  release(): Promise<void>;
}

/** Makes the lease of a process. `holder` is a name that no other process has. */
export function createLease(store: Store, holder: string): Lease {
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
    // If two processes take the lease at the same time, the revision refuses the second write.
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
