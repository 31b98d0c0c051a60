import type { Collection, Column } from "./store.ts";

/** The longest time that a start spends on indexing words, in milliseconds. The rest is done in the background. */
export const firstIndexingMs = 1000;

/** True if the words of a column are indexed. */
export function isSearched({ searched }: Column): boolean {
  return searched === true;
}

/** Returns the collections with searched columns. */
export function pickSearched(collections: readonly Collection[]): readonly Collection[] {
  return collections.filter(({ columns }) => columns.some(isSearched));
}
