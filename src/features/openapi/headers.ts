import { ref, type JSONObject } from "./json.ts";

const text = { type: "string" };

/** The header fields of responses. */
export const headers = {
  RequestId: {
    description: "The id of the request in the service's log: the caller's own, if it sent one.",
    schema: text,
  },
  ETag: { description: "The ETag of the answer, for `If-Match` and `If-None-Match`.", schema: text },
  Location: { description: "The address of the record.", schema: { type: "string", format: "uri-reference" } },
  Link: { description: "Pages of the list: `first`, and `prev` and `next` while they exist (RFC 8288).", schema: text },
  TotalCount: {
    description:
      "The number of records on all pages, if the caller prefers `count=exact` or `count=estimated`; `Preference-Applied` says which.",
    schema: { type: "integer", minimum: 0 },
  },
  PreferenceApplied: { description: "The preferences that were followed (RFC 7240).", schema: text },
  IdempotencyReplayed: {
    description: "`true`: this is the outcome of an earlier request with the same key.",
    schema: { type: "string", const: "true" },
  },
  RetryAfter: { description: "Seconds to wait.", schema: { type: "integer", minimum: 0 } },
  Allow: { description: "The methods that the path offers.", schema: text },
  Accept: { description: "The media types that PUT reads.", schema: text },
  AcceptPost: { description: "The media types that POST reads.", schema: text },
  AcceptPatch: { description: "The media types that PATCH reads (RFC 5789).", schema: text },
  AcceptQuery: { description: "The media types that QUERY reads (RFC 10008).", schema: text },
  AcceptEncoding: {
    description: "`identity`: the service reads no body with a Content-Encoding (RFC 9110).",
    schema: text,
  },
  WWWAuthenticate: { description: "Every challenge of the service (RFC 9110).", schema: text },
} as const satisfies Record<string, JSONObject>;

export type HeaderName = keyof typeof headers;

const fields = {
  RequestId: "X-Request-Id",
  ETag: "ETag",
  Location: "Location",
  Link: "Link",
  TotalCount: "X-Total-Count",
  PreferenceApplied: "Preference-Applied",
  IdempotencyReplayed: "Idempotency-Replayed",
  RetryAfter: "Retry-After",
  Allow: "Allow",
  Accept: "Accept",
  AcceptPost: "Accept-Post",
  AcceptPatch: "Accept-Patch",
  AcceptQuery: "Accept-Query",
  AcceptEncoding: "Accept-Encoding",
  WWWAuthenticate: "WWW-Authenticate",
} as const satisfies Record<HeaderName, string>;

/** Returns the header fields of a response. Every response has a request id. */
export function answerHeaders(...names: readonly HeaderName[]): JSONObject {
  const all = ["RequestId" as const, ...names];
  return Object.fromEntries(all.map((name) => [fields[name], ref("headers", name)]));
}
