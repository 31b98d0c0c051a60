import { insert, storedOf, update } from "../../http/declarations/table.ts";
import type { Key, Store } from "../../store/store.ts";
import { leases } from "./events.ts";

/**
 * The longest plausible lease from now, in milliseconds. No lease is longer than twice the longest try. A lease that
 * expires later was taken while the clock was wrong.
 */
const FARTHEST_MS = 660_000;

/**
 * The key of the lease that older versions take for all rows which they can read. The processes of this version share
 * it under one name, so that they keep it from older versions and not from each other.
 */
export const OLDER = { key: "outbox", holder: "receivers" } as const;

/** Returns the key of the lease of a receiver. */
export function leaseOf(receiver: string): string {
  return `to ${receiver}`;
}

/**
 * Ensures that one process at a time delivers to a receiver. If that process dies, the others wait until its leases
 * expire.
 */
export interface Leases {
  /**
   * Takes or renews leases for `seconds`. Returns the keys of the leases that this process holds for at least half of
   * that time. A call in the first half of a lease does not renew it. `now` is in milliseconds since the epoch.
   */
  hold(keys: readonly string[], now: number, seconds: number): Promise<ReadonlySet<Key>>;
  /** Releases all leases of this process, for the next process. */
  release(): Promise<void>;
}

/** Makes the leases of a process. `holder` is a name that no other process has. */
export function createLeases(store: Store, holder: string): Leases {
  async function take(key: string, until: number): Promise<boolean> {
    const taken = await store.write({ changes: [insert(leases, { key, values: { holder, until } })] });
    return taken.kind === "written";
  }

  /** Changes a lease. If two processes take it at the same time, the revision refuses the second write. */
  async function renew(key: string, until: number, revision: number): Promise<boolean> {
    const renewed = await store.write({ changes: [update(leases, { key, values: { holder, until }, revision })] });
    return renewed.kind === "written";
  }

  return {
    async hold(keys, now, seconds) {
      const [until, enough] = [now + seconds * 1000, now + seconds * 500];
      const rows = await store.list({
        collection: leases,
        where: { column: "id", operator: "in", value: keys },
        sort: [{ column: "id" }],
        limit: keys.length,
      });
      const hold = async (key: string): Promise<boolean> => {
        const row = rows.find((each) => storedOf(each).id === key);
        if (row === undefined) return take(key, until);
        const held = storedOf(row);
        const isOwn = held.holder === holder;
        if (isOwn && held.until >= enough && held.until <= until) return true;
        const isFree = isOwn || held.until <= now || held.until > now + FARTHEST_MS;
        return isFree && renew(key, until, row.revision);
      };
      const taken = await Promise.all(keys.map(hold));
      return new Set(keys.filter((_, at) => taken[at]));
    },
    async release() {
      await store.write({
        changes: [
          { kind: "deleteAll", collection: leases, where: { column: "holder", operator: "eq", value: holder } },
        ],
      });
    },
  };
}
