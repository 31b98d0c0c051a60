import { after, type Eventually } from "../../../eventually.ts";
import { problem } from "../../../problem/problem.ts";
import { isServed } from "../../../store/served.ts";
import type { ListQuery, Where } from "../../../store/store.ts";
import type { Exchange } from "../../exchange.ts";
import { allOf } from "./conditions.ts";

/** Rows that are found by a word and then put in order: more of them are read in their order, and each is looked at. */
const FEW = 1000;

/** The query, of what has these words alone. Ends the request while their index is being built (503). */
export function searched(exchange: Exchange, query: ListQuery, words: readonly string[]): Eventually<ListQuery> {
  if (words.length === 0) return query;
  const { store } = exchange.service;
  const counts = store.countWords === undefined ? [] : store.countWords(query.collection, words, FEW);
  return after(counts, (found) => {
    if (found === null) throw problem("unavailable", { detail: BUILDING, headers: [["Retry-After", "10"]] });
    const conditions = words.map((word): Where => ({ word }));
    const rarest = found.indexOf(Math.min(...found));
    // One is enough: of the few rows that have it each is looked at for the others.
    if (found[rarest]! <= FEW) conditions[rarest] = { word: words[rarest]!, few: true };
    const where = allOf(query.where === null ? conditions : [query.where, ...conditions]);
    const narrowed = { ...query, where, repeated: false };
    return { ...narrowed, long: !isServed(narrowed) };
  });
}

const BUILDING = "The index of the words is being built. Try again soon.";
