/** What a name of a database is called in a declaration: lower-case words joined by underscores. */
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

/** One of many: `category` of `categories`. What is no plural stays as it is. */
export function singularOf(name: string): string {
  if (/(?:ss|us|is|news|series)$/.test(name)) return name;
  if (name.endsWith("ies")) return `${name.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|z)es$/.test(name)) return name.slice(0, -2);
  return name.endsWith("s") && name.length > 2 ? name.slice(0, -1) : name;
}

export function pluralOf(name: string): string {
  if (/(?:s|x|ch|sh|z)$/.test(name)) return `${name}es`;
  return /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
}

/** The name itself, or with a number behind it where it is taken. Takes it. */
export function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let at = 2; taken.has(free); at++) free = `${name}_${at}`;
  taken.add(free);
  return free;
}

/** A name as a constant of TypeScript is called: `orderLines`. */
export function constantFrom(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A member of an object, in quotes where it needs them. */
export function memberName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : textLiteral(name);
}

/** A text as it stands in a program. */
export function textLiteral(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** A text as it stands in a comment of one line. */
export function inComment(text: string): string {
  return text.replaceAll(/[\n\r\u2028\u2029]+/g, " ");
}
