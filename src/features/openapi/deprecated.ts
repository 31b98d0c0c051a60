import { formatDay, sayDeprecation, type Deprecated } from "../../core/deprecation.ts";
import type { JSONObject } from "./json.ts";

/**
 * Returns these sentences as a description, and adds a deprecation to it: the member `deprecated` for tools, and a sentence with the dates for people.
 * OpenAPI has no members for the dates. Some tools read `x-sunset`.
 */
export function withDeprecation(sentences: readonly (string | undefined)[], going: readonly Deprecated[]): JSONObject {
  const text = [...sentences, ...going.map(sayDeprecation)].filter((each) => each !== undefined).join(" ");
  if (going.length === 0) return text === "" ? {} : { description: text };
  const sunsets = going.flatMap(({ sunset }) => sunset ?? []);
  return {
    description: text,
    deprecated: true,
    "x-deprecated-since": formatDay(Math.min(...going.map(({ since }) => since))),
    ...(sunsets.length === 0 ? {} : { "x-sunset": formatDay(Math.min(...sunsets)) }),
  };
}

/** Adds the header fields of a deprecation to responses (RFC 9745, RFC 8594). */
export function withGoing(responses: JSONObject, going: readonly Deprecated[]): JSONObject {
  if (going.length === 0) return responses;
  const fields = {
    Deprecation: {
      description: "The time of the deprecation, in seconds since 1970 (RFC 9745).",
      schema: { type: "string", pattern: "^@-?[0-9]+$" },
    },
    ...(going.some(({ sunset }) => sunset !== null)
      ? { Sunset: { description: "The time when this will be removed (RFC 8594).", schema: { type: "string" } } }
      : {}),
  };
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const { headers, ...rest } = response as { readonly headers?: JSONObject };
      return [status, "$ref" in rest ? rest : { ...rest, headers: { ...headers, ...fields } }];
    }),
  );
}
