import { wordsOf } from "../words/words.ts";
import { Flaw } from "./kinds/field.ts";
import type { Resource } from "./resource.ts";

/** How long the text of a search may be, in UTF-16 code units, and how many words it may have. */
export const MAX_LENGTH = 1000;
export const MAX_WORDS = 20;

/** Reads the text of a search: what words of a record have to begin with; none where nothing was asked for. */
export function readSearch({ search }: Resource, text: string | undefined): readonly string[] | Flaw {
  if (text === undefined) return [];
  if (search.length === 0) return new Flaw("unknown_parameter", "There is no such parameter.");
  if (text.length > MAX_LENGTH) return new Flaw("too_long", `At most ${MAX_LENGTH} characters are allowed.`);
  const words = wordsOf(text);
  if (words.length === 0) return new Flaw("invalid", "A word is required: letters or digits.");
  if (words.length > MAX_WORDS) return new Flaw("too_many", `At most ${MAX_WORDS} words are allowed.`);
  // What another one begins with is found with that.
  return words.filter((word) => !words.some((other) => other !== word && other.startsWith(word))).toSorted();
}
