import { after, type Eventually } from "../../../core/eventually.ts";
import { problem } from "../../../core/problem/problem.ts";
import { isServed } from "../../../store/served.ts";
import type { Collection, ListQuery, Store, Where, WordCounts } from "../../../store/store.ts";
import type { Exchange } from "../../exchange.ts";
import { allOf } from "./conditions.ts";

/** Rows that are found by a word, or wait for the index, and then put in order. Of a word that more have all are read in their order, and looked at. */
const FEW = 2000;

/** That a row has a word. */
export type WordCondition = Extract<Where, { readonly word: string }>;

/** The query, of what has these words alone. Ends the request while their index is being built (503). */
export function searched(exchange: Exchange, query: ListQuery, words: readonly string[]): Eventually<ListQuery> {
  if (words.length === 0) return query;
  return after(conditionsOf(exchange.service.store, query.collection, words), (conditions) => {
    if (conditions === null) throw problem("unavailable", { detail: BUILDING, headers: [["Retry-After", "10"]] });
    const where = allOf([query.where, ...conditions]);
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
  const counts = store.countWords === undefined ? UNKNOWN : store.countWords(collection, words, FEW);
  return after(counts, (found) => {
    if (found === null) return null;
    const conditions = words.map((word): WordCondition => ({ word }));
    const rarest = found.rows.indexOf(Math.min(...found.rows));
    if (found.rows.length === 0 || found.rows[rarest]! > FEW) return conditions;
    // One is enough: of the few rows that have it each is looked at for the others. So is what a file has just brought in, which is
    // not for the event loop, but mostly less than the list.
    const word: WordCondition = { word: words[rarest]!, few: true };
    conditions[rarest] = found.rows[rarest]! + found.waiting <= FEW ? word : { ...word, waiting: true };
    return conditions;
  });
}

const UNKNOWN: WordCounts = { rows: [], waiting: 0 };

const BUILDING = "The index of the words is being built. Try again soon.";
