/** Returns a text that may be a URL, without its user, password and parameters. */
export function withoutCredentials(text: string): string {
  const start = text.indexOf("://") + 3;
  if (start < 3) return text;
  const at = text.lastIndexOf("@");
  const rest = at < start ? text.slice(start) : `…${text.slice(at)}`;
  const end = rest.search(/[?#]/);
  return text.slice(0, start) + (end === -1 ? rest : `${rest.slice(0, end)}…`);
}

/** Applies `withoutCredentials` to each URL in a sentence. */
export function sentenceWithoutCredentials(sentence: string): string {
  return sentence.includes("://") ? sentence.split(/(\s)/).map(withoutCredentials).join("") : sentence;
}
