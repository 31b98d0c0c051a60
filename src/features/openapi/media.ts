import type { Format } from "../../http/request/format.ts";
import type { JSONObject } from "./json.ts";

/**
 * Returns the content of a response by media type. The example is null if none can be generated. Pages and CSV are left
 * out, because generated clients would only get a text for them. The parameter `format` describes them.
 */
export function buildContent(formats: readonly Format[], schema: JSONObject, example: unknown): JSONObject {
  const structured = formats.filter(({ mediaType }) => isStructured(mediaType));
  return Object.fromEntries(
    structured.map(({ mediaType }) => [mediaType, mediaTypeObject(mediaType, schema, example)]),
  );
}

/**
 * Describes one media type. The schema is that of the parsed data. Linters read every example as JSON, so it is only
 * shown for JSON.
 */
export function mediaTypeObject(mediaType: string, schema: JSONObject, example: unknown): JSONObject {
  return example === null || !isJSON(mediaType) ? { schema } : { schema, example };
}

/** Returns true if the schema of the data also describes this media type (RFC 6839). */
export function isStructured(mediaType: string): boolean {
  return isJSON(mediaType) || /[/+]xml$/.test(mediaType);
}

function isJSON(mediaType: string): boolean {
  return /[/+]json$/.test(mediaType);
}
