/** Removes the white space that HTTP allows around values, and nothing else (RFC 9110 §5.6.3). */
export function trimOWS(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isOWS(text.charCodeAt(start))) start++;
  while (end > start && isOWS(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isOWS(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Splits a text at the separators that are outside of quoted strings (RFC 9110 §5.6.4). */
export function splitOutsideQuotes(text: string, separator: "," | ";"): string[] {
  const parts: string[] = [];
  let start = 0;
  let inQuotes = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inQuotes && character === "\\") at++;
    else if (character === '"') inQuotes = !inQuotes;
    else if (character === separator && !inQuotes) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}
