import { composed } from "../core/crypto/composed.ts";
import type { Column } from "./store.ts";

/** True if the store keeps a folded copy of the column. */
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
 * The two forms of a small sigma. The neighbors of a capital sigma decide which form it becomes, and a search term does
 * not have them:
 * `ΑΣ` alone becomes `ας`, but in `ΑΣΑ` it becomes `ασ`.
 */
export const sigmas = { atEnds: "ς", elsewhere: "σ" } as const;

/** Folds a part of a text and uses one form of sigma. The text that is searched needs the same treatment. */
export function foldPart(part: string): string {
  return fold(part).replaceAll(sigmas.atEnds, sigmas.elsewhere);
}
