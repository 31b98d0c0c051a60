import { defineEndpoint, type Endpoint } from "../index.ts";
import { ifNoneMatch, notModified } from "./descriptions.ts";
import type { Parts } from "./parts.ts";

/** `GET /.well-known/jwks.json`: the public keys of access tokens. It authenticates nobody. */
export function signingKeysEndpoint({ keys }: Pick<Parts, "keys">): Endpoint {
  return defineEndpoint({
    method: "GET",
    path: "/.well-known/jwks.json",
    access: "open",
    query: "ignored",
    produces: "application/json",
    documentation: {
      summary: "The public keys of access tokens (RFC 7517)",
      tag: "system",
      parameters: [ifNoneMatch],
      responses: {
        200: {
          description: "The public keys of access tokens (RFC 7517).",
          schema: {
            type: "object",
            properties: { keys: { type: "array", items: { type: "object" } } },
            required: ["keys"],
          },
          headers: { ETag: "Of the present state." },
        },
        304: notModified,
      },
    },
    handle: () => ({
      status: 200,
      cache: "public",
      maxAgeSeconds: 300,
      body: { kind: "raw", type: "application/json", content: JSON.stringify(keys.jwks()) },
    }),
  });
}
