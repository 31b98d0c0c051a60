import { DeclarationError } from "../../checking/declaration-error.ts";
import { requireChanges, storeMistakes } from "../checking.ts";
import { serveAs } from "../served.ts";
import type { Change, Collection, Store, Where } from "../store.ts";
import { prefixing, withoutPrefix } from "./prefixing.ts";

/** A store that is open. `settled`: the collections that are kept in tables which were there before, as these were found, by name. */
export interface Engine extends Omit<Store, "open"> {
  readonly settled: ReadonlyMap<string, Collection>;
}

/** The collections with those among them that were settled. */
export function settledIn(collections: readonly Collection[], settled: Engine["settled"]): readonly Collection[] {
  return collections.map((each) => settled.get(each.name) ?? each);
}

/**
 * The store over what `open` makes of a database; `notOpen` says that it has not been, or not any more. `prefix`: what the names of its own
 * tables begin with, which nobody above this knows of.
 */
export function storeOver(
  open: (collections: readonly Collection[]) => Promise<Engine>,
  notOpen: () => Error,
  prefix = "",
): Store {
  const names = prefixing(prefix);
  let engine: Engine | null = null;

  function opened(): Engine {
    if (engine === null) throw notOpen();
    return engine;
  }

  /** A table that was there before is asked for as it was found. */
  function known(collection: Collection): Collection {
    if (collection.existing === undefined) return names.collection(collection);
    return opened().settled.get(collection.name) ?? collection;
  }

  /** Such a query is another object each time, so that nothing remembers its page: others write to its table. */
  function asked<Q extends { readonly collection: Collection; readonly where: Where | null }>(query: Q): Q {
    const { collection } = query;
    return collection.existing === undefined ? names.query(query) : { ...query, collection: known(collection) };
  }

  function changed(change: Change): Change {
    const { collection } = change;
    return collection.existing === undefined ? names.change(change) : { ...change, collection: known(collection) };
  }

  async function close(): Promise<void> {
    const closing = engine;
    engine = null;
    await closing?.close();
  }

  return {
    async open(given) {
      const mistakes = storeMistakes(given);
      if (mistakes.length > 0) throw new DeclarationError(mistakes);
      await close();
      const collections = given.map(names.collection);
      engine = await open(collections);
      for (const collection of collections) {
        const settled = engine.settled.get(collection.name);
        if (settled !== undefined) serveAs(collection, settled);
      }
    },
    find: (collection, key) => opened().find(known(collection), key),
    findBy: (collection, column, value) => opened().findBy(known(collection), column, value),
    list: (query) => opened().list(asked(query)),
    listJSON: (query) => opened().listJSON(asked(query)),
    countWords: (collection, words, atMost) => opened().countWords?.(known(collection), words, atMost) ?? null,
    listRelated: (query) => opened().listRelated(asked(query)),
    count: (collection, where, long) =>
      opened().count(known(collection), where === null ? null : names.where(where), long),
    estimate: (collection) => opened().estimate?.(known(collection)) ?? null,
    plan: (query) => opened().plan?.(asked(query)) ?? [],
    recall: (idempotency) => opened().recall(idempotency),
    async write(transaction) {
      requireChanges(transaction);
      const { changes } = transaction;
      if (prefix === "" && changes.every(({ collection }) => collection.existing === undefined))
        return opened().write(transaction);
      const outcome = await opened().write({ ...transaction, changes: changes.map(changed) });
      return outcome.kind === "referenced"
        ? { ...outcome, collection: withoutPrefix(outcome.collection, prefix) }
        : outcome;
    },
    async follow(collection, onRow) {
      if (collection.existing !== undefined)
        throw new TypeError(`Collection ${collection.name} is kept in a table of others, who add to it in any order`);
      return opened().follow(known(collection), onRow);
    },
    async check() {
      await opened().check();
    },
    close,
  };
}
