// The words in which endpoints of one's own describe themselves (`EndpointDocumentation`).

import { anObject, optional as leftOut, text, texts } from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";

/** JSON Schema 2020-12, as OpenAPI 3.1 has it. */
export type JSONSchema = Readonly<Record<string, unknown>>;

/** A text. */
export const textSchema: JSONSchema = { type: "string" };

/** A date-time (RFC 3339). */
export const timeSchema: JSONSchema = { type: "string", format: "date-time" };

/** Something that may be missing, and is null then. */
export function nullable(schema: JSONSchema): JSONSchema {
  requireArguments("nullable", arguments, { schema: anObject });
  return { ...schema, type: [schema["type"], "null"] };
}

/** An object whose members are always there, except those that are named. `element` is its name in XML. */
export function objectSchema(
  element: string,
  properties: Readonly<Record<string, JSONSchema>>,
  optional: readonly string[] = [],
): JSONSchema {
  requireArguments("objectSchema", arguments, { element: text, properties: anObject, optional: leftOut(texts) });
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", xml: { name: element }, properties, ...(required.length === 0 ? {} : { required }) };
}

/** Where a caller may show the ETag that it has. */
export const ifNoneMatch: JSONSchema = { $ref: "#/components/parameters/IfNoneMatch" };

/** The answer to a caller that has the present state already. */
export const notModified = { description: "The caller has it already.", headers: { ETag: "Of the present state." } };
