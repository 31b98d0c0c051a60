import { composed } from "../crypto/composed.ts";

/**
 * The maximum number of characters (code points) of a word. The rest is ignored, because databases limit the length of
 * keys.
 */
const MAX_WORD_LENGTH = 500;

/** Increase this number if `splitWords` returns other words for a text. Stores then index their words again. */
export const WORDS_VERSION = 3;

/**
 * Matches all marks. In scripts other than Latin, Greek and Cyrillic, a mark makes a different word (が, हि). So the
 * pattern captures letters of these scripts with their marks, up to the joiner that `composed` inserts after thirty
 * marks.
 */
const accents = /((?:[\p{L}--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]][\p{M}--\u034f]*)+)|\p{M}+/gv;
/**
 * Matches characters that select a form of another character, or that separate marks, and the points of Hebrew and
 * Arabic, which most texts leave out. The hamza and the madda (U+0653 to U+0655) make another letter.
 */
const ignored =
  /[\p{Variation_Selector}\u034f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08ca-\u08e1\u08e3-\u08ff]+/gv;
const words = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const plainWords = /[a-z0-9]+/g;
const plain = /^[ -~]*$/;

/**
 * Returns the words of a text, each once: sequences of letters and digits, without regard to case (Unicode's full
 * mapping: `ß` is `ss`, `ς` is `σ`), accents of Latin, Greek and Cyrillic (`é` is `e`) and points of Hebrew and Arabic,
 * composed (NFC).
 */
export function splitWords(text: string): readonly string[] {
  const found = plain.test(text) ? text.toLowerCase().match(plainWords) : foldWords(text).match(words);
  if (found === null) return [];
  return [...new Set(found.map(cut))];
}

function foldWords(text: string): string {
  // Accents are removed first. Otherwise normalization would take seconds to sort thousands of them on one letter.
  const bare = withoutAccents(composed(withoutAccents(text.replace(ignored, ""))).normalize("NFD")).replace(
    ignored,
    "",
  );
  // The capital ẞ becomes SS only after it was converted to lower case.
  return composed(bare.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ"));
}

function withoutAccents(text: string): string {
  return text.replace(accents, "$1");
}

function cut(word: string): string {
  return word.length <= MAX_WORD_LENGTH ? word : [...word].slice(0, MAX_WORD_LENGTH).join("");
}
