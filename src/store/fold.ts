import { composed } from "../core/crypto/composed.ts";
import type { Column } from "./store.ts";

/** True if the store has a second, folded copy of the column. */
export function isFolded({ unique, folded }: Column): boolean {
  return unique === "folded" || folded === true;
}

/**
 * Folds a text to lower case. Unique columns are compared by this value, and stored values are never folded again. It
 * keeps some letters apart that differ only in case (`letterForms`).
 */
export function fold(text: string): string {
  return composed(text).toLowerCase();
}

/**
 * The letters that differ from another small letter only in case: both have the same capital. CaseFolding.txt of
 * Unicode folds them (status C and S), but lower case does not. It folds Cherokee to capitals, which makes no
 * difference to a comparison.
 */
export const letterForms: ReadonlyMap<string, string> = new Map(
  "ſs ςσ µμ ϐβ ϑθ ϕφ ϖπ ϰκ ϱρ ϵε ẛṡ ᲀв ᲁд ᲂо ᲃс ᲄт ᲅт ᲆъ ᲇѣ ᲈꙋ ﬅﬆ \u0345ι"
    .split(" ")
    .map((pair) => [pair[0]!, pair[1]!]),
);
const OTHER_FORM = new RegExp(`[${[...letterForms.keys()].join("")}]`, "gu");

/** Folds a text for comparison without regard to case, in all of Unicode, like the simple case folding of Unicode. */
export function caseFold(text: string): string {
  const lower = fold(text);
  const folded = lower.replace(OTHER_FORM, (letter) => letterForms.get(letter)!);
  return folded === lower ? lower : composed(folded);
}

const ASCII_FORMS = [...letterForms.values()].filter((letter) => letter < "\u0080");
const MAY_BE_FORMS = new RegExp(`[^\\0-\\x7f]|[${ASCII_FORMS.join("")}]`, "i");

/**
 * True if lower case and `caseFold` make the same texts equal to this one. True for ASCII without the letters that
 * `letterForms` makes: only `s`, which `ſ` folds to.
 */
export function isAlikeInFoldings(text: string): boolean {
  return !MAY_BE_FORMS.test(text);
}

/** Folds a text in the form that the folded copy of this column has. */
export function foldFor({ unique }: Pick<Column, "unique">, text: string): string {
  return unique === "folded" ? fold(text) : caseFold(text);
}

/**
 * The two forms of a small sigma. A capital sigma becomes one of these two, depending on the letters beside it. In a
 * search term, other letters can be beside it than in the text: `ΑΣ` alone becomes `ας`, but in `ΑΣΑ` it becomes `ασ`.
 */
export const sigmas = { atEnds: "ς", elsewhere: "σ" } as const;

/**
 * Folds a search term for this column, and uses only one form of sigma. The searched text must be folded in the same
 * way.
 */
export function foldPart(column: Pick<Column, "unique">, part: string): string {
  return foldFor(column, part).replaceAll(sigmas.atEnds, sigmas.elsewhere);
}
