import type { Resource } from "../../resource/resource.ts";

/** The shape of a body: a declaration with fields, or a JSON Schema. */
export type BodyShape = Resource | Readonly<Record<string, unknown>>;

export function isResource(shape: object): shape is Resource {
  return "parentColumn" in shape;
}
