import { storedOf } from "../../http/declarations/table.ts";
import type { Store, Where } from "../../store/store.ts";
import { mountedEvents, type EventRow, type ReceiverColumn } from "./events.ts";

const { collection } = mountedEvents;

/** The longest time that an event is postponed, in milliseconds. */
export const LAST_RETRY_MS = 3_600_000;

/**
 * The longest plausible time until an event is due, in milliseconds. An event with a later due time was written while
 * the clock was wrong, and is due at once. A job for a chosen time (`planned`) has no such limit.
 */
const FARTHEST_MS = LAST_RETRY_MS + 60_000;

/**
 * Returns the names of the subscribers and workers with events or jobs, including those that this process does not
 * know. Uses one index lookup for each name.
 */
export async function awaitedReceivers(store: Store, column: ReceiverColumn): Promise<readonly string[]> {
  const names: string[] = [];
  for (;;) {
    const where: Where = { column, operator: "gt", value: names.at(-1) ?? "" };
    const [next] = await store.list({ collection, where, sort: [{ column }, { column: "id" }], limit: 1 });
    if (next === undefined) return names;
    names.push(storedOf(next)[column]);
  }
}

/**
 * The receiver (`to`), the ids of its running events, which are left out (`but`), and the largest number of events
 * (`most`).
 */
export interface DueOptions {
  readonly to: string;
  readonly but: readonly number[];
  readonly most: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The column that has the receiver. */
  readonly column: ReceiverColumn;
}

/**
 * Returns the due events of one receiver, the longest due first. Reads no events of other receivers, because a receiver
 * that hangs may have any number of events.
 */
export async function dueEvents(
  store: Store,
  { to, but, most, now, column }: DueOptions,
): Promise<readonly EventRow[]> {
  const find = async (
    planned: boolean,
    operator: "lte" | "gt",
    ms: number,
    limit: number,
  ): Promise<readonly EventRow[]> =>
    limit === 0
      ? []
      : store.list({
          collection,
          where: {
            all: [
              { column, operator: "eq", value: to },
              { column: "failed", operator: "eq", value: false },
              { column: "planned", operator: "eq", value: planned },
              { column: "due_at", operator, value: new Date(ms).toISOString() },
              ...(but.length === 0 ? [] : [{ not: { column: "id", operator: "in", value: but } } as const]),
            ],
          },
          sort: [{ column: "due_at" }, { column: "id" }],
          limit,
        });
  const planned = await find(true, "lte", now, most);
  const due = [...planned, ...(await find(false, "lte", now, most))].toSorted(byTime).slice(0, most);
  return [...due, ...(await find(false, "gt", now + FARTHEST_MS, most - due.length))];
}

/** All due times have the same format, so they compare as texts. */
function byTime(one: EventRow, other: EventRow): number {
  const [a, b] = [storedOf(one), storedOf(other)];
  return a.due_at === b.due_at ? a.id - b.id : a.due_at < b.due_at ? -1 : 1;
}
