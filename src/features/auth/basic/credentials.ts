/** The content of a Basic credential. */
export interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses `user-id:password` in Base64 (RFC 7617 §2). Returns null for any other form. The text must be UTF-8 without
 * control characters.
 */
export function parseBasicCredentials(credential: string): BasicCredentials | null {
  const text = decode(credential);
  if (text === null || /[\u0000-\u001f\u007f-\u009f]/.test(text)) return null;
  const colon = text.indexOf(":");
  return colon === -1 ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Decodes Base64. Accepts only the canonical form: with padding, without spaces, and with unused bits that are zero.
 */
function decode(credential: string): string | null {
  const bytes = Buffer.from(credential, "base64");
  if (bytes.toString("base64") !== credential) return null;
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return null;
  }
}
