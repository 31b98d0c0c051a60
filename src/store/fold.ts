import { composed } from "../core/crypto/composed.ts";
import type { Column } from "./store.ts";

/** True if the store has a second, folded copy of the column. */
export function isFolded({ unique, folded }: Column): boolean {
  return unique === "folded" || folded === true;
}

/**
 * Folds a text for comparison without regard to case, in all of Unicode. `folded` columns are compared by this value.
 */
export function fold(text: string): string {
  return composed(text).toLowerCase();
}

/**
 * The two forms of a small sigma. A capital sigma becomes one of these two, depending on the letters beside it. In a search term, other
 * letters can be beside it than in the text: `ΑΣ` alone becomes `ας`, but in `ΑΣΑ` it becomes `ασ`.
 */
export const sigmas = { atEnds: "ς", elsewhere: "σ" } as const;

/** Folds a search term, and uses only one form of sigma. The searched text must be folded in the same way. */
export function foldPart(part: string): string {
  return fold(part).replaceAll(sigmas.atEnds, sigmas.elsewhere);
}
