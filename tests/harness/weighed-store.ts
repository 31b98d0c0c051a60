import type { Row, Store } from "../../src/door/stores.ts";

/** A store that counts the octets of its results. */
export interface WeighedStore {
  readonly store: Store;
  /** Returns the octets of the results since the last call. */
  takeOctets(): number;
}

/** Counts the octets of the records that a store returns: as JSON, including those of writes. */
export function weighed(store: Store): WeighedStore {
  let octets = 0;
  const ofText = (text: string): void => void (octets += Buffer.byteLength(text));
  const ofRows = (rows: readonly (Row | null)[]): void =>
    ofText(JSON.stringify(rows.map((row) => row?.record ?? null)));

  async function weigh<T>(answer: T | Promise<T>, note: (value: T) => void): Promise<T> {
    const result = await answer;
    note(result);
    return result;
  }

  return {
    store: {
      ...store,
      find: (collection, key) => weigh(store.find(collection, key), (row) => ofRows([row])),
      findBy: (collection, column, value) => weigh(store.findBy(collection, column, value), (row) => ofRows([row])),
      list: (query) => weigh(store.list(query), ofRows),
      listJSON: (query, beside) =>
        weigh(store.listJSON(query, beside), (page) => {
          ofText(page.json);
          for (const related of page.beside?.flat() ?? []) ofText(related?.json ?? "");
        }),
      listRelated: (query) => weigh(store.listRelated(query), (all) => all?.forEach(({ json }) => ofText(json))),
      recall: (idempotency) => weigh(store.recall(idempotency), (recalled) => ofText(JSON.stringify(recalled))),
      write: (transaction) =>
        weigh(store.write(transaction), (outcome) => ofRows("rows" in outcome ? outcome.rows : [])),
    },
    takeOctets() {
      const total = octets;
      octets = 0;
      return total;
    },
  };
}
