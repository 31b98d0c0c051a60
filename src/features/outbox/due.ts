import type { Row, Store, Where } from "../../store/store.ts";
import { mountedEvents } from "./events.ts";

const { collection } = mountedEvents;

/** The longest that an event is put off, in milliseconds. */
export const LAST_RETRY_MS = 3_600_000;

/** What is due later than this was written while the clock was ahead, in milliseconds: nothing is put off for so long. */
const FARTHEST_MS = LAST_RETRY_MS + 60_000;

/** To whom something is still to be delivered, also those that are there no more: a look at an index for each. */
export async function awaitedSubscribers(store: Store): Promise<readonly string[]> {
  const names: string[] = [];
  for (;;) {
    const where: Where = { column: "subscriber", operator: "gt", value: names.at(-1) ?? "" };
    const sort = [{ column: "subscriber" }, { column: "id" }];
    const [next] = await store.list({ collection, where, sort, limit: 1 });
    if (next === undefined) return names;
    names.push(next.record["subscriber"] as string);
  }
}

/** Whose events are asked for, without those that are under way, and how many at most. */
export interface DueOptions {
  readonly to: string;
  readonly but: readonly number[];
  readonly most: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What is due for one subscriber, the longest due first. Of what waits for others nothing is looked at: one that hangs may have any number of them. */
export async function dueEvents(store: Store, { to, but, most, now }: DueOptions): Promise<readonly Row[]> {
  const find = async (operator: "lte" | "gt", ms: number, limit: number): Promise<readonly Row[]> =>
    limit === 0
      ? []
      : store.list({
          collection,
          where: {
            all: [
              { column: "subscriber", operator: "eq", value: to },
              { column: "failed", operator: "eq", value: false },
              { column: "due_at", operator, value: new Date(ms).toISOString() },
              ...(but.length === 0 ? [] : [{ not: { column: "id", operator: "in", value: but } } as const]),
            ],
          },
          sort: [{ column: "due_at" }, { column: "id" }],
          limit,
        });
  const due = await find("lte", now, most);
  return [...due, ...(await find("gt", now + FARTHEST_MS, most - due.length))];
}
