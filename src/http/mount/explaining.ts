import { wordsOf } from "../../core/words/words.ts";
import { StoreTimeout, type Collection, type ListQuery, type Store, type StoredRecord } from "../../store/store.ts";
import type { MountInPlace } from "./mount.ts";
import { conditionsOf, type WordCondition } from "./reads/searching.ts";
import { shapesOf } from "./shapes.ts";

/** One kind of list that a declaration permits, and what it costs today. */
export interface ExplainedList {
  /** `/orders status[eq] by -created_at, own user_id` */
  readonly list: string;
  /** An index gives its rows one after another, in their order. */
  readonly served: boolean;
  /** How long a page of 100 takes, in milliseconds; null where it was given up. */
  readonly ms: number | null;
  /** How the database finds the rows, in its own words; empty where it does not tell. */
  readonly plan: string;
}

/** Asks for every list that the declarations permit, with the values of a row from the middle, and tells how each is found: a page of answers for each resource. */
export async function* explainLists(
  store: Store,
  mounts: readonly Pick<MountInPlace, "resource" | "collection" | "permissions" | "links" | "older">[],
): AsyncGenerator<readonly ExplainedList[]> {
  for (const mount of mounts) {
    // An older shape asks the lists of the newer one.
    if (mount.permissions.list === undefined || mount.older !== null) continue;
    const sample = await findSample(store, mount.collection);
    const explained: ExplainedList[] = [];
    const word = await findWord(store, mount, sample);
    for (const { title, query, isServed } of shapesOf(mount, sample, word)) {
      const plan = (await store.plan?.(query)) ?? [];
      const ms = await measure(store, { ...query, long: !isServed });
      explained.push({ list: `${mount.resource.path} ${title}`, served: isServed, ms, plan: plan.join("; ") });
    }
    yield explained;
  }
}

/** A row from the middle, where it does not matter what was there first and is there last. */
async function findSample(store: Store, collection: Collection): Promise<StoredRecord | null> {
  const all: ListQuery = { collection, where: null, sort: [{ column: "id", descending: true }], limit: 1 };
  const [last] = await store.list(all);
  if (last === undefined) return null;
  const lastId = last.record["id"];
  // UUIDs tell no number: of those any row will do.
  if (typeof lastId !== "number") return last.record;
  const middle = Math.ceil(lastId / 2);
  const [row] = await store.list({
    ...all,
    where: { column: "id", operator: "gte", value: middle },
    sort: [{ column: "id" }],
  });
  return row?.record ?? null;
}

/** Of the words of a row the one that fewest have, as whoever looks for that row would; null where it has none, or nobody knows yet. */
async function findWord(
  store: Store,
  { resource, collection }: Pick<MountInPlace, "resource" | "collection">,
  sample: StoredRecord | null,
): Promise<WordCondition | null> {
  const words = resource.search.flatMap((field) => wordsOf(String(sample?.[field] ?? "")));
  if (words.length === 0) return null;
  const conditions = (await conditionsOf(store, collection, words)) ?? [];
  return conditions.find(({ few }) => few === true) ?? conditions[0] ?? null;
}

/** The second time: the first one prepares the statement. */
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
