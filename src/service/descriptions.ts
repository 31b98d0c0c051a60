import type { Endpoint } from "../index.ts";

/** What the API's documentation says about an endpoint. */
export type Documentation = NonNullable<Endpoint["documentation"]>;

type JSONSchema = Readonly<Record<string, unknown>>;

/** A user, as the users' own paths describe one. */
export const userSchema: JSONSchema = { $ref: "#/components/schemas/User" };

/** The caller's own password, in a body. */
export const proofSchema = {
  type: "string",
  maxLength: 256,
  writeOnly: true,
  description: "The caller's own password, where the login is older than ten minutes.",
} as const;

export const textSchema: JSONSchema = { type: "string" };

export const timeSchema: JSONSchema = { type: "string", format: "date-time" };

/** Something that may be missing, and is null then. */
export function orNull(schema: JSONSchema): JSONSchema {
  return { ...schema, type: [schema["type"], "null"] };
}

/** An object whose members are always there, except those that are named. `element` is its name in XML. */
export function objectSchema(
  element: string,
  properties: Readonly<Record<string, JSONSchema>>,
  optional: readonly string[] = [],
): JSONSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", xml: { name: element }, properties, ...(required.length === 0 ? {} : { required }) };
}

/** Where a caller may show the ETag that it has. */
export const ifNoneMatch: JSONSchema = { $ref: "#/components/parameters/IfNoneMatch" };

/** The answer to a caller that has the present state already. */
export const notModified = { description: "The caller has it already.", headers: { ETag: "Of the present state." } };
