import { splitWords } from "../../core/words/words.ts";
import { StoreTimeout, type Collection, type ListQuery, type Store, type StoredRecord } from "../../store/store.ts";
import type { ServedMount } from "../declarations/mount.ts";
import { buildConditions, type WordCondition } from "./reads/searching.ts";
import { collectShapes } from "./shapes.ts";

/** A list that a declaration permits, with its current cost. */
export interface ExplainedList {
  /** The name of the list: `/orders status[eq] by -created_at, own user_id` */
  readonly list: string;
  /** True if an index returns the rows in order. */
  readonly served: boolean;
  /** The time for a page of 100 records, in milliseconds. Null if the read took too long. */
  readonly ms: number | null;
  /** The query plan, in the words of the database. Empty if the database returns none. */
  readonly plan: string;
}

/**
 * Runs every list that the declarations permit, and reports its query plan. The filters use the values of one row from
 * the middle of the table. Yields the lists of each resource.
 */
export async function* explainLists(
  store: Store,
  mounts: readonly Pick<ServedMount, "resource" | "collection" | "permissions" | "links" | "older">[],
): AsyncGenerator<readonly ExplainedList[]> {
  for (const mount of mounts) {
    // An older shape has the same lists as the newer shape.
    if (mount.permissions.list === undefined || mount.older !== null) continue;
    const sample = await findSample(store, mount.collection);
    const explained: ExplainedList[] = [];
    const word = await findWord(store, mount, sample);
    for (const { title, query, isServed } of collectShapes(mount, sample, word)) {
      const plan = (await store.plan?.(query)) ?? [];
      const ms = await measure(store, { ...query, long: !isServed });
      explained.push({ list: `${mount.resource.path} ${title}`, served: isServed, ms, plan: plan.join("; ") });
    }
    yield explained;
  }
}

/** Returns a row from the middle of the table, because the first and the last rows may be unusual. */
async function findSample(store: Store, collection: Collection): Promise<StoredRecord | null> {
  const all: ListQuery = { collection, where: null, sort: [{ column: "id", descending: true }], limit: 1 };
  const [last] = await store.list(all);
  if (last === undefined) return null;
  const lastId = last.record["id"];
  // UUIDs have no numeric middle, so any row is fine.
  if (typeof lastId !== "number") return last.record;
  const middle = Math.ceil(lastId / 2);
  const [row] = await store.list({
    ...all,
    where: { column: "id", operator: "gte", value: middle },
    sort: [{ column: "id" }],
  });
  return row?.record ?? null;
}

/**
 * Returns the rarest word of a row, because a user who searches for the row would enter it. Returns the first word if
 * none is rare. Returns null if the row has no word, or while the index of words is being built.
 */
async function findWord(
  store: Store,
  { resource, collection }: Pick<ServedMount, "resource" | "collection">,
  sample: StoredRecord | null,
): Promise<WordCondition | null> {
  const words = resource.search.flatMap((field) => splitWords(String(sample?.[field] ?? "")));
  if (words.length === 0) return null;
  const conditions = (await buildConditions(store, collection, words)) ?? [];
  return conditions.find(({ few }) => few === true) ?? conditions[0] ?? null;
}

/** Measures the second read. The first read prepares the statement. */
async function measure(store: Store, query: ListQuery): Promise<number | null> {
  try {
    await store.listJSON({ ...query });
    const start = performance.now();
    await store.listJSON({ ...query });
    return Math.round((performance.now() - start) * 1000) / 1000;
  } catch (error) {
    if (error instanceof StoreTimeout) return null;
    throw error;
  }
}
