import { composed } from "../crypto/composed.ts";

/** Of a word only so many characters (code points) are looked at: a database keeps no longer keys. */
const MAX_WORD_LENGTH = 500;

/** Raise it when `wordsOf` gives other words for a text: stores then make the words anew that they keep. */
export const WORDS_VERSION = 2;

/**
 * All marks but those of letters of other scripts than Latin, Greek and Cyrillic, where they make another word (が, हि): such letters are captured
 * with theirs, up to the joiner that `composed` puts behind thirty of them.
 */
const accents = /((?:[\p{L}--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]][\p{M}--\u034f]*)+)|\p{M}+/gv;
/** They choose between forms of one character, or part marks. */
const selectors = /[\p{Variation_Selector}\u034f]+/gv;
const words = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const plainWords = /[a-z0-9]+/g;
const plain = /^[ -~]*$/;

/**
 * The words of a text, each once: runs of letters and digits, without regard to case (Unicode's full mapping: `ß` is `ss`, `ς` is
 * `σ`) and accents of Latin, Greek and Cyrillic (`é` is `e`), composed (NFC).
 */
export function wordsOf(text: string): readonly string[] {
  const found = plain.test(text) ? text.toLowerCase().match(plainWords) : foldWords(text).match(words);
  if (found === null) return [];
  return [...new Set(found.map(cut))];
}

/** Whether one of the words begins like this. */
export function beginsOneOf(text: string, beginning: string): boolean {
  return wordsOf(text).some((word) => word.startsWith(beginning));
}

function foldWords(text: string): string {
  // Accents go first: sorting thousands of them on one letter takes normalization seconds.
  const bare = withoutAccents(composed(withoutAccents(text.replace(selectors, ""))).normalize("NFD"));
  // The capital ẞ has no other capital, so it is made small before.
  return composed(bare.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ"));
}

function withoutAccents(text: string): string {
  return text.replace(accents, "$1");
}

function cut(word: string): string {
  return word.length <= MAX_WORD_LENGTH ? word : [...word].slice(0, MAX_WORD_LENGTH).join("");
}
