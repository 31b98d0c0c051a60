import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import type { OwnAnswer } from "./own-service.ts";

const root = path.join(import.meta.dirname, "../..");

/** Returns the words of a text, in lower case. */
export function splitWords(said: string): readonly string[] {
  return (
    said
      .replaceAll(/%[0-9A-F]{2}/g, " ")
      .toLowerCase()
      .match(/\p{L}+|\p{N}+/gu) ?? []
  );
}

/** Returns the words that pages show to every reader: those of their source and of the declarations. */
export function wordsOfOurs(declared: readonly unknown[], more: string): ReadonlySet<string> {
  const sources = globSync(
    ["src/features/console/**/*.ts", "src/core/html/page.ts", "src/core/problem/{catalogue,server-problems}.ts"],
    { cwd: root },
  );
  const said = sources.map((file) => readFileSync(path.join(root, file), "utf8"));
  return new Set([...said, JSON.stringify(declared), more].flatMap(splitWords));
}

/** Returns all unknown words of a page, from its texts and its attributes. */
export function strangeIn(answer: OwnAnswer, knownWords: ReadonlySet<string>): readonly string[] {
  // The key of a form is random.
  const plain = answer.text.replaceAll(/name="_key" value="[^"]*"/g, "").replaceAll(/&(?:#39|[a-z]+);/g, " ");
  const said = splitWords(plain.replaceAll(/<\/?[a-z0-9]+|[a-zA-Z0-9-]+=/g, " "));
  // Ignores numbers of rows, and the first letter of a name.
  const strange = said.filter((each) => !knownWords.has(each) && !/^(?:\d{1,2}|\p{L})$/u.test(each));
  return strange.filter((each) => !isOfAssets(each, answer));
}

/**
 * Returns true if a word is in the name of a style sheet or a script. These names are computed from the contents.
 */
function isOfAssets(said: string, { text: page }: OwnAnswer): boolean {
  const names = [...page.matchAll(/\/console\/[a-z]+\.([0-9a-f]+)\./g)].map(([, name = ""]) => name);
  return names.some((name) => name.includes(said));
}
