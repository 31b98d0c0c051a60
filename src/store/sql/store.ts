import { DeclarationError } from "../../core/checking/declaration-error.ts";
import { requireChanges, requireRequirements, storeMistakes } from "../checking.ts";
import { serveAs } from "../served.ts";
import type { Collection, Store } from "../store.ts";
import { readPageOnce, readRelatedOnce } from "./existing/reading-once.ts";
import { prefixing, withoutPrefix } from "./prefixing.ts";

/**
 * An open store. `settled` has the collections over existing tables, by name, in the form that was found at startup.
 */
export interface Engine extends Omit<Store, "open"> {
  readonly settled: ReadonlyMap<string, Collection>;
}

/**
 * Returns a store over the engine that `open` creates. `notOpen` creates the error for a closed store. `prefix` is
 * added to the names of its tables, and callers of the store do not see it.
 */
export function storeOver(
  open: (collections: readonly Collection[]) => Promise<Engine>,
  notOpen: () => Error,
  prefix = "",
): Store {
  let engine: Engine | null = null;
  const names = prefixing(prefix, ({ name }) => engine?.settled.get(name));

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
    async open(declared) {
      const mistakes = storeMistakes(declared);
      if (mistakes.length > 0) throw new DeclarationError(mistakes);
      await close();
      engine = await open(names.declare(declared));
      for (const collection of declared) {
        const settled = engine.settled.get(collection.name);
        if (settled !== undefined) serveAs(collection, settled);
      }
    },
    find: (collection, key) => opened().find(names.collection(collection), key),
    findBy: (collection, column, value) => opened().findBy(names.collection(collection), column, value),
    list: (query) => opened().list(names.query(query)),
    listJSON: (asked, beside) =>
      readPageOnce(names.query(asked), beside?.map(names.query), (query, also) => opened().listJSON(query, also)),
    countWords: (collection, words, atMost) =>
      opened().countWords?.(names.collection(collection), words, atMost) ?? null,
    listRelated: (asked) => readRelatedOnce(names.query(asked), (query) => opened().listRelated(query)),
    count: (collection, where, long) =>
      opened().count(names.collection(collection), where === null ? null : names.where(where), long),
    estimate: (collection) => opened().estimate?.(names.collection(collection)) ?? null,
    plan: (query) => opened().plan?.(names.query(query)) ?? [],
    recall: (idempotency) => opened().recall(idempotency),
    async write(transaction) {
      requireChanges(transaction);
      requireRequirements(transaction);
      const outcome = await opened().write(names.transaction(transaction));
      return outcome.kind === "referenced"
        ? { ...outcome, collection: withoutPrefix(outcome.collection, prefix) }
        : outcome;
    },
    async follow(collection, onRow) {
      if (collection.existing !== undefined)
        throw new TypeError(
          `Collection ${collection.name} is an existing table, where other programs add rows in any order`,
        );
      return opened().follow<unknown>(names.collection(collection), onRow);
    },
    async check() {
      await opened().check();
    },
    close,
  };
}
