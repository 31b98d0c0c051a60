import { aList, anObject, isText, optional, shown } from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import { listCollections, replaceCollections } from "../inner-collections.ts";
import type { Change, Collection, Transaction, Where } from "../store.ts";

/**
 * Translates the calls of a store. Adds the prefix to the names of tables. Replaces each collection over an existing
 * table by the form of the table that was found at startup.
 */
export interface Prefixing {
  /** Translates the declarations of all collections. Called before anything else. */
  declare(collections: readonly Collection[]): readonly Collection[];
  collection(collection: Collection): Collection;
  /** Translates a query. Returns the same object for the same query, so that its page can be cached. */
  query<Q extends { readonly collection: Collection; readonly where: Where | null }>(query: Q): Q;
  where(where: Where): Where;
  transaction(transaction: Transaction): Transaction;
}

/**
 * Returns a collection with the prefix in its name and in all its references. A collection over an existing table keeps
 * its name. `all` has the collections that it may refer to, if some of them are over existing tables.
 */
export function prefixed(collection: Collection, prefix: string, all: readonly Collection[] = []): Collection {
  requireArguments("prefixed", arguments, { collection: anObject, prefix: aTablePrefix, all: optional(aList) });
  if (prefix === "") return collection;
  const existing = new Set([collection, ...all].filter((each) => each.existing !== undefined).map(({ name }) => name));
  return renamed(collection, (name) => (existing.has(name) ? name : prefix + name));
}

/** Removes the prefix from a collection. */
export function unprefixed(collection: Collection, prefix: string): Collection {
  requireArguments("unprefixed", arguments, { collection: anObject, prefix: aTablePrefix });
  return renamed(collection, (name) => withoutPrefix(name, prefix));
}

/** Returns the name of a table without the prefix. */
export function withoutPrefix(name: string, prefix: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

function renamed(collection: Collection, rename: (name: string) => string): Collection {
  const { links } = collection;
  const was = links?.was === undefined ? {} : { was: rename(links.was) };
  return {
    ...collection,
    name: rename(collection.name),
    columns: collection.columns.map((column) =>
      column.references === undefined
        ? column
        : { ...column, references: { ...column.references, collection: rename(column.references.collection) } },
    ),
    ...(links === undefined ? {} : { links: { ...links, collection: rename(links.collection), ...was } }),
  };
}

/**
 * Creates the translation for a prefix. `find` returns the form of a collection over an existing table that was found
 * at startup.
 */
export function prefixing(prefix: string, find: (collection: Collection) => Collection | undefined): Prefixing {
  const prefixedCollections = new WeakMap<Collection, Collection>();
  const repeated = new WeakMap<object, object>();
  let all: readonly Collection[] = [];

  function collection(declared: Collection): Collection {
    if (declared.existing !== undefined) return find(declared) ?? declared;
    if (prefix === "") return declared;
    let named = prefixedCollections.get(declared);
    if (named === undefined) prefixedCollections.set(declared, (named = prefixed(declared, prefix, all)));
    return named;
  }

  const where = (condition: Where): Where => replaceCollections(condition, collection);

  function change(given: Change): Change {
    const named = collection(given.collection);
    if ("where" in given) {
      const narrowed = where(given.where);
      const isSame = named === given.collection && narrowed === given.where;
      return isSame ? given : { ...given, collection: named, where: narrowed };
    }
    return named === given.collection ? given : { ...given, collection: named };
  }

  return {
    declare(collections) {
      all = collections;
      return collections.map((each) => (each.existing === undefined ? collection(each) : prefixed(each, prefix, all)));
    },
    collection,
    where,
    query<Q extends { readonly collection: Collection; readonly where: Where | null; readonly repeated?: boolean }>(
      query: Q,
    ): Q {
      // A query of an existing table is a new object each time, so its page is never cached: other programs write to
      // the table.
      const isOurs = [query.collection, ...listCollections(query.where)].every(
        ({ existing }) => existing === undefined,
      );
      if (isOurs && prefix === "") return query;
      const found = repeated.get(query);
      if (found !== undefined) return found as Q;
      const named = {
        ...query,
        collection: collection(query.collection),
        where: query.where === null ? null : where(query.where),
      };
      if (isOurs && query.repeated === true) repeated.set(query, named);
      return named;
    },
    transaction(transaction) {
      const { changes, requires } = transaction;
      const named = { ...transaction, changes: changes.map(change) };
      if (requires === undefined) return named;
      return {
        ...named,
        requires: requires.map((each) => ({ collection: collection(each.collection), where: where(each.where) })),
      };
    },
  };
}

/**
 * The allowed prefixes. They are short, so that names of tables stay within the limits of the databases. Prefixes that
 * the store or a database uses are not allowed.
 */
const PREFIX = /^(?!latchkey_|sqlite_|pg_)[a-z][a-z0-9_]{0,18}_$/;

/** Returns the mistake in a table prefix, or null. */
export function aTablePrefix(value: unknown): string | null {
  return value === "" || (isText(value) && PREFIX.test(value))
    ? null
    : `it is ${shown(value)}; it has to be up to 20 lower-case letters, digits and underscores with an underscore at the end, like "lk_", and not a prefix of the store (latchkey_) or the database`;
}
