import type { Format } from "../../../http/formats/format.ts";
import type { JSONObject } from "../json.ts";

/**
 * The content of an answer by media type. The example is null if none can be made up. Pages and CSV are not among them: generated clients would
 * have text beside each type. The parameter `format` describes them.
 */
export function contentOf(formats: readonly Format[], schema: JSONObject, example: unknown): JSONObject {
  const structured = formats.filter(({ mediaType }) => isStructured(mediaType));
  return Object.fromEntries(
    structured.map(({ mediaType }) => [mediaType, mediaTypeObject(mediaType, schema, example)]),
  );
}

/** What is read in one media type: the schema is of what was read. Linters read every example as JSON, so it is only shown in that. */
export function mediaTypeObject(mediaType: string, schema: JSONObject, example: unknown): JSONObject {
  return example === null || !isJSON(mediaType) ? { schema } : { schema, example };
}

/** Returns true if the schema of the data describes this media type too (RFC 6839). */
export function isStructured(mediaType: string): boolean {
  return isJSON(mediaType) || /[/+]xml$/.test(mediaType);
}

function isJSON(mediaType: string): boolean {
  return /[/+]json$/.test(mediaType);
}
