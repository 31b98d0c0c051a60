import { readDeprecation } from "../../core/deprecation.ts";
import { isInRecords, isRequired, isShown, isWritable, type Field } from "../../resource/declaration/field.ts";
import { nullable } from "../../resource/json-schema/nullable.ts";
import type { Resource } from "../../resource/resource.ts";
import { withDeprecation } from "./deprecated.ts";
import type { JSONObject } from "./json.ts";

/** Returns the schema of an id in a record, where the service assigns it. */
export function idSchema({ id }: Pick<Resource, "id">): JSONObject {
  return { ...idSchemas[id], readOnly: true, description: "Set by the service." };
}

/** The schemas of ids, for example in paths and references. They are not read-only there. */
export const idSchemas: Readonly<Record<Resource["id"], JSONObject>> = {
  integer: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  uuid: { type: "string", format: "uuid" },
  text: { type: "string", minLength: 1 },
};

/** Returns the schema of the fields that callers read (JSON Schema 2020-12), without the id of mounted records. */
export function recordSchema({ name, label, description, fields }: Resource): JSONObject {
  const shown = Object.entries(fields).filter(([, field]) => isInRecords(field));
  return {
    type: "object",
    ...(label === null ? {} : { title: label.one }),
    ...(description === null ? {} : { description }),
    xml: { name },
    properties: Object.fromEntries(shown.map(([field, declared]) => [field, shownSchema(declared)])),
    // Callers to whom a rule denies the field get records without it.
    required: shown.flatMap(([field, { options }]) => (options.read === undefined ? [field] : [])),
  };
}

/** Returns the schema of a body to create or replace. Read-only fields may be repeated unchanged. */
export function draftSchema(resource: Resource): JSONObject {
  const schema = sentSchema(resource, (field) => ({ ...writtenSchema(field), ...buildDefault(field) }));
  const required = Object.keys(resource.fields).filter((name) => isRequired(resource.fields[name]!));
  return required.length === 0 ? schema : { ...schema, required };
}

/** Returns the schema of a change to some fields: a JSON Merge Patch (RFC 7396). */
export function patchSchema(resource: Resource): JSONObject {
  return sentSchema(resource, writtenSchema);
}

function sentSchema({ name, fields }: Resource, buildSchema: (field: Field) => JSONObject): JSONObject {
  const sent = Object.entries(fields).filter(([, field]) => isWritable(field) || isShown(field));
  const properties = sent.map(([field, declared]) => [
    field,
    isWritable(declared) ? buildSchema(declared) : shownSchema(declared),
  ]);
  return { type: "object", xml: { name }, properties: Object.fromEntries(properties), additionalProperties: false };
}

function shownSchema(field: Field): JSONObject {
  return { ...fieldSchema(field), ...(isWritable(field) ? {} : { readOnly: true }) };
}

function writtenSchema(field: Field): JSONObject {
  return { ...fieldSchema(field), ...(isShown(field) ? {} : { writeOnly: true }) };
}

function fieldSchema(field: Field): JSONObject {
  const { kind, options } = field;
  const { optional, example, label, description } = options;
  const going = readDeprecation("field", options.deprecated);
  const text =
    description ?? (kind.references === undefined ? undefined : `The id of one of the ${kind.references.resource}.`);
  return {
    // A transient value is not stored, so null could not clear it. It is sent or left out.
    ...(optional === true && options.transient !== true ? nullable(kind.schema) : kind.schema),
    ...(label === undefined ? {} : { title: label }),
    ...withDeprecation([text, describeLabels(field), ...describeRules(field)], going),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

/** Returns the words for people of the values of an enumeration, as one sentence. */
function describeLabels({ kind }: Field): string | undefined {
  const values = Array.isArray(kind.schema["enum"]) ? (kind.schema["enum"] as readonly unknown[]) : [];
  const words = values.flatMap((value) => {
    const label = kind.label?.(value) ?? null;
    return label === null ? [] : [`\`${String(value)}\`: ${label}`];
  });
  return words.length === 0 ? undefined : `${words.join("; ")}.`;
}

/** Returns the sentences about callers for whom the field is missing or read-only. */
function describeRules(field: Field): readonly string[] {
  const { read, write } = field.options;
  const only = !isShown(field) || read === write ? write : undefined;
  if (only !== undefined) return [`Only for callers whom this permission allows: ${only.name}.`];
  return [
    ...(read === undefined ? [] : [`Missing for callers who may not read it (${read.name}).`]),
    ...(write === undefined ? [] : [`Read-only for callers who may not send it (${write.name}).`]),
  ];
}

function buildDefault({ options: { default: fallback } }: Field): JSONObject {
  return fallback === undefined || typeof fallback === "function" ? {} : { default: fallback };
}
