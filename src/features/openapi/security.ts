import { requireDecision } from "../../access/permission/decision.ts";
import type { Carrier, Scheme } from "../../access/scheme/scheme.ts";
import type { ServedEndpoint } from "../../http/declarations/endpoint.ts";
import { collectParameters } from "../../http/declarations/parameters.ts";
import type { JSONObject } from "./json.ts";

/**
 * Returns the security schemes by name. Leaves out credentials that only a proxy may send, because clients cannot send
 * them.
 */
export function securitySchemes(
  schemes: readonly Scheme[],
  isEncrypted: boolean,
): Readonly<Record<string, JSONObject>> {
  const named = schemes.flatMap(({ name, carriers }) =>
    carriers
      .filter((carrier) => carrier.in !== "proxy")
      .map((carrier, at) => [at === 0 ? name : `${name}-${carrier.in}`, buildScheme(carrier, isEncrypted)] as const),
  );
  return Object.fromEntries(named);
}

function buildScheme(carrier: Carrier, isEncrypted: boolean): JSONObject {
  switch (carrier.in) {
    case "authorization":
      return authorizationScheme(carrier.scheme.toLowerCase());
    case "header":
    case "proxy":
      return {
        type: "apiKey",
        in: "header",
        name: carrier.name,
        description: `The token in the header \`${carrier.name}\`.`,
      };
    case "query":
      return {
        type: "apiKey",
        in: "query",
        name: carrier.name,
        description: `The parameter \`${carrier.name}\` of the address.`,
      };
    case "cookie":
      return cookieScheme(carrier.name, carrier.hostPrefix === true, isEncrypted);
  }
}

function authorizationScheme(scheme: string): JSONObject {
  switch (scheme) {
    case "basic":
      return { type: "http", scheme, description: "Username and password with every request (RFC 7617), over TLS." };
    case "bearer":
      return {
        type: "http",
        scheme,
        bearerFormat: "JWT",
        description: "A signed access token that expires (RFC 6750).",
      };
    default: {
      const name = scheme.slice(0, 1).toUpperCase() + scheme.slice(1);
      // OpenAPI cannot describe schemes outside of IANA's registry, so the scheme becomes an API key whose value is the
      // whole header.
      return {
        type: "apiKey",
        in: "header",
        name: "Authorization",
        description: `\`Authorization: ${name} …\`: the word \`${name}\`, a space and the token.`,
      };
    }
  }
}

function cookieScheme(name: string, hasPrefix: boolean, isEncrypted: boolean): JSONObject {
  const description = `The cookie \`${name}\`${hasPrefix ? `, which is called \`__Host-${name}\` over TLS` : ""}. Changes need to come from the same site.`;
  return { type: "apiKey", in: "cookie", name: hasPrefix && isEncrypted ? `__Host-${name}` : name, description };
}

/** Returns the security requirements of an endpoint: any one of the schemes, or none. */
export function buildSecurity(endpoint: ServedEndpoint, names: readonly string[]): readonly JSONObject[] {
  if (endpoint.access === "open") return [];
  const alternatives = names.map((name) => ({ [name]: [] }));
  return admitsUnknown(endpoint) ? [...alternatives, {}] : alternatives;
}

/**
 * True if unknown callers are allowed. Calls the permission instead of comparing its name, because a custom permission
 * may also allow unknown callers.
 */
export function admitsUnknown({ access, action = "call", path }: ServedEndpoint): boolean {
  if (access === "open") return true;
  const params = Object.fromEntries(
    collectParameters(path).map(({ name, type }) => [name, type === "integer" ? 1 : "text"]),
  );
  try {
    return requireDecision(access, { identity: null, action, params, now: 0 }) !== "deny";
  } catch {
    return false; // The permission ends the request of an unknown caller.
  }
}
