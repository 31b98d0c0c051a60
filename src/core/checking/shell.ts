/** Returns a text quoted as one word of a shell, with any content. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
