import type { Format } from "../../../http/formats/format.ts";
import type { JSONObject } from "../json.ts";

/** What an answer contains, by media type. The example is null where none can be made up. */
export function contentOf(formats: readonly Format[], schema: JSONObject, example: unknown): JSONObject {
  return Object.fromEntries(
    formats.map(({ mediaType }) => [
      mediaType,
      isStructured(mediaType) ? mediaTypeObject(mediaType, schema, example) : { schema: { type: "string" } },
    ]),
  );
}

/** What is read in one media type: the schema is of what was read. Linters read every example as JSON, so it is only shown in that. */
export function mediaTypeObject(mediaType: string, schema: JSONObject, example: unknown): JSONObject {
  return example === null || !isJSON(mediaType) ? { schema } : { schema, example };
}

/** Whether the shape of the data shows in this media type, so that its schema holds (RFC 6839). */
function isStructured(mediaType: string): boolean {
  return isJSON(mediaType) || /[/+]xml$/.test(mediaType);
}

function isJSON(mediaType: string): boolean {
  return /[/+]json$/.test(mediaType);
}
