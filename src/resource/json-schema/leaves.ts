import { isObject, isText } from "../../core/checking/members.ts";

const NUMBER = /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/;

/**
 * Converts a body whose values are all text (XML, a form) to the types of a JSON Schema: `"1"` becomes 1 if the schema
 * requires an integer. Text that does not fit stays text, so that the schema refuses it. Values in alternatives
 * (`anyOf`, `oneOf`) are not converted.
 */
export function typedLeaves(value: unknown, schema: unknown): unknown {
  if (!isObject(schema)) return value;
  if (isText(value)) return typedLeaf(value, [schema["type"]].flat());
  if (Array.isArray(value)) return value.map((each: unknown) => typedLeaves(each, schema["items"]));
  if (!isObject(value)) return value;
  const { properties, additionalProperties } = schema;
  const declared = isObject(properties) ? properties : {};
  const chooseSchema = (name: string): unknown =>
    Object.hasOwn(declared, name) ? declared[name] : additionalProperties;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, typedLeaves(each, chooseSchema(name))]));
}

function typedLeaf(text: string, types: readonly unknown[]): unknown {
  if (types.includes("string")) return text;
  if ((types.includes("integer") || types.includes("number")) && NUMBER.test(text)) return Number(text);
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  // XML writes an object without members and a list without items as an empty element.
  if (text.trim() === "" && types.includes("object")) return {};
  return text.trim() === "" && types.includes("array") ? [] : text;
}
