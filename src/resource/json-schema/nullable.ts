import type { JSONSchema } from "./types.ts";

/** Returns the schema of a value that may be null. */
export function nullable(schema: JSONSchema): JSONSchema {
  const { type, enum: values } = schema;
  if (type === undefined && values === undefined)
    return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: "null" }] };
  return {
    ...schema,
    ...(type === undefined ? {} : { type: [type, "null"].flat() }),
    ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
  };
}
