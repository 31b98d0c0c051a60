import { isTokenValid } from "content-type";

/** What an `Authorization` header carries. */
export interface Authorization {
  /** In lower case: the name is case-insensitive (RFC 9110 §11.1). */
  readonly scheme: string;
  /** What follows the scheme; empty where nothing does. */
  readonly credentials: string;
}

/**
 * Takes an `Authorization` header apart; null where it names no scheme. `"two"`: two headers that something on the way has joined
 * with a comma, for no credential that is read here has one.
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

// Digest and its like separate parameters by commas (RFC 9110 §11.4). They are no schemes of ours and not two either.
function isParameterList(credentials: string): boolean {
  return credentials.split(",").every((part) => PARAMETER.test(part));
}

const PARAMETER = /^[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*=[ \t]*[^ \t=]/;
