import { after, type Eventually } from "../../../core/eventually.ts";
import { problem } from "../../../core/problem/problem.ts";
import { isSearched } from "../../../store/searched.ts";
import { isServed } from "../../../store/served.ts";
import type { Collection, ListQuery, Store, Where, WordCounts } from "../../../store/store.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { combineAll } from "./conditions.ts";

/**
 * If at most this number of rows have a word, the index finds these rows, and they are sorted afterwards. For a more
 * frequent word, all rows are read in order and checked.
 */
const FEW = 2000;

/** The condition that a row has a word. */
export type WordCondition = Extract<Where, { readonly word: string }>;

/** Returns the query for the rows with these words. Ends the request while their index is being built (503). */
export function addSearch(
  exchange: Exchange,
  mount: ServedMount,
  query: ListQuery,
  words: readonly string[],
): Eventually<ListQuery> {
  if (words.length === 0) return query;
  const columns = findSearchedColumns(mount);
  return after(buildConditions(exchange.service.store, query.collection, words), (conditions) => {
    if (conditions === null) throw problem("unavailable", { detail: BUILDING, headers: [["Retry-After", "10"]] });
    const within = columns === null ? conditions : conditions.map((each) => ({ ...each, columns }));
    const where = combineAll([query.where, ...within]);
    const narrowed = { ...query, where, repeated: false };
    return { ...narrowed, long: !isServed(narrowed) };
  });
}

/**
 * Returns the columns in which this caller may search. Null if they are all. The index of words does not know the
 * column of a word, so the rows that it finds are checked.
 */
function findSearchedColumns({ resource: { search }, collection, older }: ServedMount): readonly string[] | null {
  if (search.length === collection.columns.filter(isSearched).length) return null;
  return search.map((name) => older?.members.get(name)?.from ?? name);
}

/** Returns the conditions for rows with all of these words. Returns null while their index is being built. */
export function buildConditions(
  store: Store,
  collection: Collection,
  words: readonly string[],
): Eventually<readonly WordCondition[] | null> {
  const counts = store.countWords === undefined ? UNKNOWN : store.countWords(collection, words, FEW);
  return after(counts, (found) => {
    if (found === null) return null;
    const conditions = words.map((word): WordCondition => ({ word }));
    const rarest = found.rows.indexOf(Math.min(...found.rows));
    if (found.rows.length === 0 || found.rows[rarest]! > FEW) return conditions;
    // The index is used for the rarest word only. The rows with that word are checked for the other words. Rows that
    // are not indexed yet, for example after an import, are checked too. `waiting` says that there are too many of
    // these rows for the event loop.
    const word: WordCondition = { word: words[rarest]!, few: true };
    conditions[rarest] = found.rows[rarest]! + found.waiting <= FEW ? word : { ...word, waiting: true };
    return conditions;
  });
}

const UNKNOWN: WordCounts = { rows: [], waiting: 0 };

const BUILDING = "The index of the words is being built. Try again soon.";
