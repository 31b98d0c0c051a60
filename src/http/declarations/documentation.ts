// Helpers with which custom endpoints describe themselves (`EndpointDocumentation`).

import { anObject, optional as leftOut, text, texts } from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import type { JSONSchema } from "../../resource/json-schema/types.ts";

export type { JSONSchema } from "../../resource/json-schema/types.ts";

/** The JSON Schema of a text. */
export const textSchema = { type: "string" } as const satisfies JSONSchema;

/** The JSON Schema of a date-time (RFC 3339). */
export const timeSchema = { type: "string", format: "date-time" } as const satisfies JSONSchema;

/** Returns the schema of a value that may be null. */
export function nullable<const S extends JSONSchema>(
  schema: S,
): Omit<S, "type"> & { readonly type: readonly [S["type"], "null"] };
export function nullable(schema: JSONSchema): JSONSchema {
  requireArguments("nullable", arguments, { schema: anObject });
  return { ...schema, type: [schema["type"], "null"] };
}

/**
 * Returns the schema of an object. All members are required, except those in `optional`. `element` is the name of the
 * object in XML.
 */
export function objectSchema<
  const P extends Readonly<Record<string, JSONSchema>>,
  const O extends keyof P & string = never,
>(
  element: string,
  properties: P,
  optional?: readonly O[],
): {
  readonly type: "object";
  readonly xml: { readonly name: string };
  readonly properties: P;
  readonly required: readonly Exclude<keyof P, O>[];
};
export function objectSchema(
  element: string,
  properties: Readonly<Record<string, JSONSchema>>,
  optional: readonly string[] = [],
): JSONSchema {
  requireArguments("objectSchema", arguments, { element: text, properties: anObject, optional: leftOut(texts) });
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", xml: { name: element }, properties, ...(required.length === 0 ? {} : { required }) };
}

/** A reference to the documentation of `If-None-Match`, in which a caller may send the ETag that it has. */
export const ifNoneMatch: JSONSchema = { $ref: "#/components/parameters/IfNoneMatch" };

/** The documentation of a 304 response, for a caller that already has the current state. */
export const notModified = {
  description: "The caller has the current state.",
  headers: { ETag: "The tag of the current state." },
};
