import { anObject, isText, shown } from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import type { Change, Collection, Where } from "../store.ts";

/** What a store is asked, with the names that its tables have, and with those of others as they were found. */
export interface Prefixing {
  collection(collection: Collection): Collection;
  /** A query; the very same for the same, so that its page can be remembered. */
  query<Q extends { readonly collection: Collection; readonly where: Where | null }>(query: Q): Q;
  where(where: Where): Where;
  change(change: Change): Change;
}

/** A collection under a name that begins like this, and so all that it refers to. One over a table that was there before keeps its name. */
export function prefixed(collection: Collection, prefix: string): Collection {
  requireArguments("prefixed", arguments, { collection: anObject, prefix: aTablePrefix });
  if (prefix === "" || collection.existing !== undefined) return collection;
  return renamed(collection, (name) => prefix + name);
}

/** The way back. */
export function unprefixed(collection: Collection, prefix: string): Collection {
  requireArguments("unprefixed", arguments, { collection: anObject, prefix: aTablePrefix });
  return renamed(collection, (name) => withoutPrefix(name, prefix));
}

/** The name of a table without the prefix. */
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

/** Names as they are with a prefix; `find` gives a collection over a table of others as that was found. */
export function prefixing(prefix: string, find: (collection: Collection) => Collection | undefined): Prefixing {
  const known = new WeakMap<Collection, Collection>();
  const repeated = new WeakMap<object, object>();

  function collection(given: Collection): Collection {
    if (given.existing !== undefined) return find(given) ?? given;
    if (prefix === "") return given;
    let named = known.get(given);
    if (named === undefined) known.set(given, (named = prefixed(given, prefix)));
    return named;
  }

  function where(given: Where): Where {
    if (prefix === "") return given;
    if ("all" in given) return { all: given.all.map(where) };
    if ("any" in given) return { any: given.any.map(where) };
    if ("not" in given) return { not: where(given.not) };
    return "link" in given ? { ...given, link: collection(given.link) } : given;
  }

  return {
    collection,
    where,
    query<Q extends { readonly collection: Collection; readonly where: Where | null; readonly repeated?: boolean }>(
      given: Q,
    ): Q {
      // Nothing remembers a page of a table that others write to: its query is another object each time.
      const isOurs = given.collection.existing === undefined;
      if (isOurs && prefix === "") return given;
      const found = repeated.get(given);
      if (found !== undefined) return found as Q;
      const named = {
        ...given,
        collection: collection(given.collection),
        where: given.where === null ? null : where(given.where),
      };
      if (isOurs && given.repeated === true) repeated.set(given, named);
      return named;
    },
    change(given) {
      const named = { ...given, collection: collection(given.collection) };
      return "where" in named ? { ...named, where: where(named.where) } : named;
    },
  };
}

/** Short, so that names of tables stay within the limits of databases; and none that the store or a database has for itself. */
const PREFIX = /^(?!latchkey_|sqlite_|pg_)[a-z][a-z0-9_]{0,18}_$/;

/** What is wrong with a prefix of tables; null where nothing is. */
export function aTablePrefix(value: unknown): string | null {
  return value === "" || (isText(value) && PREFIX.test(value))
    ? null
    : `it is ${shown(value)}; it has to be up to 20 lower-case letters, digits and underscores with an underscore at the end, like "lk_", and not one that the store has for itself (latchkey_) or the database`;
}
