import { anObject, isText, shown } from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import type { Change, Collection, Where } from "../store.ts";

/**
 * Translates the calls of a store. Adds the prefix to the names of tables. Replaces each collection over an existing
 * table by the form of the table that was found at startup.
 */
export interface Prefixing {
  collection(collection: Collection): Collection;
  /** Translates a query. Returns the same object for the same query, so that its page can be cached. */
  query<Q extends { readonly collection: Collection; readonly where: Where | null }>(query: Q): Q;
  where(where: Where): Where;
  change(change: Change): Change;
}

/**
 * Returns a collection with the prefix in its name and in all its references. A collection over an existing table keeps
 * its name.
 */
export function prefixed(collection: Collection, prefix: string): Collection {
  requireArguments("prefixed", arguments, { collection: anObject, prefix: aTablePrefix });
  if (prefix === "" || collection.existing !== undefined) return collection;
  return renamed(collection, (name) => prefix + name);
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

  function collection(declared: Collection): Collection {
    if (declared.existing !== undefined) return find(declared) ?? declared;
    if (prefix === "") return declared;
    let named = prefixedCollections.get(declared);
    if (named === undefined) prefixedCollections.set(declared, (named = prefixed(declared, prefix)));
    return named;
  }

  function where(condition: Where): Where {
    if (prefix === "") return condition;
    if ("all" in condition) return { all: condition.all.map(where) };
    if ("any" in condition) return { any: condition.any.map(where) };
    if ("not" in condition) return { not: where(condition.not) };
    return "link" in condition ? { ...condition, link: collection(condition.link) } : condition;
  }

  return {
    collection,
    where,
    query<Q extends { readonly collection: Collection; readonly where: Where | null; readonly repeated?: boolean }>(
      query: Q,
    ): Q {
      // A query of an existing table is a new object each time, so its page is never cached: other programs write to
      // the table.
      const isOurs = query.collection.existing === undefined;
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
    change(change) {
      const named = { ...change, collection: collection(change.collection) };
      return "where" in named ? { ...named, where: where(named.where) } : named;
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
