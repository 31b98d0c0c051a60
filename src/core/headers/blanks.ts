/**
 * Returns a text without the spaces and tabs around it (OWS, RFC 9110 §5.6.3). `trim` would also remove other white space, which belongs to
 * the value.
 */
export function withoutBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text, from)) from++;
  while (to > from && isBlank(text, to - 1)) to--;
  return text.slice(from, to);
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x20 || code === 0x09;
}
