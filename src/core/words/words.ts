/** Of a word only so many characters (code points) are looked at: a database keeps no longer keys. */
const MAX_WORD_LENGTH = 500;

const marks = /\p{M}+/gu;
const words = /[\p{L}\p{N}]+/gu;
const plainWords = /[a-z0-9]+/g;
const plain = /^[ -~]*$/;

/**
 * The words of a text, each once: runs of letters and digits, without regard to case (Unicode's full mapping: `ß` is `ss`, `ς` is
 * `σ`) and marks (`é` is `e`), composed (NFC).
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
  // Marks go first: sorting thousands of them on one letter takes normalization seconds.
  const bare = text.replace(marks, "").normalize("NFD").replace(marks, "");
  // The capital ẞ has no other capital, so it is made small before.
  return bare.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFC");
}

function cut(word: string): string {
  return word.length <= MAX_WORD_LENGTH ? word : [...word].slice(0, MAX_WORD_LENGTH).join("");
}
