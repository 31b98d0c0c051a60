import { DeclarationError } from "../../core/checking/declaration-error.ts";
import { OUR_VENDOR, type StandardSchema } from "../kinds/standard-result.ts";
import { compile } from "./compile.ts";
import type { FromSchema, JSONSchema } from "./types.ts";

/**
 * Makes a Standard Schema from a JSON Schema (2020-12), without another library. The types of the values follow from
 * the schema. Throws `DeclarationError` if the schema is not valid, or uses a keyword that is not supported, such as
 * `$ref` or `patternProperties`. The supported formats are `date-time`, `date`, `email`, `uri` and `uuid`. `default` is
 * only documentation.
 *
 * @example
 * ```ts
 * import { jsonSchema, standardSchema } from "latchkey/resources";
 *
 * const point = jsonSchema({
 *   type: "object",
 *   properties: { lat: { type: "number", minimum: -90, maximum: 90 }, lon: { type: "number" } },
 *   required: ["lat", "lon"],
 *   additionalProperties: false,
 * });
 * export const place = standardSchema(point, { optional: true });
 * ```
 */
export function jsonSchema<const S extends JSONSchema>(schema: S): StandardSchema<FromSchema<S>>;
export function jsonSchema(schema: JSONSchema): StandardSchema {
  const mistakes: string[] = [];
  const check = compile(schema, mistakes);
  if (mistakes.length > 0) throw new DeclarationError(mistakes.map((mistake) => `jsonSchema: ${mistake}`));
  return Object.freeze({
    "~standard": {
      version: 1,
      vendor: OUR_VENDOR,
      validate(value: unknown) {
        const issues = check(value);
        return issues.length === 0 ? { value } : { issues };
      },
      jsonSchema: { input: () => schema },
    },
  } as const);
}
