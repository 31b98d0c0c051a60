import { DeclarationError } from "../../core/checking/declaration-error.ts";
import { isObject, shown, type ValueCheck } from "../../core/checking/members.ts";
import { lineOfThrown } from "../../core/checking/thrown.ts";
import { problem } from "../../core/problem/problem.ts";
import { jsonSchema } from "../../resource/json-schema/json-schema.ts";
import { typedLeaves } from "../../resource/json-schema/leaves.ts";
import type { FromSchema, JSONSchema } from "../../resource/json-schema/types.ts";
import {
  givesPromise,
  isStandardSchema,
  findJSONSchema,
  readBySchema,
  type StandardSchema,
} from "../../resource/kinds/standard-result.ts";
import type { BodyReading, ReceivedBody } from "../request/facts.ts";

/**
 * The schema of a body: of a library that follows Standard Schema (zod, valibot, arktype), or a JSON Schema (2020-12).
 */
export type BodySchema = StandardSchema | JSONSchema;

/** The type of a body that fits its schema. */
export type OutputOf<S> = S extends { readonly "~standard": { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : FromSchema<S>;

export const aBodySchema: ValueCheck = (value) => {
  if (!isStandardSchema(value) && !isObject(value))
    return 'it has to be a Standard Schema, like z.object({ … }), or a JSON Schema, like { type: "object", properties: { … } }';
  try {
    if (givesPromise(toStandardSchema(value), undefined))
      return "the schema gives a promise, but a body is read synchronously";
    return null;
  } catch (error) {
    return error instanceof DeclarationError ? error.mistakes.join("; ") : `the schema throws: ${lineOfThrown(error)}`;
  }
};

function toStandardSchema(schema: BodySchema): StandardSchema {
  return isStandardSchema(schema) ? schema : jsonSchema(schema);
}

/**
 * Returns the function that parses bodies with a declared schema, and the JSON Schema for the API's documentation.
 * Throws `DeclarationError` if the declared schema is invalid.
 */
export function bodyReading(declared: BodySchema): BodyReading {
  const wrong = aBodySchema(declared);
  if (wrong !== null) throw new DeclarationError([`body is ${shown(declared)}; ${wrong}`]);
  const standard = toStandardSchema(declared);
  const own = isStandardSchema(declared) ? findJSONSchema(declared) : declared;
  const schema = own === "none" ? null : own;
  return {
    schema,
    read(body) {
      requireElement(body, schema);
      const read = readBySchema(standard, body.leavesAreText ? typedLeaves(body.value, schema) : body.value);
      if ("parts" in read) throw problem("invalid", { issues: read.parts });
      return read.value;
    },
  };
}

/** Checks the name of the XML root element if the schema declares it (`xml: { name }`). */
function requireElement({ element }: ReceivedBody, schema: JSONSchema | null): void {
  const name = isObject(schema?.["xml"]) ? schema["xml"]["name"] : undefined;
  if (element !== null && typeof name === "string" && element !== name)
    throw problem("malformed", { detail: `The root element must be <${name}>.` });
}
