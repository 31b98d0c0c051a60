/** Converts a name of a database to a name in a declaration: lower-case words joined by underscores. */
export function nameFrom(raw: string): string {
  const words = raw
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll("ß", "ss")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  if (words === "") return "unnamed";
  return /^[0-9]/.test(words) ? `n_${words}` : words;
}

/** Returns the singular: `category` for `categories`. Returns a name that is not a plural unchanged. */
export function toSingular(name: string): string {
  if (/(?:ss|us|is|news|series)$/.test(name)) return name;
  if (name.endsWith("ies")) return `${name.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|z)es$/.test(name)) return name.slice(0, -2);
  return name.endsWith("s") && name.length > 2 ? name.slice(0, -1) : name;
}

export function toPlural(name: string): string {
  if (/(?:s|x|ch|sh|z)$/.test(name)) return `${name}es`;
  return /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
}

/** Returns the name, with a number if it is taken, and adds it to the taken names. */
export function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let at = 2; taken.has(free); at++) free = `${name}_${at}`;
  taken.add(free);
  return free;
}

/** Converts a name to a TypeScript constant: `orderLines`. */
export function constantFrom(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Formats the name of an object member, in quotes if necessary. */
export function memberName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : textLiteral(name);
}

/** Formats a text as a literal in a program. */
export function textLiteral(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** Formats a text for a comment of one line. */
export function inComment(text: string): string {
  return text.replaceAll(/[\n\r\u2028\u2029]+/g, " ");
}
