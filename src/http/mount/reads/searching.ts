import { after, type Eventually } from "../../../eventually.ts";
import { problem } from "../../../problem/problem.ts";
import { isServed } from "../../../store/served.ts";
import type { Collection, ListQuery, Store, Where } from "../../../store/store.ts";
import type { Exchange } from "../../exchange.ts";
import { allOf } from "./conditions.ts";

/** Rows that are found by a word and then put in order, 1000 and as many that are not in the index yet: more are read in their order, and each is looked at. */
const FEW = 2000;

/** That a row has a word. */
export type WordCondition = Extract<Where, { readonly word: string }>;

/** The query, of what has these words alone. Ends the request while their index is being built (503). */
export function searched(exchange: Exchange, query: ListQuery, words: readonly string[]): Eventually<ListQuery> {
  if (words.length === 0) return query;
  return after(conditionsOf(exchange.service.store, query.collection, words), (conditions) => {
    if (conditions === null) throw problem("unavailable", { detail: BUILDING, headers: [["Retry-After", "10"]] });
    const where = allOf(query.where === null ? conditions : [query.where, ...conditions]);
    const narrowed = { ...query, where, repeated: false };
    return { ...narrowed, long: !isServed(narrowed) };
  });
}

/** What a row with all of these words fulfils; null while their index is being built. */
export function conditionsOf(
  store: Store,
  collection: Collection,
  words: readonly string[],
): Eventually<readonly WordCondition[] | null> {
  const counts = store.countWords === undefined ? [] : store.countWords(collection, words, FEW);
  return after(counts, (found) => {
    if (found === null) return null;
    const conditions = words.map((word): WordCondition => ({ word }));
    const rarest = found.indexOf(Math.min(...found));
    // One is enough: of the few rows that have it each is looked at for the others.
    if (found[rarest]! <= FEW) conditions[rarest] = { word: words[rarest]!, few: true };
    return conditions;
  });
}

const BUILDING = "The index of the words is being built. Try again soon.";
