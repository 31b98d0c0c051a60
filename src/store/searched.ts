import type { Collection, Column } from "./store.ts";

/** How long a start may take words into an index, in milliseconds; the rest is done beside all else. */
export const firstIndexingMs = 1000;

/** Whether a column has its words beside it. */
export function isSearched({ searched }: Column): boolean {
  return searched === true;
}

/** The collections with columns that are searched. */
export function searchedOf(collections: readonly Collection[]): readonly Collection[] {
  return collections.filter(({ columns }) => columns.some(isSearched));
}
