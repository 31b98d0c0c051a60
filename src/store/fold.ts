import { composed } from "../core/crypto/composed.ts";
import type { Column } from "./store.ts";

/** Whether a column has its folded value beside it. */
export function isFolded({ unique, folded }: Column): boolean {
  return unique === "folded" || folded === true;
}

/** Without regard to case, in all of Unicode: what a `folded` column is compared by. */
export function fold(text: string): string {
  return composed(text).toLowerCase();
}

/**
 * The two forms of a small sigma. Which one a capital becomes says what stands around it, and of what is looked for that is not known:
 * `ΑΣ` alone is `ας`, and in `ΑΣΑ` it is `ασ`.
 */
export const sigmas = { atEnds: "ς", elsewhere: "σ" } as const;

/** A folded part of a text, with one form of sigma; what it is looked for in needs the same. */
export function foldPart(part: string): string {
  return fold(part).replaceAll(sigmas.atEnds, sigmas.elsewhere);
}
