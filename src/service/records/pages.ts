import type { Collection, Key, Row, Store, Where } from "../../door/stores.ts";

/** Returns all rows, or those of a condition, in the order of their keys, a page at a time. */
export async function* loadPages(
  store: Store,
  collection: Collection,
  limit: number,
  where: Where | null = null,
): AsyncGenerator<readonly Row[]> {
  for (let last: Key | null = null; ;) {
    const afterLast: Where | null = last === null ? null : { column: "id", operator: "gt", value: last };
    const all: readonly Where[] = [where, afterLast].filter((each) => each !== null);
    const page = await store.list({ collection, where: { all }, sort: [{ column: "id" }], limit });
    if (page.length === 0) return;
    yield page;
    last = page.at(-1)!.record["id"] as Key;
  }
}
