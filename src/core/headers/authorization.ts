import { isTokenValid } from "content-type";

/** The content of an `Authorization` header field. */
export interface Authorization {
  /** In lower case, because scheme names are case-insensitive (RFC 9110 §11.1). */
  readonly scheme: string;
  /** The text after the scheme. Empty if there is none. */
  readonly credentials: string;
}

/**
 * Parses an `Authorization` header field. Returns null if it names no scheme. Returns `"two"` for two fields that an
 * intermediary has joined with a comma, because no supported credential contains a comma.
 */
export function parseAuthorization(header: string): Authorization | "two" | null {
  const text = header.trim();
  const space = text.search(/[ \t]/);
  const scheme = space === -1 ? text : text.slice(0, space);
  if (!isTokenValid(scheme)) return null;
  const credentials = space === -1 ? "" : text.slice(space + 1).trimStart();
  if (credentials.includes(",") && !isParameterList(credentials)) return "two";
  return { scheme: scheme.toLowerCase(), credentials };
}

// Digest and similar schemes separate parameters by commas (RFC 9110 §11.4). Such a field is not supported, but it
// counts as one field.
function isParameterList(credentials: string): boolean {
  return credentials.split(",").every((part) => PARAMETER.test(part));
}

const PARAMETER = /^[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*=[ \t]*[^ \t=]/;
