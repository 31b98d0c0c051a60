/**
 * Parses `Idempotency-Key`: 8 to 255 visible ASCII characters. Ignores quotes around the key. Returns null for any
 * other text.
 */
export function parseIdempotencyKey(header: string): string | null {
  const text = header.trim();
  const key = text.startsWith('"') ? unquote(text) : text;
  return key !== null && KEY.test(key) ? key : null;
}

const KEY = /^[\x21-\x7e]{8,255}$/;
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

/** Returns the content of a quoted string (RFC 8941 §3.3.3). Returns null if the syntax is wrong. */
function unquote(text: string): string | null {
  const inner = QUOTED.exec(text)?.[1];
  return inner === undefined ? null : inner.replace(/\\(.)/g, "$1");
}
