import { dayOf, sayDeprecation, type Deprecated } from "../deprecation.ts";
import type { JSONObject } from "./json.ts";

/**
 * A description, and that what it is of will go: `deprecated` for tools, and the days for people. OpenAPI has no members for those;
 * `x-sunset` is what other tools read.
 */
export function withDeprecation(description: string | undefined, going: readonly Deprecated[]): JSONObject {
  const said = [...(description === undefined ? [] : [description]), ...going.map(sayDeprecation)].join(" ");
  if (going.length === 0) return said === "" ? {} : { description: said };
  const sunsets = going.flatMap(({ sunset }) => sunset ?? []);
  return {
    description: said,
    deprecated: true,
    "x-deprecated-since": dayOf(Math.min(...going.map(({ since }) => since))),
    ...(sunsets.length === 0 ? {} : { "x-sunset": dayOf(Math.min(...sunsets)) }),
  };
}
