import { splitWords } from "../core/words/words.ts";
import type { Resource } from "./declaration/declaration.ts";
import { Flaw, type Field } from "./declaration/field.ts";

/** The maximum length of a search text, in UTF-16 code units. */
export const MAX_LENGTH = 1000;
export const MAX_WORDS = 20;
const MAX_SEARCHED_LENGTH = 10_000;

/** Returns the mistakes in a field whose words are searched. */
export function searchMistakes({ kind, options }: Field): string[] {
  const mistakes: string[] = [];
  if (options.writeOnly === true) mistakes.push("a search would reveal a field that is never shown; leave it out");
  if (kind.column.type !== "text" || kind.few === true)
    mistakes.push("only the words of a text can be searched; leave it out");
  else if (!(Number(kind.schema["maxLength"]) <= MAX_SEARCHED_LENGTH))
    mistakes.push(`an index stores each of its words; give it a maxLength of ${MAX_SEARCHED_LENGTH} or less`);
  return mistakes;
}

/**
 * Reads the text of a search. Returns the words to search for: a record matches if each of them is the beginning of a
 * word in the record. Returns an empty list if the request has no search.
 */
export function readSearch({ search }: Resource, text: string | undefined): readonly string[] | Flaw {
  if (text === undefined) return [];
  if (search.length === 0) return new Flaw("unknown_parameter", "There is no such parameter.");
  if (text.length > MAX_LENGTH) return new Flaw("too_long", `At most ${MAX_LENGTH} characters are allowed.`);
  const words = splitWords(text);
  if (words.length === 0) return new Flaw("invalid", "A word is required: letters or digits.");
  if (words.length > MAX_WORDS) return new Flaw("too_many", `At most ${MAX_WORDS} words are allowed.`);
  // Drops a word that is the beginning of another word, because every record that matches the longer word also matches
  // the shorter one.
  return words.filter((word) => !words.some((other) => other !== word && other.startsWith(word))).toSorted();
}
