import { DeclarationError } from "../../checking/declaration-error.ts";
import { requireChanges, storeMistakes } from "../checking.ts";
import type { Collection, Store } from "../store.ts";

/** A store that is open. */
export type Engine = Omit<Store, "open">;

/** The store over what `open` makes of a database; `notOpen` says that it has not been, or not any more. */
export function storeOver(open: (collections: readonly Collection[]) => Promise<Engine>, notOpen: () => Error): Store {
  let engine: Engine | null = null;

  function opened(): Engine {
    if (engine === null) throw notOpen();
    return engine;
  }

  async function close(): Promise<void> {
    const closing = engine;
    engine = null;
    await closing?.close();
  }

  return {
    async open(collections) {
      const mistakes = storeMistakes(collections);
      if (mistakes.length > 0) throw new DeclarationError(mistakes);
      await close();
      engine = await open(collections);
    },
    find: (collection, key) => opened().find(collection, key),
    findBy: (collection, column, value) => opened().findBy(collection, column, value),
    list: (query) => opened().list(query),
    listJSON: (query) => opened().listJSON(query),
    countWords: (collection, words, atMost) => opened().countWords?.(collection, words, atMost) ?? null,
    listRelated: (query) => opened().listRelated(query),
    count: (collection, where, long) => opened().count(collection, where, long),
    estimate: (collection) => opened().estimate?.(collection) ?? null,
    plan: (query) => opened().plan?.(query) ?? [],
    recall: (idempotency) => opened().recall(idempotency),
    async write(transaction) {
      requireChanges(transaction);
      return opened().write(transaction);
    },
    async follow(collection, onRow) {
      return opened().follow(collection, onRow);
    },
    async check() {
      await opened().check();
    },
    close,
  };
}
