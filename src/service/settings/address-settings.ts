import { basePath, baseURL, issuerName, right, shown, wrong, type Parsed } from "./values.ts";

/** The settings of the address and the names that clients see: a part of the table of settings. */
export const addressSettings = {
  publicURL: {
    name: "LATCHKEY_PUBLIC_URL",
    default: null,
    otherwise: "from the request if the peer is trusted, otherwise host and port",
    parse: baseURL,
    meaning:
      "The address at which clients reach the service. The cross-site check accepts its origin, and the default issuer is this address. Links in answers are relative.",
  },
  issuer: {
    name: "LATCHKEY_ISSUER",
    default: null,
    otherwise: "`LATCHKEY_PUBLIC_URL` when set, else `latchkey`",
    parse: issuerName,
    meaning: "`iss` and `aud` of tokens; the same for all processes on one store.",
  },
  basePath: {
    name: "LATCHKEY_BASE_PATH",
    default: "/",
    parse: basePath,
    meaning: "`/api/v1`: the path below which everything is served, including links and documents.",
  },
  cookiePrefix: {
    name: "LATCHKEY_COOKIE_PREFIX",
    default: null,
    parse: cookiePrefix,
    meaning:
      "Prefix of every cookie name, for several services on one host: with `shop-` the session is `shop-session`, over TLS `__Host-shop-session`.",
  },
} as const;

/**
 * Parses the prefix of cookie names (RFC 6265 §4.1.1). Over TLS, each name gets `__Host-` or `__Secure-` before this
 * prefix.
 */
function cookiePrefix(text: string): Parsed<string> {
  return /^[A-Za-z0-9][\w.-]{0,39}$/.test(text)
    ? right(text)
    : wrong(`is ${shown(text)}. Write up to 40 letters, digits and _.- with a letter or digit in front, like shop-.`);
}
